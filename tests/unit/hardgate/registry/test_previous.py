"""Finding the revision before in git, and comparing with it."""

import subprocess
from pathlib import Path

import pytest

from hardgate.documents.tree import DirectoryTree, MissingFile
from hardgate.registry.git_tree import GitError, GitTree, git
from hardgate.registry.loader import load_registry
from hardgate.registry.previous import Revision, Unavailable, Why, previous_revision
from hardgate.registry.ratchet import check_ratchet, main

ENTRY = """\
- id: gate.tool.stable
  milestone: 2
  kind: property
  spec: docs/specs/tool.md#hard-gates
  statement: The hash is stable.
  trials: {}
"""


class Checkout:
    """A git checkout with a registry."""

    def __init__(self, folder: Path, *, new: bool = True) -> None:
        self.folder = folder
        folder.mkdir()
        if new:
            self.git("init", "--quiet", "--initial-branch=main")

    def git(self, *arguments: str) -> str:
        name = ("-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false")
        command = ["git", "-C", str(self.folder), *name, *arguments]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

    def write(self, path: str, text: str) -> None:
        (self.folder / path).parent.mkdir(parents=True, exist_ok=True)
        (self.folder / path).write_text(text)

    def commit(self, trials: int | None = None, note: str | None = None) -> str:
        """Commits a change of the registry, of another file or what is there; names the commit."""
        if trials is not None:
            self.registry(trials)
        if note is not None:
            self.write("note.txt", note)
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message", "change")
        return self.git("rev-parse", "HEAD")

    def registry(self, trials: int) -> None:
        self.write("gates/MILESTONE", "1\n")
        self.write("gates/tool.yaml", ENTRY.format(trials))

    def previous(self, base: str | None = None):
        return previous_revision(self.folder, base)

    def ratchet(self, base: str | None = None):
        tree = DirectoryTree(self.folder, ("gates", "evals"))
        return check_ratchet(self.folder, tree, load_registry(tree), base)


@pytest.fixture
def checkout(tmp_path):
    return Checkout(tmp_path / "work")


def test_outside_git(tmp_path):
    found = previous_revision(tmp_path)
    assert isinstance(found, Unavailable)
    assert found.why == Why.OUTSIDE_GIT
    assert "not a git repository" in found.reason


def test_inside_the_git_folder_itself(checkout):
    assert previous_revision(checkout.folder / ".git").why == Why.OUTSIDE_GIT


def test_without_git(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert previous_revision(tmp_path) == Unavailable(Why.OUTSIDE_GIT, "git is not installed")


def test_before_the_first_commit(checkout):
    checkout.registry(trials=100)
    assert checkout.previous().why == Why.FIRST_REVISION


def test_the_first_revision_of_the_registry(checkout):
    checkout.commit(note="no registry yet")
    checkout.registry(trials=100)
    assert checkout.previous().why == Why.FIRST_REVISION
    checkout.commit()
    assert checkout.previous().why == Why.FIRST_REVISION
    checkout.commit(note="later")
    assert checkout.previous().why == Why.FIRST_REVISION


def test_the_very_first_commit_holds_the_registry(checkout):
    checkout.commit(trials=100)
    assert checkout.previous() == Unavailable(
        Why.FIRST_REVISION, "the registry has not been changed since it was added"
    )


def test_a_change_not_yet_committed_is_compared_with_head(checkout):
    checkout.commit(trials=100)
    head = checkout.commit(trials=200)
    checkout.registry(trials=300)
    assert checkout.previous().commit == head


@pytest.mark.parametrize("path", ["gates/event.yaml", "evals/corpora/injection/one.txt"])
def test_a_new_file_is_a_change_too(checkout, path):
    checkout.commit(trials=100)
    head = checkout.commit(trials=200)
    checkout.write(path, "new")
    assert checkout.previous().commit == head


def test_after_commits_elsewhere_the_last_different_registry_is_found(checkout):
    checkout.commit(trials=100)
    before = checkout.commit(trials=200)
    checkout.commit(trials=300)
    checkout.commit(note="elsewhere")
    found = checkout.previous()
    assert isinstance(found, Revision)
    assert load_registry(found.tree).by_id["gate.tool.stable"].trials == 200
    assert found.commit == before
    assert found.name == before[:12]


def test_a_merge_is_compared_with_the_branch_it_went_into(checkout):
    base = checkout.commit(trials=500)
    checkout.git("checkout", "--quiet", "-b", "work")
    checkout.commit(trials=400)
    checkout.commit(trials=450)
    checkout.git("checkout", "--quiet", "main")
    main_head = checkout.commit(note="on main")
    checkout.git("merge", "--quiet", "--no-ff", "work")
    found = checkout.previous()
    assert found.commit == main_head
    assert load_registry(found.tree).by_id["gate.tool.stable"].trials == 500
    assert base != main_head


def test_a_branch_of_several_commits_is_compared_with_where_it_left(checkout):
    base = checkout.commit(trials=500)
    checkout.git("checkout", "--quiet", "-b", "work")
    checkout.commit(trials=100)
    checkout.commit(trials=200)
    assert checkout.ratchet().problems == ()
    assert checkout.previous("main").commit == base
    assert [problem.rule for problem in checkout.ratchet("main").problems] == ["ratchet_trials"]


@pytest.mark.parametrize("base", ["nowhere", "--output=x", "main:gates"])
def test_a_base_that_git_does_not_know(checkout, base):
    checkout.commit(trials=500)
    assert checkout.previous(base) == Unavailable(Why.GIT_FAILED, f"git knows no revision {base!r}")


def test_a_shallow_clone_says_so(checkout, tmp_path):
    checkout.commit(trials=100)
    checkout.commit(trials=200)
    source = f"file://{checkout.folder}"
    checkout.git("clone", "--quiet", "--depth=1", source, str(tmp_path / "shallow"))
    assert previous_revision(tmp_path / "shallow").why == Why.SHALLOW_CLONE


def test_a_workspace_in_a_folder_of_the_repository(checkout):
    inner = Checkout(checkout.folder / "inner", new=False)
    before = inner.commit(trials=100)
    inner.commit(trials=90)
    assert inner.previous().commit == before
    assert [problem.rule for problem in inner.ratchet().problems] == ["ratchet_trials"]


def test_settings_of_a_git_hook_do_not_mislead(checkout, tmp_path, monkeypatch):
    checkout.commit(trials=100)
    before = checkout.commit(trials=200)
    checkout.commit(trials=300)
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "elsewhere"))
    assert checkout.previous().commit == before


def test_git_tree_reads_an_older_revision(checkout):
    checkout.write("gates/größe.txt", "ä")
    (checkout.folder / "gates/link.yaml").symlink_to("/etc/hostname")
    old = checkout.commit(trials=100)
    checkout.commit(trials=200)
    tree = GitTree(checkout.folder, old, ("gates",))
    assert tree.paths() == ("gates/MILESTONE", "gates/größe.txt", "gates/tool.yaml")
    assert b"trials: 100" in tree.read("gates/tool.yaml")
    assert tree.glob("gates/*.yaml") == ("gates/tool.yaml",)
    assert (tree.exists("gates"), tree.exists("docs")) == (True, False)
    with pytest.raises(MissingFile):
        tree.read("gates/link.yaml")


def test_a_git_command_that_fails_says_why(checkout):
    with pytest.raises(GitError, match=r"git cat-file: fatal: .*nothing"):
        git(checkout.folder, "cat-file", "blob", "nothing")


def test_an_older_revision_that_no_longer_loads_is_noted(checkout):
    checkout.commit(trials=100)
    other = ENTRY.format(300).replace("stable", "sorted")
    checkout.write("gates/tool.yaml", ENTRY.format("many") + other)
    broken = checkout.commit()
    checkout.commit(trials=50)
    outcome = checkout.ratchet()
    assert outcome.compared_with == broken[:12]
    assert [note.render() for note in outcome.notes] == [
        f"gates/tool.yaml@{broken[:12]}:6:11: schema.type: found 'many'; allowed: a whole number"
    ]
    assert [problem.rule for problem in outcome.problems] == ["ratchet_gate_removed"]


@pytest.mark.parametrize(
    ("trials", "code", "said"),
    [(200, 0, "0 problems"), (150, 1, "1 problems")],
)
def test_the_command(checkout, capsys, trials, code, said):
    before = checkout.commit(trials=200)
    checkout.registry(trials=trials)
    checkout.write("gates/retired.yaml", "[]\n")
    assert main(["--root", str(checkout.folder)]) == code
    out, err = capsys.readouterr()
    assert out == f"ratchet: compared with {before[:12]}: {said}\n"
    assert ("gates/tool.yaml:6:11: ratchet_trials: found 150 trials" in err) is bool(code)


def test_the_command_outside_git_fails_only_in_ci(tmp_path, capsys):
    (tmp_path / "gates").mkdir()
    (tmp_path / "gates/MILESTONE").write_text("0\n")
    (tmp_path / "gates/tool.yaml").write_text(ENTRY.format(100))
    assert main(["--root", str(tmp_path)]) == 0
    assert "nothing to compare with (outside_git)" in capsys.readouterr().out
    assert main(["--root", str(tmp_path), "--ci"]) == 1


def test_the_command_in_ci_accepts_a_first_revision(checkout, capsys):
    checkout.commit(trials=100)
    assert main(["--root", str(checkout.folder), "--ci"]) == 0
    assert "nothing to compare with (first_revision)" in capsys.readouterr().out


def test_the_command_refuses_a_bad_registry(checkout, capsys):
    checkout.write("gates/tool.yaml", "")
    assert main(["--root", str(checkout.folder)]) == 4
    assert "gates/tool.yaml:1:1: yaml.empty_file" in capsys.readouterr().err
