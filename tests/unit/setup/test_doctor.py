"""What doctor concludes from what it sees."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tools.setup import doctor
from tools.setup.doctor import MISSING, OK, WARN, Line
from tools.setup.launch import Launch

HEAD = "Inter-|\n face |bytes\n"
LO, ETH0 = "    lo:  0 0\n", "  eth0: 12 0\n"
ROUTES = "Iface Destination\n"
LO6, ETH6 = "0001 80 0 00 0 0 2 0 80200001       lo\n", "fe80 40 0 00 0 0 1 0 1     eth0\n"


@pytest.mark.parametrize(
    ("seen", "state", "word"),
    [
        (f"{HEAD}{LO}routes\n{ROUTES}ipv6\n{LO6}", OK, "off"),
        (f"{HEAD}{LO}routes\n{ROUTES}ipv6\n", OK, "off"),
        (f"{HEAD}{LO}{ETH0}routes\n{ROUTES}ipv6\n", MISSING, "eth0"),
        (f"{HEAD}{LO}routes\n{ROUTES}eth0 00000000\nipv6\n", MISSING, "eth0"),
        (f"{HEAD}{LO}routes\n{ROUTES}ipv6\n{LO6}{ETH6}", MISSING, "eth0"),
        (f"{HEAD}routes\n{ROUTES}ipv6\n", MISSING, "cannot be read"),
        ("", MISSING, "cannot be read"),
    ],
)
def test_network(seen: str, state: str, word: str) -> None:
    line = doctor.judge_network(seen)
    assert (line.state, word in line.found) == (state, True)
    assert bool(line.todo) == (state != OK)


@pytest.mark.parametrize(
    ("body", "states", "word"),
    [
        ("exit 1", (MISSING, MISSING), "linux-sandbox does not work"),
        ('[ "$1" = -- ]', (OK, MISSING), "no look from inside"),
        (f"printf '{HEAD}{LO}routes\\n{ROUTES}ipv6\\n'", (OK, OK), "works"),
        (f"printf '{HEAD}{LO}{ETH0}routes\\n{ROUTES}ipv6\\n'", (OK, MISSING), "eth0"),
        (None, (MISSING, MISSING), "no linux-sandbox"),
    ],
)
def test_sandbox(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    body: str | None,
    states: tuple[str, str],
    word: str,
) -> None:
    monkeypatch.setattr("platform.system", lambda: "Linux")
    if body is not None:
        (tmp_path / "linux-sandbox").write_text(f"#!/bin/sh\n{body}\n")
        (tmp_path / "linux-sandbox").chmod(0o755)
    launch = Launch("a test", tmp_path / "bazel", options=(f"--install_base={tmp_path}",))
    lines = doctor.look_at_sandbox(launch, tmp_path, tmp_path)
    assert tuple(line.state for line in lines) == states
    assert word in " ".join(line.found for line in lines)
    assert all(line.todo for line in lines if line.state == MISSING)


def test_sandbox_of_a_bazel_that_knows_its_install_base(tmp_path: Path) -> None:
    bazel = tmp_path / "bazel"
    asked = '[ "$*" = "--noblock_for_lock info install_base" ]'
    bazel.write_text(f"#!/bin/sh\n{asked} && echo '{tmp_path}'\n")
    bazel.chmod(0o755)
    found, _ = doctor.find_sandbox(Launch("a test", bazel), tmp_path, tmp_path)
    assert found == tmp_path / "linux-sandbox"


def private() -> Launch:
    """A launch with a bazelrc, as only the private copy has."""
    return Launch("a test", Path("/x/bazel"), rc_lines=("common --x",))


@pytest.mark.parametrize(
    ("wanted", "state", "word"),
    [
        (f"{sys.version_info.major}.{sys.version_info.minor}", OK, "python"),
        ("3.99", MISSING, "and 3.99 is needed"),
    ],
)
def test_python(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wanted: str, state: str, word: str
) -> None:
    (tmp_path / "MODULE.bazel").write_text(f'python.toolchain(python_version = "{wanted}")\n')
    monkeypatch.setenv("HARDGATE_PYTHON", sys.executable)
    line = doctor.look_for_python(tmp_path, private())
    assert (line.state, word in line.found) == (state, True)


def test_python_that_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "MODULE.bazel").write_text('python.toolchain(python_version = "3.12")\n')
    monkeypatch.delenv("HARDGATE_PYTHON", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    line = doctor.look_for_python(tmp_path, private())
    assert line.state == MISSING
    assert "install python3.12" in line.todo


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({".bazelrc": "build --disk_cache=/a\n"}, "/a"),
        ({".bazelrc": "common --x --disk_cache=/a --y\n"}, "/a"),
        ({".bazelrc": "build --disk_cache=/a\nbuild --disk_cache=/b\n"}, "/b"),
        ({".bazelrc": "build:ci --disk_cache=/a\n# build --disk_cache=/b\n"}, ""),
        ({".bazelrc": "build --disk_cache=/a\n", "user.bazelrc": "build --disk_cache=\n"}, ""),
        ({}, ""),
    ],
)
def test_disk_cache_setting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, files: dict[str, str], expected: str
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    assert doctor.disk_cache_setting(tmp_path) == expected


@pytest.mark.parametrize(
    ("setting", "state", "word"),
    [
        ("build --disk_cache=%workspace%/full\n", OK, "full, 1 MB"),
        ("build --disk_cache=%workspace%/absent\n", OK, "empty until the first build"),
        ("", WARN, "off"),
    ],
)
def test_disk_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, setting: str, state: str, word: str
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / ".bazelrc").write_text(setting)
    (tmp_path / "full").mkdir()
    (tmp_path / "full/blob").write_bytes(b"x" * 1_000_000)
    line = doctor.look_at_disk_cache(tmp_path)
    assert (line.state, word in line.found) == (state, True)


def test_unused_copies_are_named(tmp_path: Path) -> None:
    for name in ("used", "old"):
        (tmp_path / "bazel" / name).mkdir(parents=True)
    used = Launch("a test", tmp_path / "bazel/used/usr/bin/bazel")
    line = doctor.look_at_cache(tmp_path, used)
    assert line.state == WARN
    assert f"{tmp_path}/bazel/old (" in line.found
    assert "bazel/used" not in line.found


def test_line() -> None:
    line = Line("python", MISSING, "none", "install it")
    assert line.render(colour=False) == "missing  python: none; to do: install it"
    assert line.render(colour=True).startswith("\033[31mmissing\033[0m  python")
    assert Line("python", OK, "3.11").render(colour=False) == "ok       python: 3.11"
