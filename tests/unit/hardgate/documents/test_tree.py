"""The views of a workspace: what they list, what they read, and whether a change was noticed."""

import pytest

from hardgate.documents.safe_path import UnsafePath
from hardgate.documents.tree import (
    DefectError,
    DirectoryTree,
    ManifestTree,
    MissingFile,
    OverlayTree,
)

FILES = {
    "README.md": "top\n",
    "docs/specs/tool.md": "# Tool\n",
    "docs/specs/deep/er.md": "deep\n",
    "src/a.py": "A = 1\n",
    "src/package/b.py": "B = 2\n",
}


@pytest.fixture
def workspace(tmp_path):
    for path, text in FILES.items():
        file = tmp_path / "work" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return tmp_path / "work"


@pytest.fixture
def overlay(workspace):
    return OverlayTree(DirectoryTree(workspace))


def test_directory_tree_lists_and_reads(workspace):
    tree = DirectoryTree(workspace)
    assert tree.paths() == tuple(sorted(FILES))
    assert tree.read("src/a.py") == b"A = 1\n"
    with pytest.raises(MissingFile, match=r"no file src/c\.py in the workspace"):
        tree.read("src/c.py")


def test_directory_tree_of_some_folders_and_files(workspace):
    tree = DirectoryTree(workspace, ("src/package", "README.md", "missing"))
    assert tree.paths() == ("README.md", "src/package/b.py")


@pytest.mark.parametrize("folder", [".git", "__pycache__", "bazel-bin", "src/__pycache__"])
def test_directory_tree_skips_what_is_no_source(workspace, folder):
    (workspace / folder).mkdir()
    (workspace / folder / "x.py").write_text("")
    assert DirectoryTree(workspace).paths() == tuple(sorted(FILES))


def test_directory_tree_follows_links_inside_only(workspace, tmp_path):
    (tmp_path / "secret.txt").write_text("outside")
    (tmp_path / "work-beside").mkdir()
    (tmp_path / "work-beside" / "x.txt").write_text("outside")
    (workspace / "inside.md").symlink_to(workspace / "README.md")
    (workspace / "outside.md").symlink_to(tmp_path / "secret.txt")
    (workspace / "beside").symlink_to(tmp_path / "work-beside")
    (workspace / "dangling.md").symlink_to(tmp_path / "nothing")
    inside = {*FILES, "inside.md"}
    assert set(DirectoryTree(workspace).paths()) == inside
    everything = DirectoryTree(workspace, outside_links=True)
    assert set(everything.paths()) == inside | {"outside.md", "beside/x.txt"}
    assert everything.read("outside.md") == b"outside"


def test_directory_tree_ends_in_a_loop_of_links(workspace):
    (workspace / "src" / "again").symlink_to(workspace)
    assert set(DirectoryTree(workspace).paths()) == set(FILES)


def test_manifest_tree_holds_exactly_its_files(workspace):
    tree = ManifestTree({"src/a.py": str(workspace / "src/package/b.py"), "gone": "/nowhere"})
    assert tree.read("src/a.py") == b"B = 2\n"
    assert tree.paths() == ("gone", "src/a.py")
    for path in ("gone", "README.md"):
        with pytest.raises(MissingFile):
            tree.read(path)


@pytest.mark.parametrize(
    ("path", "there"),
    [("src", True), ("src/package", True), ("src/a.py", True), ("sr", False), ("src/a", False)],
)
def test_exists_knows_files_and_folders(workspace, path, there):
    assert DirectoryTree(workspace).exists(path) is there


@pytest.mark.parametrize(
    ("pattern", "matches"),
    [
        ("src/*.py", ["src/a.py"]),
        ("src/**/*.py", ["src/a.py", "src/package/b.py"]),
        ("**/*.md", ["README.md", "docs/specs/deep/er.md", "docs/specs/tool.md"]),
        ("docs/specs/*", ["docs/specs/tool.md"]),
        ("docs/**", ["docs/specs/deep/er.md", "docs/specs/tool.md"]),
        ("src/?.py", ["src/a.py"]),
        ("src/a+py", []),
        ("*", ["README.md"]),
    ],
)
def test_glob(workspace, pattern, matches):
    assert list(DirectoryTree(workspace).glob(pattern)) == matches


def test_overlay_changes_only_itself(overlay, workspace):
    overlay.write("src/new.py", "N = 3\n")
    overlay.write("src/a.py", b"A = 9\n")
    overlay.edit("src/package/b.py", "2", "5")
    overlay.remove("README.md")
    assert overlay.paths() == (
        "docs/specs/deep/er.md",
        "docs/specs/tool.md",
        "src/a.py",
        "src/new.py",
        "src/package/b.py",
    )
    assert overlay.read("src/a.py") == b"A = 9\n"
    assert overlay.read("src/package/b.py") == b"B = 5\n"
    assert not overlay.exists("README.md")
    with pytest.raises(MissingFile):
        overlay.read("README.md")
    assert DirectoryTree(workspace).read("src/a.py") == b"A = 1\n"


def test_a_removed_file_can_be_written_again(overlay):
    overlay.remove("src/a.py")
    overlay.write("src/a.py", "A = 7\n")
    assert overlay.read("src/a.py") == b"A = 7\n"


@pytest.mark.parametrize(
    ("path", "old", "new", "why"),
    [
        ("src/a.py", "B", "C", "occurs 0 times"),
        ("src/a.py", " ", "", "occurs 2 times"),
        ("src/a.py", "", "x", "occurs 0 times"),
        ("src/a.py", "A", "A", "the new text is the old one"),
        ("src/c.py", "A", "B", "no file src/c.py"),
    ],
)
def test_an_edit_that_changes_nothing_certain_is_refused(overlay, path, old, new, why):
    with pytest.raises(DefectError, match=why):
        overlay.edit(path, old, new)
    assert overlay.paths() == tuple(sorted(FILES))


def test_a_file_without_text_cannot_be_edited(overlay):
    overlay.write("src/data.bin", b"\xff\xfe")
    with pytest.raises(DefectError, match=r"cannot edit src/data\.bin"):
        overlay.edit("src/data.bin", "a", "b")


def test_removing_what_is_not_there_is_refused(overlay):
    with pytest.raises(DefectError, match=r"cannot remove src/c\.py"):
        overlay.remove("src/c.py")


@pytest.mark.parametrize("path", ["../x", "/x", "a//b", "a/./b", ""])
def test_nothing_is_written_outside(overlay, path):
    with pytest.raises(UnsafePath):
        overlay.write(path, "x")


def test_lay_over(overlay):
    overlay.write("gates/defects/tool/lost/src/a.py", "A = 0\n")
    overlay.write("gates/defects/tool/lost/src/c.py", "C = 0\n")
    overlay.lay_over("gates/defects/tool/lost")
    assert (overlay.read("src/a.py"), overlay.read("src/c.py")) == (b"A = 0\n", b"C = 0\n")
    with pytest.raises(DefectError, match="holds no file"):
        overlay.lay_over("gates/defects/tool/los")


def change_edit(tree):
    tree.edit("src/a.py", "1", "2")


def change_add(tree):
    tree.write("src/c.py", "C\n")


def change_remove(tree):
    tree.remove("src/a.py")


@pytest.mark.parametrize(
    ("change", "look", "noticed"),
    [
        (change_edit, lambda tree: tree.read("src/a.py"), True),
        (change_edit, lambda tree: tree.read("src/package/b.py"), False),
        (change_edit, lambda tree: tree.glob("src/*.py"), False),
        (change_edit, lambda tree: tree.paths(), False),
        (change_edit, lambda tree: tree.exists("src/a.py"), False),
        (change_add, lambda tree: tree.read("src/c.py"), True),
        (change_add, lambda tree: tree.glob("src/*.py"), True),
        (change_add, lambda tree: tree.glob("docs/**"), False),
        (change_add, lambda tree: tree.paths(), True),
        (change_add, lambda tree: tree.exists("src/c.py"), True),
        (change_add, lambda tree: tree.exists("src"), True),
        (change_add, lambda tree: tree.exists("docs"), False),
        (change_remove, lambda tree: tree.glob("src/*.py"), True),
        (change_remove, lambda tree: tree.glob("docs/**"), False),
        (change_remove, lambda tree: tree.paths(), True),
        (change_remove, lambda tree: tree.exists("src/a.py"), True),
        (change_remove, lambda tree: tree.read("src/package/b.py"), False),
    ],
)
def test_whether_a_change_was_noticed(overlay, change, look, noticed):
    overlay.read("src/a.py")
    overlay.paths()
    change(overlay)
    assert not overlay.touched_and_read, "making the change is not looking at it"
    look(overlay)
    assert overlay.touched_and_read is noticed


def test_reading_a_removed_file_notices_its_absence(overlay):
    overlay.remove("src/a.py")
    with pytest.raises(MissingFile):
        overlay.read("src/a.py")
    assert overlay.touched_and_read
