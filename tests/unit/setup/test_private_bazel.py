"""The private copy's name, its flags, and what is refused before any work is done."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from tools.setup import private_bazel, relocate
from tools.setup.private_bazel import PrivateBazel
from tools.setup.progress import SetupError


def options(copy: PrivateBazel, here: Path, command: str) -> list[str]:
    """The options that the generated bazelrc holds for `command`, as Bazel splits them."""
    found: list[str] = []
    for line in copy.launch(here).rc_lines:
        word, *rest = shlex.split(line)
        if word == command:
            found += rest
    return found


def test_name_changes_with_the_recipe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = PrivateBazel(tmp_path, "7.7.1", "amd64").path
    assert before.parent == tmp_path / "bazel"
    assert before.name.startswith("7.7.1-amd64-")
    changed = tmp_path / "relocate.py"
    changed.write_bytes(Path(relocate.__file__).read_bytes() + b"\n")
    monkeypatch.setattr(relocate, "__file__", str(changed))
    assert PrivateBazel(tmp_path, "7.7.1", "amd64").path != before


def test_overrides_lead_to_the_copy_and_to_the_checkouts_stand_in(tmp_path: Path) -> None:
    copy = PrivateBazel(tmp_path / "with space", "7.7.1", "amd64")
    here = tmp_path / "a 'quoted' place"
    found = options(copy, here, "common")
    assert f"--override_module=rules_python={here}/third_party/rules_python_standin" in found
    assert f"--override_module=rules_cc={copy.base}/rules/cc" in found
    assert f"--override_module=zlib={copy.path}/empty/zlib" in found
    assert "--lockfile_mode=off" in found


def test_workspace_mode_replaces_what_it_would_download(tmp_path: Path) -> None:
    copy = PrivateBazel(tmp_path, "7.7.1", "amd64")
    assert options(copy, tmp_path, "common:workspace") == [
        "--noenable_bzlmod",
        "--enable_workspace",
        f"--override_repository=rules_cc={copy.base}/rules/cc",
        f"--override_repository=rules_java={copy.base}/rules/java",
        f"--override_repository=bazel_skylib={copy.base}/tools/skylib",
        f"--override_repository=rules_license={copy.base}/rules/license",
    ]


@pytest.mark.parametrize(
    ("marker", "files", "expected"),
    [
        (None, {}, "never finished"),
        ("4 a/b\n2 c\n", {"a/b": "1234"}, "c is missing"),
        ("4 a/b\n", {"a/b": "123"}, "has 3 bytes instead of 4"),
        ("", {}, "says"),
    ],
)
def test_faults(tmp_path: Path, marker: str | None, files: dict[str, str], expected: str) -> None:
    copy = PrivateBazel(tmp_path, "7.7.1", "amd64")
    assert copy.faults() == ["it has not been made yet"]
    copy.path.mkdir(parents=True)
    for name, text in files.items():
        (copy.path / name).parent.mkdir(parents=True, exist_ok=True)
        (copy.path / name).write_text(text)
    if marker is not None:
        (copy.path / private_bazel.MARKER).write_text(marker)
    assert expected in copy.faults()[0]


def test_full_disk_is_refused_before_anything_is_fetched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = type("Usage", (), {"free": 12_000_000})
    monkeypatch.setattr("shutil.disk_usage", lambda _: usage)
    monkeypatch.setattr(PrivateBazel, "_refuse_tmp", lambda _: None)
    copy = PrivateBazel(tmp_path, "7.7.1", "amd64")
    with pytest.raises(SetupError, match="12 MB are free, 1000 MB are needed") as refused:
        copy.build()
    assert "HARDGATE_CACHE" in refused.value.try_next
    assert list(copy.path.parent.iterdir()) == []


@pytest.mark.parametrize("cache", ["/tmp", "/tmp/deep/er", "/var/../tmp/x"])
def test_below_tmp_is_refused(cache: str) -> None:
    with pytest.raises(SetupError, match="lies below /tmp"):
        PrivateBazel(Path(cache), "7.7.1", "amd64").build()
