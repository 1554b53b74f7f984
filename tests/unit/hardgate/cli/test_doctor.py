"""`hardgate doctor`: a line for each thing, and what to do about what is missing."""

import json
import platform

import pytest

from hardgate.cases import schemas as suite_schemas
from hardgate.cli import doctor
from hardgate.registry import schemas as registry_schemas
from hardgate.verdicts.verdict import HARNESS_VERSION
from tests.unit.hardgate.cli.samples import FakeSubject, answer, edit, write

BAZELW = {
    "usable": True,
    "checks": [
        {"name": "bazel", "state": "ok", "found": "7.7.1, on PATH", "todo": ""},
        {"name": "disk cache", "state": "warn", "found": "off", "todo": "put a line in it"},
    ],
}


def launcher(workspace, answer, code=0):
    """A ./bazelw that answers `doctor --json`."""
    text = answer if isinstance(answer, str) else json.dumps(answer)
    script = (
        f"#!/bin/sh\n[ \"$*\" = 'doctor --json' ] || exit 9\ncat <<'X'\n{text}\nX\nexit {code}\n"
    )
    write(workspace, "bazelw", script).chmod(0o755)


def lines_of(hardgate, capsys, subject=None):
    """The answer by name of the line."""
    code = hardgate("doctor --json", subject)
    found = answer(capsys)
    assert found["ok"] is (code == 0)
    return code, {line["name"]: line for line in found["checks"]}


def test_all_lines_in_order(workspace, hardgate, capsys):
    launcher(workspace, BAZELW)
    assert hardgate("doctor", FakeSubject()) == 0
    assert capsys.readouterr().out.splitlines() == [
        f"ok       hardgate: {HARNESS_VERSION} on Python {platform.python_version()}",
        f"ok       workspace: {workspace}",
        "ok       registry: 4 gates in 1 area; milestone 1: 3 active, 1 pending",
        "ok       suite: 3 cases, 3 fixtures, 0 corpora",
        "ok       definitions: sound",
        "ok       schemas: none kept in docs/reference/schemas",
        "ok       subject: fake 1.2",
        "ok       bazel: 7.7.1, on PATH",
        "warn     disk cache: off; to do: put a line in it",
    ]


def test_a_missing_subject_and_launcher_are_warnings(hardgate, capsys):
    code, lines = lines_of(hardgate, capsys)
    assert code == 0
    assert (lines["subject"]["state"], lines["bazel"]["state"]) == ("warn", "warn")
    assert "`agent eval`" in lines["subject"]["todo"]


def test_problems_of_the_definitions(workspace, hardgate, capsys):
    edit(workspace, "evals/cases/01_greeting.yaml", "expected:", "expectd:")
    edit(workspace, "gates/tool.yaml", "kind: case", "kind: cases")
    code, lines = lines_of(hardgate, capsys)
    assert code == 4
    found = lines["definitions"]
    assert (found["state"], found["todo"]) == ("missing", "hardgate lint")
    assert found["found"] == "2 problems"


def test_a_workspace_of_cases_only(workspace, hardgate, capsys):
    (workspace / "gates").rename(workspace.parent / "gates")
    _, lines = lines_of(hardgate, capsys)
    assert lines["registry"]["state"] == "warn"
    assert "hardgate new gate" in lines["registry"]["todo"]


def keep_schemas(workspace):
    for name, text in {**suite_schemas.schemas(), **registry_schemas.schemas()}.items():
        write(workspace, f"docs/reference/schemas/{name}", text)


def test_schemas_that_are_kept_have_to_be_fresh(workspace, hardgate, capsys):
    keep_schemas(workspace)
    code, lines = lines_of(hardgate, capsys)
    assert (code, lines["schemas"]["found"]) == (0, "fresh, in docs/reference/schemas")
    write(workspace, "docs/reference/schemas/case.schema.json", "{}\n")
    (workspace / "docs/reference/schemas/gates.schema.json").unlink()
    code, lines = lines_of(hardgate, capsys)
    assert (code, lines["schemas"]["state"]) == (4, "missing")
    assert "case.schema.json" in lines["schemas"]["found"]
    assert "gates.schema.json" in lines["schemas"]["found"]
    assert lines["schemas"]["todo"] == "hardgate schemas"
    assert hardgate("schemas") == 0
    capsys.readouterr()
    code, lines = lines_of(hardgate, capsys)
    assert (code, lines["schemas"]["state"]) == (0, "ok")


BROKEN = [
    "not json",
    "[]",
    "{}",
    '{"checks": []}',
    '{"checks": [{"name": "x"}]}',
    '{"checks": [{"name": "x", "state": "fine", "found": "", "todo": ""}]}',
]


@pytest.mark.parametrize("text", BROKEN)
def test_a_launcher_without_a_readable_answer(text, workspace, hardgate, capsys):
    launcher(workspace, text)
    code, lines = lines_of(hardgate, capsys)
    assert code == 4
    assert lines["bazel"]["found"] == ("`./bazelw doctor --json` gave no answer that can be read")
    assert lines["bazel"]["todo"] == "./bazelw doctor"


def test_a_launcher_that_does_not_start(workspace, hardgate, capsys):
    write(workspace, "bazelw", "#!/no/such/program\n").chmod(0o755)
    assert lines_of(hardgate, capsys)[0] == 4


def test_a_launcher_that_does_not_end(workspace, hardgate, capsys, monkeypatch):
    monkeypatch.setattr(doctor, "LAUNCHER_SECONDS", 0.2)
    write(workspace, "bazelw", "#!/bin/sh\nexec sleep 30\n").chmod(0o755)
    code, lines = lines_of(hardgate, capsys)
    assert code == 4
    assert lines["bazel"]["found"].endswith("gave no answer within 0.2 seconds")


def test_what_the_launcher_misses_is_missing_here(workspace, hardgate, capsys):
    checks = [{"name": "bazel", "state": "missing", "found": "no\x1b[2J", "todo": "get it"}]
    launcher(workspace, {"usable": False, "checks": checks}, code=4)
    assert hardgate("doctor") == 4
    out = capsys.readouterr().out
    assert "missing  bazel: no\\x1b[2J; to do: get it\n" in out
