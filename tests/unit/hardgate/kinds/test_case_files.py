"""What became of the files of a workspace."""

import os

import pytest

from hardgate.cases.record import FileChanges
from hardgate.fixtures.workspaces import write_workspace
from hardgate.kinds.case_files import file_changes

BEFORE = {"a.txt": b"one", "deep/b.txt": b"two", "deep/c.txt": b""}


@pytest.fixture
def folder(tmp_path):
    write_workspace(BEFORE, str(tmp_path))
    return tmp_path


def changes(folder):
    found, cut = file_changes(BEFORE, str(folder))
    assert not cut
    return found


def test_nothing_happened(folder):
    assert changes(folder) == FileChanges()
    os.utime(folder / "a.txt", (0, 0))
    (folder / "a.txt").write_bytes(b"one")
    assert changes(folder) == FileChanges()


@pytest.mark.parametrize(
    ("happens", "expected"),
    [
        (lambda at: (at / "n.txt").write_text(""), FileChanges(created=("n.txt",))),
        (lambda at: (at / "deep/n").mkdir(), FileChanges(created=("deep/n",))),
        (lambda at: (at / ".hidden").write_text("x"), FileChanges(created=(".hidden",))),
        (lambda at: (at / "a.txt").write_text("One"), FileChanges(changed=("a.txt",))),
        (lambda at: (at / "a.txt").write_text("one "), FileChanges(changed=("a.txt",))),
        (lambda at: (at / "deep/c.txt").unlink(), FileChanges(removed=("deep/c.txt",))),
        (
            lambda at: (at / "a.txt").rename(at / "z.txt"),
            FileChanges(created=("z.txt",), removed=("a.txt",)),
        ),
        (lambda at: (at / "l").symlink_to("/etc"), FileChanges(created=("l",))),
        (lambda at: (at / "l").symlink_to("nowhere"), FileChanges(created=("l",))),
        (lambda at: os.mkfifo(at / "pipe"), FileChanges(created=("pipe",))),
    ],
)
def test_one_thing_happened(folder, happens, expected):
    happens(folder)
    assert changes(folder) == expected


def test_a_file_that_became_a_link_to_the_same_content_has_changed(folder):
    (folder / "copy.txt").write_bytes(b"one")
    (folder / "a.txt").unlink()
    (folder / "a.txt").symlink_to("copy.txt")
    assert changes(folder) == FileChanges(created=("copy.txt",), changed=("a.txt",))


def test_a_file_that_became_a_folder(folder):
    (folder / "a.txt").unlink()
    (folder / "a.txt").mkdir()
    assert changes(folder) == FileChanges(changed=("a.txt",))
    (folder / "a.txt/x").write_text("")
    assert changes(folder) == FileChanges(created=("a.txt/x",), removed=("a.txt",))


def test_a_folder_that_is_emptied_is_no_new_one(folder):
    (folder / "deep/b.txt").unlink()
    (folder / "deep/c.txt").unlink()
    assert changes(folder) == FileChanges(removed=("deep/b.txt", "deep/c.txt"))
    (folder / "deep").rmdir()
    (folder / "deep").write_text("a file now")
    assert changes(folder) == FileChanges(("deep",), (), ("deep/b.txt", "deep/c.txt"))
