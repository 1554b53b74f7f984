"""Asking a program for its version: right answers, wrong ones, and none at all."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from tools.setup import probe


@pytest.mark.parametrize(
    ("printed", "expected"),
    [
        ("bazel 7.7.1", True),
        ("bazel 7.7.1-1", True),
        ("bazel 7.7.1- (@non-git)", True),
        ("bazel 7.7.1\nmore", True),
        ("bazel 7.7.10", False),
        ("bazel 7.7.1.2", False),
        ("bazel 7.7.1rc1", False),
        ("bazel 17.7.1", False),
        ("bazel 7x7.1", False),
        ("Bazelisk version: v1", False),
        ("", False),
    ],
)
def test_reports(printed: str, expected: bool) -> None:
    assert probe.reports("7.7.1", printed) is expected


def script(path: Path, body: str) -> Path:
    """A program that runs `body`."""
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)
    return path


@pytest.mark.parametrize(
    ("body", "right", "said"),
    [
        ("echo bazel 7.7.1", True, "bazel 7.7.1"),
        ("echo bazel 7.7.1; exit 3", False, "bazel 7.7.1"),
        ("echo bazel 8.0.0", False, "bazel 8.0.0"),
        ("echo first >&2; echo no such host >&2; exit 1", False, "no such host"),
        ("exit 1", False, "nothing"),
        ('echo "$USE_BAZEL_VERSION $BAZELW_PROBING"', False, "7.7.1 1"),
    ],
)
def test_answer(tmp_path: Path, body: str, right: bool, said: str) -> None:
    program = script(tmp_path / "program", body)
    answer = probe.ask(program, "7.7.1", tmp_path / "none", probe.environment("7.7.1"))
    assert answer == probe.Answer(right, f"it says {said!r}")


def test_program_that_does_not_start(tmp_path: Path) -> None:
    answer = probe.ask(tmp_path / "absent", "7.7.1", tmp_path, {})
    assert answer == probe.Answer(False, "it does not start (No such file or directory)")


def test_silent_program_is_stopped_with_all_it_started(tmp_path: Path) -> None:
    child = tmp_path / "child"
    program = script(tmp_path / "program", f"sleep 300 & echo $! > '{child}'; wait")
    answer = probe.ask(program, "7.7.1", tmp_path / "none", {}, silent_seconds=1)
    assert not answer.right
    assert "no answer and no download" in answer.said
    deadline = time.monotonic() + 30
    with pytest.raises(ProcessLookupError):
        while time.monotonic() < deadline:
            os.kill(int(child.read_text()), 0)
            time.sleep(0.05)


def test_download_that_grows_is_waited_for(tmp_path: Path) -> None:
    downloads = tmp_path / "downloads"
    downloads.mkdir()
    grow = f"for i in 1 2 3 4 5 6 7 8 9; do echo x >> '{downloads}/part'; sleep 0.5; done"
    program = script(tmp_path / "program", f"{grow}; echo bazel 7.7.1")
    assert probe.ask(program, "7.7.1", downloads, {}, silent_seconds=3).right


def test_bazelisk_under_both_names_is_asked_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    script(tmp_path / "bazelisk", "exit 1")
    (tmp_path / "bazel").symlink_to("bazelisk")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert probe.on_path("7.7.1", tmp_path) is None
    assert capsys.readouterr().err.count("is not Bazel 7.7.1") == 1


def test_folder_bytes(tmp_path: Path) -> None:
    (tmp_path / "deep/er").mkdir(parents=True)
    (tmp_path / "deep/er/a").write_bytes(b"12345")
    (tmp_path / "b").write_bytes(b"1")
    assert probe.folder_bytes(tmp_path) == 6
    assert probe.folder_bytes(tmp_path / "absent") == 0
