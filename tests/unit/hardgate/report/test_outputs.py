"""Which file of a test's outputs is its verdict, and what is said where there is none."""

import zipfile

import pytest

from hardgate.report.outputs import TAIL_LINES, VERDICT_BYTES_MAX, read_tail, read_verdict


def test_a_verdict_is_read_from_the_folder(tmp_path):
    (tmp_path / "verdict.json").write_text('{"id": "é"}', encoding="utf-8")
    assert read_verdict({"test.outputs": tmp_path.as_uri()}) == ('{"id": "é"}', "")


def test_a_verdict_is_read_from_the_archive(tmp_path):
    path = tmp_path / "a folder with ünicode" / "outputs.zip"
    path.parent.mkdir()
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("verdict.json", "{}")
    assert read_verdict({"test.outputs__outputs.zip": path.as_uri()}) == ("{}", "")


@pytest.mark.parametrize(
    ("addresses", "why"),
    [
        ({}, "the test wrote no outputs"),
        ({"test.log": "file:///x"}, "the test wrote no outputs"),
        ({"test.outputs": "bytestream://cache/1/2"}, "test.outputs is not on this machine"),
        ({"test.outputs": "http://[broken"}, "test.outputs is not on this machine"),
        ({"test.outputs": "file:///no/such"}, "test.outputs holds no readable verdict.json"),
        (
            {"test.outputs__outputs.zip": "file:///no/such.zip"},
            "test.outputs__outputs.zip holds no readable verdict.json",
        ),
    ],
)
def test_what_is_said_without_a_verdict(addresses, why):
    assert read_verdict(addresses) == (None, why)


def test_an_archive_without_a_verdict(tmp_path):
    path = tmp_path / "outputs.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("other.json", "{}")
    why = "test.outputs__outputs.zip holds no readable verdict.json"
    assert read_verdict({"test.outputs__outputs.zip": path.as_uri()}) == (None, why)


def test_a_damaged_archive(tmp_path):
    path = tmp_path / "outputs.zip"
    path.write_bytes(b"PK no archive")
    why = "test.outputs__outputs.zip: File is not a zip file"
    assert read_verdict({"test.outputs__outputs.zip": path.as_uri()}) == (None, why)


def test_a_damaged_entry_of_an_archive(tmp_path):
    path = tmp_path / "outputs.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("verdict.json", "x" * 1000)
    content = bytearray(path.read_bytes())
    content[45:50] = b"\xff" * 5
    path.write_bytes(bytes(content))
    text, why = read_verdict({"test.outputs__outputs.zip": path.as_uri()})
    assert text is None
    assert why.startswith("test.outputs__outputs.zip: ")


def test_a_verdict_that_is_no_text(tmp_path):
    (tmp_path / "verdict.json").write_bytes(b"\xff\xfe")
    text, why = read_verdict({"test.outputs": tmp_path.as_uri()})
    assert text is None
    assert "can't decode" in why


def test_a_verdict_that_is_too_large(tmp_path):
    with (tmp_path / "verdict.json").open("wb") as file:
        file.truncate(VERDICT_BYTES_MAX + 1)
    why = "test.outputs: verdict.json has 16777217 bytes; allowed: 16777216"
    assert read_verdict({"test.outputs": tmp_path.as_uri()}) == (None, why)


def test_the_tail_of_a_log(tmp_path):
    path = tmp_path / "test.log"
    path.write_text("".join(f"line {number}\n\n" for number in range(5000)), encoding="utf-8")
    lines = read_tail(path.as_uri()).split("\n")
    assert lines == [f"line {number}" for number in range(5000 - TAIL_LINES, 5000)]


def test_a_log_of_one_endless_line_is_cut(tmp_path):
    path = tmp_path / "test.log"
    path.write_bytes(b"\xff" + b"x" * 100_000)
    assert read_tail(path.as_uri()) == "x" * 8192


@pytest.mark.parametrize(
    "address", ["", "bytestream://a/b", "file:///no/such", "file:///", "file:///a%00b", "http://[x"]
)
def test_a_log_that_cannot_be_read_is_empty(address):
    assert read_tail(address) == ""
