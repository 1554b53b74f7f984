"""Which packages are fetched, from where, and that their signatures are checked."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.setup import debian
from tools.setup.progress import SetupError


@pytest.mark.parametrize(
    ("system", "machine", "expected"),
    [
        ("Linux", "x86_64", "amd64"),
        ("Linux", "aarch64", "arm64"),
        ("Linux", "riscv64", None),
        ("Darwin", "arm64", None),
    ],
)
def test_architecture(
    monkeypatch: pytest.MonkeyPatch, system: str, machine: str, expected: str | None
) -> None:
    monkeypatch.setattr("platform.system", lambda: system)
    monkeypatch.setattr("platform.machine", lambda: machine)
    assert debian.architecture() == expected


DEB822 = "Types: deb\n# http://old.example/debian\nURIs: http://one.example/debian\nSuites: x\n"
NO_MIRROR = None


@pytest.mark.parametrize(
    ("file", "text", "expected"),
    [
        ("sources.list.d/debian.sources", DEB822, "http://one.example/debian"),
        ("sources.list.d/debian.sources.save", DEB822, NO_MIRROR),
        ("sources.list", "deb https://two.example/debian/ x", "https://two.example/debian/"),
        ("sources.list", "deb [a=b] http://x.example/pub/debian x", "http://x.example/pub/debian"),
        ("sources.list", "# deb http://two.example/debian x main", NO_MIRROR),
        ("sources.list", "deb http://a.example/debian-security x main", NO_MIRROR),
        ("sources.list", "deb http://u.example/ubuntu x main", NO_MIRROR),
        ("sources.list", "", NO_MIRROR),
    ],
)
def test_mirror_is_the_systems_own(
    tmp_path: Path, file: str, text: str, expected: str | None
) -> None:
    (tmp_path / "sources.list.d").mkdir()
    (tmp_path / file).write_text(text)
    if expected is not NO_MIRROR:
        assert debian.mirror(tmp_path) == expected
        return
    with pytest.raises(SetupError, match="name no Debian mirror") as refused:
        debian.mirror(tmp_path)
    assert "HARDGATE_DEBIAN_MIRROR" in refused.value.try_next


def test_named_mirror_wins(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "sources.list").write_text("deb http://two.example/debian x main")
    monkeypatch.setenv("HARDGATE_DEBIAN_MIRROR", "http://mine.example/d")
    assert debian.mirror(tmp_path) == "http://mine.example/d"


def test_without_keys_nothing_is_fetched(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("HARDGATE_DEBIAN_KEYRING", raising=False)
    monkeypatch.setattr(debian, "KEYRINGS", (tmp_path / "absent.gpg",))
    with pytest.raises(SetupError, match="could not be verified") as refused:
        debian.keyring()
    assert "debian-archive-keyring" in refused.value.try_next


def test_named_keys_must_exist(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HARDGATE_DEBIAN_KEYRING", str(tmp_path / "absent.gpg"))
    with pytest.raises(SetupError):
        debian.keyring()


@pytest.fixture
def work(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The folder to configure apt in; keys and mirror are named."""
    keys = tmp_path / "keys.gpg"
    keys.touch()
    monkeypatch.setenv("HARDGATE_DEBIAN_KEYRING", str(keys))
    monkeypatch.setenv("HARDGATE_DEBIAN_MIRROR", "http://mine.example/debian")
    return tmp_path / "work"


def test_apt_verifies_and_touches_nothing_of_the_system(work: Path) -> None:
    assert debian.configure(work, "amd64") == ["apt-get", "-c", f"{work}/apt.conf"]
    source = (work / "sources.list").read_text()
    keys = work.parent / "keys.gpg"
    assert source == f"deb [arch=amd64 signed-by={keys}] http://mine.example/debian sid main\n"
    lines = (work / "apt.conf").read_text().splitlines()
    assert 'Acquire::AllowInsecureRepositories "false";' in lines
    assert 'APT::Get::AllowUnauthenticated "false";' in lines
    for key in ("Dir::State::lists", "Dir::State::status", "Dir::Cache", "Dir::Etc::sourcelist"):
        (line,) = (line for line in lines if line.startswith(f"{key} "))
        assert f'"{work}/' in line
    assert "#clear APT::Update::Post-Invoke;" in lines


@pytest.mark.parametrize(("user", "expected"), [(0, True), (1000, False)])
def test_only_root_does_without_apts_own_user(
    monkeypatch: pytest.MonkeyPatch, work: Path, user: int, expected: bool
) -> None:
    monkeypatch.setattr("os.geteuid", lambda: user)
    debian.configure(work, "arm64")
    assert ("APT::Sandbox::User" in (work / "apt.conf").read_text()) == expected


def listing(*files: str) -> str:
    """What apt prints for `--print-uris`."""
    return "".join(f"'http://m.example/{file}' {file} 10 SHA256:0\n" for file in files)


def test_only_what_bazel_loads_is_chosen() -> None:
    wanted = ["bazel-bootstrap", "libc6", "libguava-java", "libstdc++6", "patchelf"]
    others = ["gcc-15", "libc6-dev", "openjdk-21-jdk-headless", "xlibc6"]
    files = [f"{name}_7.7.1+ds-2_amd64.deb" for name in [*others, *wanted]]
    assert debian.choose_packages("Reading lists\n" + listing(*files), "7.7.1") == wanted


@pytest.mark.parametrize("archived", ["7.7.10-1", "8.0.0-1", "4.2.3+ds-1", "7.7.1.1-1", None])
def test_archive_without_the_pinned_version_is_refused(archived: str | None) -> None:
    uris = listing(f"bazel-bootstrap_{archived}_amd64.deb") if archived else ""
    with pytest.raises(SetupError, match="pins 7.7.1") as refused:
        debian.choose_packages(uris, "7.7.1")
    assert str(archived) in refused.value.what
