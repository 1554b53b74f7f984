"""`hardgate schemas`, and the lines by which editors find a schema."""

import json
import posixpath

import pytest

from tests.unit.hardgate.cli.samples import answer, files_of, write

FOLDER = "docs/reference/schemas"
LINE = "# yaml-language-server: $schema="
CASE = "evals/cases/04_refund_is_denied.yaml"
NEW = {
    CASE: ("new case refund_is_denied", "case"),
    "evals/fixtures/models/refund_is_denied.yaml": ("new case refund_is_denied", "model_script"),
    "gates/money.yaml": (
        "new gate money.kept --kind property --milestone 1 --spec docs/specs/tools.md",
        "gates",
    ),
}


@pytest.fixture
def spec(workspace):
    write(workspace, "docs/specs/tools.md", "# Tools\n\n## Hard gates\n")


def test_it_writes_what_the_loaders_read_and_replaces_what_is_old(workspace, hardgate, capsys):
    write(workspace, f"{FOLDER}/case.schema.json", "{}\n")
    before = files_of(workspace)
    assert hardgate("schemas --json") == 0
    written = set(answer(capsys)["written"])
    after = files_of(workspace)
    assert {path for path in after if after[path] != before.get(path)} == written
    assert {f"{FOLDER}/{name}.schema.json" for name in ("case", "gates", "judge")} <= written
    assert json.loads(after[f"{FOLDER}/case.schema.json"])["properties"]["model_fixture"]
    assert hardgate("schemas") == 0
    assert capsys.readouterr().out == f"wrote {len(written)} schemas to {FOLDER}\n"


@pytest.mark.parametrize("path", NEW)
def test_what_is_new_names_its_schema(path, workspace, spec, hardgate):
    command, name = NEW[path]
    hardgate("schemas")
    assert hardgate(command) == 0
    first = (workspace / path).read_text().split("\n", 1)[0]
    assert first.startswith(LINE)
    target = posixpath.normpath(posixpath.join(posixpath.dirname(path), first[len(LINE) :]))
    assert target == f"{FOLDER}/{name}.schema.json"
    assert (workspace / target).is_file()


@pytest.mark.parametrize("path", NEW)
def test_where_no_schema_is_kept_none_is_named(path, workspace, spec, hardgate):
    assert hardgate(NEW[path][0]) == 0
    assert LINE not in (workspace / path).read_text()


def test_an_area_that_is_there_keeps_its_first_line(workspace, spec, hardgate):
    hardgate("schemas")
    before = (workspace / "gates/tool.yaml").read_text()
    words = "new gate tool.kept --kind property --milestone 1 --spec docs/specs/tools.md"
    assert hardgate(words) == 0
    assert (workspace / "gates/tool.yaml").read_text().startswith(before.rstrip("\n"))
