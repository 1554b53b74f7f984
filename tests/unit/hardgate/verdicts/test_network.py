"""The classification of the network proof, over injected probes; no test sends anything."""

import errno

import pytest

from hardgate.verdicts import network
from hardgate.verdicts.network import (
    ATTEMPTS,
    NETWORK_ON,
    NETWORK_UNKNOWN,
    REACHED,
    REFUSALS,
    SystemProbe,
    prove,
    proves_off,
)


class FakeProbe:
    """Answers what it is told and remembers what was attempted."""

    def __init__(self, ways_out=(), answers=None, error=None):
        self._ways_out = ways_out
        self._answers = answers or {}
        self._error = error
        self.attempted = []

    def ways_out(self):
        if self._error is not None:
            raise self._error
        return self._ways_out

    def attempt(self, name):
        self.attempted.append(name)
        return self._answers.get(name, "ENETUNREACH")


def test_off_when_nothing_leads_out_and_every_attempt_is_refused():
    probe = FakeProbe()
    proof = prove(probe)
    assert proof.off
    assert (proof.rule, proof.message) == ("", "")
    assert proof.attempts == tuple((name, "ENETUNREACH") for name in ATTEMPTS)
    assert proves_off(proof)


@pytest.mark.parametrize(
    "ways_out", [("interface eth0 is up",), ("route through eth0",), ("a", "b")]
)
def test_a_way_out_fails_and_nothing_is_attempted(ways_out):
    probe = FakeProbe(ways_out=ways_out)
    proof = prove(probe)
    assert not proof.off
    assert proof.rule == NETWORK_ON
    assert probe.attempted == []
    assert all(way in proof.message for way in ways_out)


@pytest.mark.parametrize("error", [PermissionError(errno.EACCES, "no"), FileNotFoundError(2, "no")])
def test_unreadable_interfaces_fail_and_nothing_is_attempted(error):
    probe = FakeProbe(error=error)
    proof = prove(probe)
    assert not proof.off
    assert proof.rule == NETWORK_UNKNOWN
    assert errno.errorcode[error.errno] in proof.message
    assert probe.attempted == []


def test_a_system_that_does_not_tell_is_decided_by_the_attempts():
    proof = prove(FakeProbe(ways_out=None, answers=dict.fromkeys(ATTEMPTS, "EPERM")))
    assert proof.off
    assert proof.ways_out is None


@pytest.mark.parametrize("name", ATTEMPTS)
@pytest.mark.parametrize("answer", [REACHED, "EINPROGRESS", "ECONNREFUSED", "ETIMEDOUT", "EAI_9"])
def test_any_answer_but_a_refusal_fails_and_ends_the_attempts(name, answer):
    probe = FakeProbe(answers={name: answer})
    proof = prove(probe)
    assert not proof.off
    assert proof.rule == NETWORK_ON
    assert probe.attempted == list(ATTEMPTS[: ATTEMPTS.index(name) + 1])
    assert name in proof.message and answer in proof.message


@pytest.mark.parametrize("answer", sorted(REFUSALS))
def test_each_refusal_counts_as_off(answer):
    assert prove(FakeProbe(answers=dict.fromkeys(ATTEMPTS, answer))).off


def test_a_recorded_proof_needs_its_evidence():
    whole = prove(FakeProbe())
    assert not proves_off(network.NetworkProof(True, (), whole.attempts[1:], "", ""))
    assert not proves_off(network.NetworkProof(True, (), (*whole.attempts[1:], ("x", "E")), "", ""))
    assert not proves_off(network.NetworkProof(True, ("eth0",), whole.attempts, "", ""))
    assert not proves_off(network.NetworkProof(False, (), whole.attempts, "", ""))


ROUTES = "Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\n"


@pytest.mark.parametrize(
    ("ipv4", "ipv6", "devices"),
    [
        ("", "", set()),
        ("eth0\t00000000\t0102\t0003\t0\t0\t0\t0\n", "", {"eth0"}),
        ("eth0\t00000000\t0102\t0203\t0\t0\t0\t0\n", "", set()),
        ("", "0 00 0 00 0 ffffffff 1 0 00200200 lo\n", set()),
        ("", "0 00 0 00 0 00000000 2 0 80200001 lo\n", {"lo"}),
        ("", "0 00 0 00 0 00000000 2 0 00000003 wlan0\n", {"wlan0"}),
        ("", None, set()),
    ],
)
def test_routes_are_read_from_the_kernel_tables(monkeypatch, tmp_path, ipv4, ipv6, devices):
    files = {"/proc/net/route": ROUTES + ipv4, "/proc/net/ipv6_route": ipv6}

    def opened(path, encoding):
        if files[path] is None:
            raise FileNotFoundError(2, "no such file", path)
        copy = tmp_path / path.rsplit("/", 1)[1]
        copy.write_text(files[path])
        return copy.open(encoding=encoding)

    monkeypatch.setattr(network, "open", opened, raising=False)
    assert network._routed_devices() == devices


def test_the_system_probe_names_other_links_and_routes_only(monkeypatch):
    monkeypatch.setattr(network.sys, "platform", "linux")
    monkeypatch.setattr(network, "_links_up", lambda: ({"lo"}, {"wlan0", "eth0"}))
    monkeypatch.setattr(network, "_routed_devices", lambda: {"lo", "tun0"})
    assert SystemProbe().ways_out() == (
        "interface eth0 is up",
        "interface wlan0 is up",
        "route through tun0",
    )


def test_the_system_probe_does_not_guess_elsewhere(monkeypatch):
    monkeypatch.setattr(network.sys, "platform", "darwin")
    assert SystemProbe().ways_out() is None


LOOPBACK, UP = 0x8, 0x1


def test_interfaces_are_told_apart_by_their_flags(monkeypatch):
    """The loopback may have any name; what is down carries nothing; a name has 16 bytes at most."""
    flags = {"lo": LOOPBACK | UP, "loop9": LOOPBACK, "eth0": UP | 0x1000, "sit0": 0x80}

    def ioctl(descriptor, request, argument):
        assert request == 0x8913, "SIOCGIFFLAGS"
        assert len(argument) == 40, "struct ifreq"
        name = argument[:16].rstrip(b"\0").decode()
        return argument[:16] + flags[name].to_bytes(2, network.sys.byteorder) + argument[18:]

    monkeypatch.setattr("fcntl.ioctl", ioctl)
    names = list(enumerate(flags, 1))
    monkeypatch.setattr(network.socket, "if_nameindex", lambda: names)
    assert network._links_up() == ({"lo", "loop9"}, {"eth0"})


class FakeSocket:
    def __init__(self, answer):
        self._answer = answer

    def __call__(self, family, kind):
        return self

    def __enter__(self):
        return self

    def __exit__(self, *error):
        return None

    def setblocking(self, flag):
        assert flag is False, "an attempt must never wait"

    def connect_ex(self, address):
        assert address[0] in ("192.0.2.1", "2001:db8::1"), "documentation addresses only"
        return self._answer


@pytest.mark.parametrize("name", ["tcp", "udp", "tcp_ipv6"])
@pytest.mark.parametrize(
    ("code", "answer"),
    [(0, REACHED), (errno.ENETUNREACH, "ENETUNREACH"), (errno.EINPROGRESS, "EINPROGRESS")],
)
def test_a_connection_is_named_by_the_answer_of_the_kernel(monkeypatch, name, code, answer):
    monkeypatch.setattr(network.socket, "socket", FakeSocket(code))
    assert SystemProbe().attempt(name) == answer


def test_a_family_that_the_kernel_lacks_is_a_refusal(monkeypatch):
    def without(family, kind):
        raise OSError(errno.EAFNOSUPPORT, "no IPv6")

    monkeypatch.setattr(network.socket, "socket", without)
    assert SystemProbe().attempt("tcp_ipv6") == "EAFNOSUPPORT"


@pytest.mark.parametrize("name", ["EAI_AGAIN", "EAI_NONAME"])
def test_a_name_that_does_not_resolve_is_named_by_the_resolver(monkeypatch, name):
    def unresolved(host, *rest):
        assert host == b"hardgate.invalid."
        raise network.socket.gaierror(getattr(network.socket, name), "no")

    monkeypatch.setattr(network.socket, "getaddrinfo", unresolved)
    assert SystemProbe().attempt("dns") == name


def test_a_name_that_resolves_is_reached(monkeypatch):
    monkeypatch.setattr(network.socket, "getaddrinfo", lambda *arguments: [])
    assert SystemProbe().attempt("dns") == REACHED
