"""Proof, from inside a test process, that no packet can leave the machine.

A sandbox may fall back silently to one that does not block the network, and a cached result does
not remember which of the two it came from. So every published verdict carries this proof, and none
passes when the proof says that the network is on.

The order matters. First the kernel is asked which interfaces are up and which routes exist: reading
sends nothing. Only when both say that there is no way out are four connections attempted, so a
process on a live network never sends a packet because of this module.
"""

import errno
import socket
import sys
from typing import NamedTuple, Protocol

NETWORK_ON = "network_on"
NETWORK_UNKNOWN = "network_unknown"

# Documentation addresses (RFC 5737, RFC 3849) and a reserved name (RFC 6761): nobody owns them.
ATTEMPTS: tuple[str, ...] = ("dns", "tcp", "tcp_ipv6", "udp")
REACHED = "REACHED"

# What a kernel or a sandbox answers at once when there is no way out. Anything else, a pending
# connection (EINPROGRESS) included, means that something was sent.
REFUSALS: frozenset[str] = frozenset(
    {
        "ENETUNREACH",
        "EHOSTUNREACH",
        "ENETDOWN",
        "EADDRNOTAVAIL",
        "EAFNOSUPPORT",
        "EPERM",
        "EACCES",
        "EAI_AGAIN",
        "EAI_FAIL",
        "EAI_NODATA",
        "EAI_NONAME",
        "EAI_SYSTEM",
    }
)

_SIOCGIFFLAGS = 0x8913
_IFF_UP = 0x1
_IFF_LOOPBACK = 0x8
_RTF_REJECT = 0x200


class Probe(Protocol):
    """How the proof looks at the machine; tests pass their own."""

    def ways_out(self) -> tuple[str, ...] | None:
        """Say what leads out: ("interface eth0 is up", "route through eth0").

        Empty when nothing does, None where the system does not tell (macOS). Raises OSError when it
        should tell and cannot be read. Sends nothing.
        """

    def attempt(self, name: str) -> str:
        """Try the connection `name` of ATTEMPTS; return the error's name, or REACHED."""


class NetworkProof(NamedTuple):
    """What was found. `attempts` is empty when nothing was attempted."""

    off: bool
    ways_out: tuple[str, ...] | None
    attempts: tuple[tuple[str, str], ...]
    rule: str
    message: str

    def to_plain(self) -> dict[str, object]:
        """The JSON form kept in a verdict; it holds no address and no host name."""
        return {
            "off": self.off,
            "ways_out": None if self.ways_out is None else list(self.ways_out),
            "attempts": dict(self.attempts),
            "rule": self.rule,
            "message": self.message,
        }


def prove(probe: Probe | None = None) -> NetworkProof:
    """Prove that the network is off, or say why that is not so. Never raises for a live network."""
    probe = probe if probe is not None else SystemProbe()
    try:
        ways_out = probe.ways_out()
    except OSError as error:
        name = errno.errorcode.get(error.errno or 0, "unreadable")
        message = f"the interfaces and routes of this process cannot be read ({name})"
        return NetworkProof(False, None, (), NETWORK_UNKNOWN, message)
    if ways_out:
        message = f"the network is on, nothing was attempted: {', '.join(ways_out)}"
        return NetworkProof(False, ways_out, (), NETWORK_ON, message)
    attempts: list[tuple[str, str]] = []
    for name in ATTEMPTS:
        answer = probe.attempt(name)
        attempts.append((name, answer))
        if answer not in REFUSALS:
            # One packet too many is enough: the remaining attempts would only send more.
            message = f"the network is on: {name} ended with {answer}, not with a refusal"
            return NetworkProof(False, ways_out, tuple(attempts), NETWORK_ON, message)
    return NetworkProof(True, ways_out, tuple(attempts), "", "")


def proves_off(proof: NetworkProof) -> bool:
    """Whether a recorded proof holds by its own evidence: every attempt made, every one refused."""
    names = {name for name, _ in proof.attempts}
    refused = all(answer in REFUSALS for _, answer in proof.attempts)
    return proof.off and not proof.ways_out and names == set(ATTEMPTS) and refused


class SystemProbe:
    """The real machine, seen from this process's network namespace."""

    def ways_out(self) -> tuple[str, ...] | None:
        if not sys.platform.startswith("linux"):
            return None
        loopbacks, links = _links_up()
        routes = {name for name in _routed_devices() if name not in loopbacks}
        return tuple(
            [f"interface {name} is up" for name in sorted(links)]
            + [f"route through {name}" for name in sorted(routes)]
        )

    def attempt(self, name: str) -> str:
        try:
            if name == "tcp":
                return _connect(socket.AF_INET, socket.SOCK_STREAM, ("192.0.2.1", 80))
            if name == "udp":
                return _connect(socket.AF_INET, socket.SOCK_DGRAM, ("192.0.2.1", 53))
            if name == "tcp_ipv6":
                return _connect(socket.AF_INET6, socket.SOCK_STREAM, ("2001:db8::1", 80))
            # As bytes, or Python loads its IDNA codec; with the final dot, or the resolver appends
            # the machine's search domains.
            socket.getaddrinfo(b"hardgate.invalid.", 80, socket.AF_INET, socket.SOCK_STREAM)
        except socket.gaierror as error:
            return _resolver_error_name(error.errno)
        except OSError as error:
            return errno.errorcode.get(error.errno or 0, f"errno_{error.errno}")
        return REACHED


def _connect(family: int, kind: int, address: tuple[str, int]) -> str:
    """Start a connection without waiting for it; a datagram socket only looks for a route."""
    with socket.socket(family, kind) as probe:
        probe.setblocking(False)
        code = probe.connect_ex(address)
    return REACHED if code == 0 else errno.errorcode.get(code, f"errno_{code}")


def _links_up() -> tuple[set[str], set[str]]:
    """(loopback interfaces, other interfaces that are up) of this network namespace.

    Asked through a socket: /sys/class/net may still show the namespace of whoever mounted it.
    """
    import fcntl  # absent on Windows; this code only runs on Linux

    loopbacks: set[str] = set()
    links: set[str] = set()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as query:
        for _, name in socket.if_nameindex():
            request = name.encode().ljust(40, b"\0")
            reply = fcntl.ioctl(query.fileno(), _SIOCGIFFLAGS, request)
            flags = int.from_bytes(reply[16:18], sys.byteorder)
            if flags & _IFF_LOOPBACK:
                loopbacks.add(name)
            elif flags & _IFF_UP:
                links.add(name)
    return loopbacks, links


def _routed_devices() -> set[str]:
    """Devices with a route of IPv4 or IPv6, those that only reject left out."""
    devices: set[str] = set()
    with open("/proc/net/route", encoding="ascii") as table:
        for line in table.readlines()[1:]:
            columns = line.split()
            if len(columns) > 3 and not int(columns[3], 16) & _RTF_REJECT:
                devices.add(columns[0])
    try:
        with open("/proc/net/ipv6_route", encoding="ascii") as table:
            for line in table:
                columns = line.split()
                if len(columns) == 10 and not int(columns[8], 16) & _RTF_REJECT:
                    devices.add(columns[9])
    except FileNotFoundError:
        pass  # a kernel without IPv6 has no such table and no such route
    return devices


def _resolver_error_name(code: int | None) -> str:
    for name in sorted(REFUSALS):
        if name.startswith("EAI_") and getattr(socket, name, None) == code:
            return name
    return f"EAI_{code}"
