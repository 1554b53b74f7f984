"""Errors of `start` end in two lines and exit code 4."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest

from tools.setup import command, debian, probe
from tools.setup.progress import SetupError


def start(workspace: Path) -> int:
    """`bazelw` with an empty PATH."""
    return command.main(["start", str(workspace), str(workspace / "cache"), ""])


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout for the pinned version; the environment is put back afterwards."""
    monkeypatch.setenv("PATH", "")
    monkeypatch.setenv("USER", "tester")
    monkeypatch.setattr("signal.signal", lambda *_: None)
    (tmp_path / ".bazelversion").write_text("7.7.1\n")
    return tmp_path


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (SetupError("it broke", "mend it"), "bazelw: it broke\nbazelw: try: mend it\n"),
        (OSError(errno.ENOSPC, "No space left on device"), "is full\nbazelw: try: free some space"),
        (OSError(errno.EDQUOT, "Quota exceeded"), "is full\nbazelw: try: free some space"),
        (PermissionError(errno.EACCES, "Permission denied", "/x"), "Permission denied: /x"),
    ],
)
def test_errors(
    workspace: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    error: Exception,
    expected: str,
) -> None:
    def broken(*_: object) -> None:
        raise error

    monkeypatch.setattr(probe, "on_path", broken)
    assert start(workspace) == 4
    printed = capsys.readouterr()
    assert expected in printed.err
    assert printed.out == ""
    assert len(printed.err.splitlines()) == 2


@pytest.mark.parametrize("text", [None, "", "\n"])
def test_no_pinned_version(
    workspace: Path, capsys: pytest.CaptureFixture[str], text: str | None
) -> None:
    pinned = workspace / ".bazelversion"
    if text is None:
        pinned.unlink()
    else:
        pinned.write_text(text)
    assert start(workspace) == 4
    assert f"{pinned} names no version" in capsys.readouterr().err


def test_user_without_a_name(
    workspace: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("USER")
    monkeypatch.setattr("os.getuid", lambda: 3_999_999_999)
    assert start(workspace) == 4
    assert "try: export USER=" in capsys.readouterr().err


def test_system_without_debian_packages_is_sent_to_bazelisk(
    workspace: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(debian, "architecture", lambda: None)
    assert start(workspace) == 4
    printed = capsys.readouterr().err
    assert "npm is not on PATH" in printed
    assert "try: install bazelisk" in printed
