"""Several files together, or none."""

from pathlib import Path

import pytest

from hardgate.cli import writing
from hardgate.cli.exits import UsageError
from hardgate.cli.writing import write_all
from hardgate.documents.safe_path import UnsafePath
from tests.unit.hardgate.cli.samples import files_of, write


def test_files_and_folders_are_made(tmp_path):
    write_all(tmp_path, {"a/b/c.txt": "1\n", "d.txt": "ü\n"}, new=True)
    assert files_of(tmp_path) == {"a/b/c.txt": "1\n", "d.txt": "ü\n"}


def test_what_is_there_is_replaced_and_keeps_its_mode(tmp_path):
    write(tmp_path, "a.sh", "old").chmod(0o750)
    write_all(tmp_path, {"a.sh": "new"})
    assert files_of(tmp_path) == {"a.sh": "new"}
    assert (tmp_path / "a.sh").stat().st_mode & 0o777 == 0o750


def test_a_new_program_can_be_started_by_whoever_may_read_it(tmp_path):
    write_all(tmp_path, {"a.sh": "#!/bin/sh\n", "a.txt": "text\n"})
    for name, executable in (("a.sh", True), ("a.txt", False)):
        mode = (tmp_path / name).stat().st_mode
        assert mode & 0o111 == ((mode & 0o444) >> 2 if executable else 0)


def test_nothing_is_overwritten_by_something_new(tmp_path):
    write(tmp_path, "b.txt", "mine")
    with pytest.raises(UsageError, match=r"found b\.txt, which is not overwritten"):
        write_all(tmp_path, {"a.txt": "1", "b.txt": "2"}, new=True)
    assert files_of(tmp_path) == {"b.txt": "mine"}


def test_a_link_that_leads_nowhere_is_not_overwritten_either(tmp_path):
    (tmp_path / "a.txt").symlink_to(tmp_path / "gone")
    with pytest.raises(UsageError, match="not overwritten"):
        write_all(tmp_path, {"a.txt": "1"}, new=True)


def test_no_link_leads_out(tmp_path):
    outside, root = tmp_path / "outside", tmp_path / "root"
    outside.mkdir()
    root.mkdir()
    (root / "evals").symlink_to(outside)
    with pytest.raises(UsageError, match=r"found evals/x, which leads out of .*root; allowed: a"):
        write_all(root, {"a": "1", "evals/x": "2"})
    assert files_of(tmp_path) == {}


@pytest.mark.parametrize("path", ["/etc/x", "../x", "a//b", ""])
def test_no_path_leads_out(path, tmp_path):
    with pytest.raises(UnsafePath):
        write_all(tmp_path, {path: "1"})


def test_a_failure_half_way_leaves_everything_as_it_was(tmp_path, monkeypatch):
    write(tmp_path, "a.txt", "old")
    replace = Path.replace

    def fail_at_third(self, target):
        if Path(target).name == "c.txt":
            raise OSError(28, "No space left on device", str(target))
        return replace(self, target)

    monkeypatch.setattr(writing.Path, "replace", fail_at_third)
    with pytest.raises(OSError, match="No space left"):
        write_all(tmp_path, {"a.txt": "new", "x/y/b.txt": "new", "c.txt": "new"})
    assert files_of(tmp_path) == {"a.txt": "old"}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.txt"]
