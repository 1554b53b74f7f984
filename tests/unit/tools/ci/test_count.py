"""The counts that CI reads: every test target ends in exactly one of three sets."""

import importlib.util
import json

import pytest

_SPEC = importlib.util.spec_from_file_location("count", "tools/ci/count.py")
count = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(count)


def configured(label, **more):
    return {
        "id": {"targetConfigured": {"label": label}},
        "configured": {"testSize": "SMALL"},
    } | more


def completed(label, **more):
    return {"id": {"targetCompleted": {"label": label}}} | more


def summary(label, status):
    return {"id": {"testSummary": {"label": label}}, "testSummary": {"overallStatus": status}}


BUILT = {"completed": {"success": True}}


@pytest.mark.parametrize(
    ("events", "expected"),
    [
        ([configured("//a"), completed("//a", **BUILT), summary("//a", "PASSED")], "passed"),
        ([configured("//a"), completed("//a", **BUILT), summary("//a", "FAILED")], "failed"),
        ([configured("//a"), completed("//a", **BUILT), summary("//a", "FLAKY")], "failed"),
        ([configured("//a"), completed("//a", completed={})], "failed"),
        ([configured("//a"), completed("//a", aborted={"reason": "SKIPPED"})], "skipped"),
        ([configured("//a"), completed("//a", aborted={})], "failed"),
        ([configured("//a"), completed("//a", aborted={"reason": "NO_BUILD"})], "failed"),
        ([{"id": {"targetConfigured": {"label": "//a"}}, "aborted": {}}], "failed"),
        # Configured, and nothing was ever said of it again.
        ([configured("//a")], "failed"),
    ],
)
def test_a_target_ends_in_one_set(events, expected):
    sets = count.count([json.dumps(event) for event in events])
    assert dict(zip(("passed", "failed", "skipped"), map(sorted, sets), strict=True)) == {
        name: ["//a"] if name == expected else [] for name in ("passed", "failed", "skipped")
    }


def test_a_library_is_no_test():
    library = {"id": {"targetConfigured": {"label": "//l"}}, "configured": {"targetKind": "x rule"}}
    assert count.count([json.dumps(library)]) == (set(), set(), set())


def run(tmp_path, capsys, events, *codes):
    path = tmp_path / "events.json"
    path.write_text("".join(json.dumps(event) + "\n" for event in events) + '{"id": {"cut')
    code = count.main(path, *codes)
    return code, capsys.readouterr().out.splitlines()


PASSING = [configured("//a"), completed("//a", **BUILT), summary("//a", "PASSED")]


def test_the_last_line_counts(tmp_path, capsys):
    code, lines = run(tmp_path, capsys, PASSING, 0, 0)
    assert (code, lines[-1]) == (0, "1 passed, 0 failed")


def test_what_was_skipped_for_the_machine_is_named(tmp_path, capsys):
    events = [
        event
        for label in ("//gates:x", "//evals:y", "//tests:z")
        for event in (configured(label), completed(label, aborted={"reason": "SKIPPED"}))
    ]
    assert run(tmp_path, capsys, [*PASSING, *events], 0, 0) == (
        0,
        [
            "not run, this machine lacks what it needs: //tests:z",
            "2 pending gates and cases, not run before their milestone",
            "1 passed, 0 failed",
        ],
    )


@pytest.mark.parametrize(
    ("events", "codes", "last"),
    [
        ([], (0, 0), "0 passed, 0 failed"),
        (PASSING, (0, 1), "1 passed, 1 failed"),
        (PASSING, (37, 0), "1 passed, 1 failed"),
        ([*PASSING, configured("//b")], (3, 0), "1 passed, 1 failed"),
    ],
)
def test_nothing_else_is_a_success(tmp_path, capsys, events, codes, last):
    code, lines = run(tmp_path, capsys, events, *codes)
    assert (code, lines[-1]) == (1, last)
