"""Bazelisk from npm: only the pinned archive is unpacked, and what it downloads is tried first."""

from __future__ import annotations

import base64
import hashlib
import io
import shutil
import tarfile
from pathlib import Path

import pytest

from tools.setup import bazelisk, probe

# As bazelisk lays out its downloads.
FAKE = """#!/bin/sh
[ "$USE_BAZEL_VERSION" = 7.7.1 ] || exit 9
folder=$BAZELISK_HOME/downloads/sha256/abc/bin
mkdir -p "$folder"
printf '#!/bin/sh\\necho bazel 7.7.1\\n' > "$folder/bazel"
chmod +x "$folder/bazel"
echo bazel 7.7.1
"""


@pytest.fixture
def npm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An npm on PATH that packs an archive with a fake bazelisk; the pinned hash fits it."""
    monkeypatch.setattr("platform.system", lambda: "Linux")
    monkeypatch.setattr("platform.machine", lambda: "x86_64")
    archive = tmp_path / "archive.tgz"
    with tarfile.open(archive, "w:gz") as tar:
        member = tarfile.TarInfo("package/bazelisk-linux_amd64")
        member.size = len(FAKE)
        tar.addfile(member, io.BytesIO(FAKE.encode()))
    digest = base64.b64encode(hashlib.sha512(archive.read_bytes()).digest()).decode()
    monkeypatch.setattr(bazelisk, "SHA512", digest)
    folder = tmp_path / "bin"
    folder.mkdir()
    script = folder / "npm"
    script.write_text(f"#!/bin/sh\necho \"$*\" >> '{tmp_path}/log'\ncp '{archive}' bazelisk.tgz\n")
    script.chmod(0o755)
    for tool in ("chmod", "cp", "mkdir"):
        (folder / tool).symlink_to(shutil.which(tool) or tool)
    monkeypatch.setenv("PATH", str(folder))
    return script


def test_downloaded_bazel_is_started_without_bazelisk(npm: Path, tmp_path: Path) -> None:
    launch = bazelisk.Bazelisk(tmp_path / "cache", "7.7.1").fetch()
    assert launch is not None
    home = tmp_path / "cache/bazelisk/home"
    assert launch.program == home / "downloads/sha256/abc/bin/bazel"
    assert launch.environment == {}
    assert launch.rc_lines == ()
    asked = (tmp_path / "log").read_text()
    assert f"pack @bazel/bazelisk@{bazelisk.VERSION} --ignore-scripts" in asked


def test_what_was_downloaded_is_found_again(npm: Path, tmp_path: Path) -> None:
    tool = bazelisk.Bazelisk(tmp_path / "cache", "7.7.1")
    assert tool.ready() is None
    made = tool.fetch()
    npm.unlink()
    assert tool.ready() == made == tool.fetch()
    assert bazelisk.Bazelisk(tmp_path / "cache", "8.0.0").ready() is None


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (("SHA512", "x"), "the archive has the SHA-512"),
        (("MACHINES", {"x86_64": "riscv"}), "the archive holds no package/bazelisk-linux_riscv"),
    ],
)
def test_unexpected_archive_is_refused(
    npm: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    change: tuple[str, object],
    expected: str,
) -> None:
    monkeypatch.setattr(bazelisk, *change)
    assert bazelisk.Bazelisk(tmp_path / "cache", "7.7.1").fetch() is None
    assert expected in capsys.readouterr().err
    assert not [path for path in (tmp_path / "cache").rglob("*") if path.is_file()]


def test_failed_download_is_told_and_forgotten(
    npm: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    no_site = probe.Answer(False, "no answer and no download in 8 s")
    monkeypatch.setattr(probe, "ask", lambda *_: no_site)
    tool = bazelisk.Bazelisk(tmp_path / "cache", "7.7.1")
    assert tool.fetch() is None
    assert "bazelisk could not download Bazel: no answer" in capsys.readouterr().err
    monkeypatch.undo()
    monkeypatch.setenv("PATH", str(npm.parent))
    assert tool.fetch() is not None
