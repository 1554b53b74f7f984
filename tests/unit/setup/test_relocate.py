"""An unpacked package tree becomes one that runs from its own folder."""

from __future__ import annotations

import os
import zipfile
from pathlib import Path

import pytest

from tools.setup import relocate


def test_links_into_the_copy_become_relative_and_others_stay(tmp_path: Path) -> None:
    prefix = tmp_path / "copy"
    target = prefix / "usr/lib/file"
    target.parent.mkdir(parents=True)
    target.write_text("x")
    (prefix / "usr/share").mkdir()
    links = {
        "usr/share/inside": ("/usr/lib/file", "../lib/file"),
        "usr/share/outside": ("/etc/nowhere/file", "/etc/nowhere/file"),
        "usr/share/relative": ("../lib/file", "../lib/file"),
        "folder": ("/usr/lib", "usr/lib"),
    }
    for link, (before, _) in links.items():
        (prefix / link).symlink_to(before)
    relocate.relink(prefix)
    for link, (_, after) in links.items():
        assert os.readlink(prefix / link) == after
    moved = prefix.rename(tmp_path / "moved")
    assert (moved / "usr/share/inside").read_text() == "x"


def test_class_path_leads_to_the_final_folder_and_holds_perfmark(tmp_path: Path) -> None:
    path = tmp_path / relocate.CLASS_PATH
    path.parent.mkdir(parents=True)
    path.write_text("/usr/share/java/a.jar\n/usr/share/java/b.jar")
    (tmp_path / "usr/share/java").mkdir()
    (tmp_path / "usr/share/java/perfmark-api.jar").touch()
    relocate.complete_class_path(tmp_path, Path("/final"))
    assert path.read_text().splitlines() == [
        "/final/usr/share/java/a.jar",
        "/final/usr/share/java/b.jar",
        "/final/usr/share/java/perfmark-api.jar",
    ]


def test_server_gets_its_version_and_the_same_bytes_each_time(tmp_path: Path) -> None:
    made = []
    for name in ("one.jar", "two.jar"):
        with zipfile.ZipFile(tmp_path / name, "w") as jar:
            jar.writestr(zipfile.ZipInfo("Main.class"), "code")
        relocate.label_server(tmp_path / name, "7.7.1")
        made.append((tmp_path / name).read_bytes())
    with zipfile.ZipFile(tmp_path / "one.jar") as jar:
        assert jar.read("Main.class") == b"code"
        assert b"build.label=7.7.1\n" in jar.read("build-data.properties")
    assert made[0] == made[1]


def test_programs_are_patched_for_the_final_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    java = "usr/lib/jvm/java-21-openjdk-arm64"
    programs = [
        "usr/bin/bazel",
        "usr/libexec/aarch64-linux-gnu/bazel/linux-sandbox",
        f"{java}/bin/java",
        f"{java}/lib/jspawnhelper",
    ]
    libraries = [
        "usr/lib/aarch64-linux-gnu/bazel/libcpu_profiler.so",
        f"{java}/lib/server/libjvm.so",
    ]
    for name in programs + libraries:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    calls: list[list[str]] = []
    monkeypatch.setattr(relocate, "run", lambda words, _: calls.append([str(w) for w in words]))
    relocate.patch_programs(tmp_path, Path("/final"), "arm64")

    loader = "usr/lib/aarch64-linux-gnu/ld-linux-aarch64.so.1"
    assert {call[0] for call in calls} == {f"{tmp_path}/{loader}"}
    by_file = {word: call for call in calls for word in call[4:]}
    for name in programs + libraries:
        call = by_file[f"{tmp_path}/{name}"]
        assert (f"/final/{loader}" in call) == (name in programs), name
        search_path = call[call.index("--set-rpath") + 1]
        assert all(part.startswith("/final/usr/lib") for part in search_path.split(":")), name
