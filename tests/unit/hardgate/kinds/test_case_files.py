"""What became of the files of a workspace."""

import os
import shutil

import pytest

from hardgate.cases.record import FileChanges
from hardgate.fixtures.workspaces import write_workspace
from hardgate.kinds.case_files import DEPTH_LIMIT, file_changes, remove_folder

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


def replaced_by_nothing(at):
    shutil.rmtree(at)


def replaced_by_a_file(at):
    shutil.rmtree(at)
    at.write_text("no folder")


def replaced_by_a_link(at):
    at.rename(at.with_name("elsewhere"))
    at.symlink_to(at.with_name("elsewhere"))


@pytest.mark.parametrize("happens", [replaced_by_nothing, replaced_by_a_file, replaced_by_a_link])
def test_a_workspace_that_is_replaced_holds_nothing(tmp_path, happens):
    at = tmp_path / "workspace"
    write_workspace(BEFORE, str(at))
    happens(at)
    assert changes(at) == FileChanges(created=(".",), removed=tuple(sorted(BEFORE)))
    remove_folder(str(at))
    assert not os.path.lexists(at)
    assert (tmp_path / "elsewhere").exists() == (happens is replaced_by_a_link)


def make_deep(at, depth):
    """Folders below each other, by a path that is too deep to be named in one go everywhere."""
    at.mkdir()
    folder = os.open(at, os.O_RDONLY)
    for _ in range(depth):
        os.mkdir("d", dir_fd=folder)
        below = os.open("d", os.O_RDONLY, dir_fd=folder)
        os.close(folder)
        folder = below
    os.close(folder)


def test_a_folder_deeper_than_any_of_use_is_not_looked_into_and_yet_removed(tmp_path):
    at = tmp_path / "workspace"
    make_deep(at, 1500)
    found, _ = file_changes({}, str(at))
    assert found == FileChanges(created=("/".join("d" * (DEPTH_LIMIT + 1)),))
    remove_folder(str(at))
    assert not at.exists()


def test_a_closed_folder_and_links_are_removed_and_nothing_behind_a_link(folder):
    (folder / "deep").chmod(0)
    (folder / "gone").symlink_to("nowhere")
    (folder.parent / "kept").mkdir(exist_ok=True)
    (folder / "link").symlink_to(folder.parent / "kept")
    remove_folder(str(folder))
    assert not folder.exists()
    assert (folder.parent / "kept").is_dir()
