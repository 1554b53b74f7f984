"""`hardgate new case`: a scaffold that is refused until its expectation is written."""

import pytest

from hardgate.cli import writing
from tests.unit.hardgate.cli.samples import FakeSubject, answer, edit, files_of, write

CASE = "evals/cases/04_refund_is_denied.yaml"
SCRIPT = "evals/fixtures/models/refund_is_denied.yaml"


def test_it_writes_a_case_and_its_script_and_says_what_comes_next(workspace, hardgate, capsys):
    before = files_of(workspace)
    assert hardgate("new case refund_is_denied", program="agent eval") == 0
    assert capsys.readouterr().out == (
        f"wrote {CASE}\nwrote {SCRIPT}\nnow write `expected` in {CASE}, then\n"
        f"  agent eval lint {CASE}\n  agent eval explain refund_is_denied\n"
        "  bazel test //evals:cases/refund_is_denied\n"
    )
    after = files_of(workspace)
    assert set(after) - set(before) == {CASE, SCRIPT}
    assert {path: after[path] for path in before} == before


def test_the_scaffold_lacks_its_expectation_and_nothing_else(workspace, hardgate, capsys):
    hardgate("new case refund_is_denied")
    capsys.readouterr()
    assert hardgate("lint --json", FakeSubject()) == 4
    (problem,) = answer(capsys)["problems"]
    assert (problem["path"], problem["rule"]) == (CASE, "case.nothing_expected")
    assert "allowed: at least one" in problem["message"]
    for command in ("run refund_is_denied", "explain refund_is_denied"):
        assert hardgate(command, FakeSubject()) == 4
    edit(workspace, CASE, "expected: {}", "expected: {terminal_status: completed}")
    assert hardgate("lint", FakeSubject()) == 0


@pytest.mark.parametrize(("option", "milestone"), [("", 1), (" --milestone 4", 4)])
def test_its_milestone_is_the_repositorys_unless_another_is_given(
    option, milestone, workspace, hardgate
):
    assert hardgate(f"new case refund_is_denied{option}") == 0
    assert f"\nmilestone: {milestone}\n" in (workspace / CASE).read_text()


def test_numbers_are_not_used_again(workspace, hardgate):
    (workspace / "evals/cases/03_wave.yaml").rename(workspace / "evals/cases/17_wave.yaml")
    hardgate("new case one")
    hardgate("new case two")
    names = sorted(path.name for path in (workspace / "evals/cases").iterdir())
    assert names[2:] == ["17_wave.yaml", "18_one.yaml", "19_two.yaml"]


def test_the_first_case_of_a_workspace(tmp_path, hardgate, monkeypatch):
    write(tmp_path / "fresh", "MODULE.bazel", "")
    monkeypatch.chdir(tmp_path / "fresh")
    assert hardgate("new case first") == 0
    assert sorted(files_of(tmp_path / "fresh")) == [
        "MODULE.bazel",
        "evals/cases/01_first.yaml",
        "evals/fixtures/models/first.yaml",
    ]


def test_a_script_that_is_there_may_be_used(workspace, hardgate, capsys):
    assert hardgate("new case refund_is_denied --model-fixture wave --json") == 0
    assert answer(capsys)["written"] == [CASE]
    assert "\nmodel_fixture: wave\n" in (workspace / CASE).read_text()


def test_json_says_the_same(hardgate, capsys):
    assert hardgate("new case refund_is_denied --json") == 0
    assert answer(capsys) == {
        "schema_version": 1,
        "ok": True,
        "written": [CASE, SCRIPT],
        "next": [
            f"hardgate lint {CASE}",
            "hardgate explain refund_is_denied",
            "bazel test //evals:cases/refund_is_denied",
        ],
    }


REFUSED = [
    ("case Refund", "found 'Refund'; allowed: a name such as refund_is_denied"),
    ("case ../x", "found '../x'; allowed: a name such as"),
    ("case 1x", "found '1x'; allowed"),
    (f"case {'x' * 101}", "at most 100"),
    ("case greeting", "found 'greeting', the name of evals/cases/01_greeting.yaml"),
    ("case x --model-fixture wav", "--model-fixture: found no script 'wav'; did you mean 'wave'?"),
    ("case x --milestone 100", "found '100'; allowed: a whole number from 0 to 99"),
    ("case x --milestone -1", "found '-1'; allowed: a whole number from 0 to 99"),
    ("case", "the following arguments are required: NAME"),
    ("cases x", "found no scaffold 'cases'; did you mean 'case'?"),
]


@pytest.mark.parametrize(("words", "complaint"), REFUSED)
def test_what_is_refused_leaves_nothing_behind(words, complaint, workspace, hardgate, capsys):
    before = files_of(workspace)
    assert hardgate(f"new {words}") == 2
    assert complaint in capsys.readouterr().err
    assert files_of(workspace) == before


def test_a_script_of_that_name_is_not_overwritten(workspace, hardgate, capsys):
    write(workspace, SCRIPT, "turns: [{kind: final, text: mine}]\n")
    before = files_of(workspace)
    assert hardgate("new case refund_is_denied") == 2
    assert f"found {SCRIPT}, which is not overwritten" in capsys.readouterr().err
    assert files_of(workspace) == before


def test_an_error_half_way_leaves_nothing_behind(workspace, hardgate, capsys, monkeypatch):
    def full(path, data, write=writing._write):
        if path.name == "refund_is_denied.yaml":
            raise OSError(28, "No space left on device", str(path))
        write(path, data)

    before = files_of(workspace)
    monkeypatch.setattr(writing, "_write", full)
    assert hardgate("new case refund_is_denied") == 4
    assert "No space left on device" in capsys.readouterr().err
    assert files_of(workspace) == before


@pytest.mark.parametrize("words", ["", "--help"])
def test_new_without_a_kind_shows_its_help(words, hardgate, capsys):
    assert hardgate(f"new {words}") == (0 if words else 2)
    assert "kinds:\n  case  a case and its model script" in capsys.readouterr().out
