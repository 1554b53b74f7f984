"""Java's list of trusted authorities, read back as the format is specified."""

from __future__ import annotations

import hashlib
import struct
from pathlib import Path

import pytest

from tools.setup import trust_store


def read_back(store: bytes) -> list[bytes]:
    """The certificates in a key store of format JKS, version 2."""
    body, checksum = store[:-20], store[-20:]
    opening = "changeit".encode("utf-16-be") + b"Mighty Aphrodite"
    assert hashlib.sha1(opening + body).digest() == checksum
    magic, version, count = struct.unpack_from(">III", body)
    assert (magic, version) == (0xFEEDFEED, 2)
    position, found = 12, []
    for _ in range(count):
        tag, length = struct.unpack_from(">IH", body, position)
        assert tag == 2
        position += 6 + length + 8
        (length,) = struct.unpack_from(">H", body, position)
        assert body[position + 2 : position + 2 + length] == b"X.509"
        position += 2 + length
        (length,) = struct.unpack_from(">I", body, position)
        found.append(body[position + 4 : position + 4 + length])
        position += 4 + length
    assert position == len(body)
    return found


@pytest.mark.parametrize("certificates", [[], [b"one"], [b"one", b"two" * 500, b""]])
def test_store_holds_exactly_the_certificates(certificates: list[bytes]) -> None:
    assert read_back(trust_store.key_store(certificates)) == certificates


def test_without_installed_authorities_the_list_is_empty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    monkeypatch.setattr(trust_store, "BUNDLES", ("/nonexistent/bundle.crt",))
    assert trust_store.system_certificates() == []


def test_dangling_link_is_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trust_store, "system_certificates", lambda: [b"one"])
    path = tmp_path / "lib/security/cacerts"
    path.parent.mkdir(parents=True)
    path.symlink_to("/nonexistent/cacerts")
    trust_store.provide(tmp_path)
    assert read_back(path.read_bytes()) == [b"one"]


def test_list_of_the_system_is_kept(tmp_path: Path) -> None:
    path, system = tmp_path / "lib/security/cacerts", tmp_path / "system"
    path.parent.mkdir(parents=True)
    system.write_bytes(b"theirs")
    path.symlink_to(system)
    trust_store.provide(tmp_path)
    assert path.is_symlink()
    assert system.read_bytes() == b"theirs"
