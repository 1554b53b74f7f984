"""Java's list of trusted certificate authorities, made from the system's own.

Debian makes it when the Java package is configured, which a private copy never is. Without it the
server can speak to no cache or registry over TLS.
"""

from __future__ import annotations

import hashlib
import os
import ssl
import struct
from pathlib import Path

# What the format puts before the content when it makes the checksum; the first part is Java's
# default for such lists, which hold nothing secret.
SEAL = "changeit".encode("utf-16-be") + b"Mighty Aphrodite"
BUNDLES = (
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/cert.pem",
)


def system_certificates() -> list[bytes]:
    """The system's certificate authorities (DER), sorted; empty where none are installed."""
    for bundle in (os.environ.get("SSL_CERT_FILE", ""), *BUNDLES):
        if os.path.isfile(bundle):
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
            context.load_verify_locations(cafile=bundle)
            return sorted(context.get_ca_certs(binary_form=True))
    return []


def key_store(certificates: list[bytes]) -> bytes:
    """A Java key store (format JKS, version 2) that trusts `certificates`."""
    parts = [struct.pack(">III", 0xFEEDFEED, 2, len(certificates))]
    for number, certificate in enumerate(certificates):
        alias = f"ca-{number:04d}".encode()
        trusted, created_milliseconds = 2, 0
        parts.append(struct.pack(">IH", trusted, len(alias)) + alias)
        parts.append(struct.pack(">QH", created_milliseconds, 5) + b"X.509")
        parts.append(struct.pack(">I", len(certificate)) + certificate)
    body = b"".join(parts)
    return body + hashlib.sha1(SEAL + body).digest()


def provide(java: Path) -> None:
    """Write the list into the runtime at `java`, unless its link leads to one of the system."""
    path = java / "lib/security/cacerts"
    if path.exists():
        return
    path.unlink(missing_ok=True)
    path.write_bytes(key_store(system_certificates()))
