"""Time, identifiers and randomness that the runtime takes from its surroundings.

They come in through the ports of `agent_core.adapters.determinism` only: a run that reads a clock
of its own cannot be repeated (docs/specs/run_loop.md, section "Time and identifiers").
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from hardgate.kinds.python_source import PythonFile, inside
from hardgate.verdicts.verdict import Finding

RUNTIME = ("agent_core",)
ALLOWED = ("agent_core.adapters.determinism",)


class Ambient(NamedTuple):
    """One rule: what is ambient, what of it is not, and where to get it instead."""

    rule: str
    ambient: tuple[str, ...]
    harmless: tuple[str, ...]
    instead: str


TIME = (
    Ambient(
        "ambient_time",
        (
            "asyncio.sleep",
            "asyncio.timeout",
            "asyncio.timeout_at",
            "asyncio.wait_for",
            "datetime.date.today",
            "datetime.datetime.now",
            "datetime.datetime.today",
            "datetime.datetime.utcnow",
            "email.utils.formatdate",
            "email.utils.localtime",
            "os.times",
            "sched",
            "signal.alarm",
            "signal.setitimer",
            "threading.Timer",
            "time",
        ),
        ("time.struct_time",),
        "ask the Clock port",
    ),
)
IDENTITY = (
    Ambient(
        "ambient_id",
        (
            "hash",
            "id",
            "os.getpid",
            "os.getppid",
            "platform.node",
            "socket.gethostname",
            "threading.get_ident",
            "uuid.getnode",
            "uuid.uuid1",
            "uuid.uuid4",
            "uuid.uuid6",
            "uuid.uuid7",
        ),
        (),
        "ask the IdFactory port",
    ),
    Ambient(
        "ambient_random",
        ("os.getrandom", "os.urandom", "random", "secrets", "uuid.SafeUUID"),
        ("random.Random", "secrets.compare_digest"),
        "take a seeded random.Random as an argument",
    ),
)


def is_bound(file: PythonFile) -> bool:
    """Whether the rules speak about a module: all of the runtime but its own clocks and ids."""
    return inside(file.module, RUNTIME) and not inside(file.module, ALLOWED)


def ambient_findings(file: PythonFile, rules: tuple[Ambient, ...]) -> Iterator[Finding]:
    """Every use of an ambient source in a module of the runtime, called or handed on."""
    if not is_bound(file):
        return
    for rule in rules:
        yield from _imported(file, rule)
        yield from _used(file, rule)
        if "random.Random" in rule.harmless:
            yield from _unseeded(file, rule)


def _imported(file: PythonFile, rule: Ambient) -> Iterator[Finding]:
    for one in file.imports:
        module, star, _ = one.target.rpartition(".*")
        everything = bool(star) and any(inside(name, (module,)) for name in rule.ambient)
        # `import time` alone takes nothing; what is used of it is found by `_used`.
        named = "." in one.target and inside(one.target, rule.ambient)
        if everything or (named and not inside(one.target, rule.harmless)):
            yield _finding(file, one.line, rule, one.target)


def _used(file: PythonFile, rule: Ambient) -> Iterator[Finding]:
    inner = {id(node.value) for node in file.nodes if isinstance(node, ast.Attribute)}
    for node in file.nodes:
        if not isinstance(node, ast.Name | ast.Attribute) or id(node) in inner:
            continue
        if not isinstance(node.ctx, ast.Load):
            continue  # a field or a variable of such a name takes nothing
        for name in sorted(file.qualified(node)):
            plain = name.removeprefix("builtins.")
            if inside(plain, rule.ambient) and not inside(plain, rule.harmless):
                yield _finding(file, node.lineno, rule, plain)


def _unseeded(file: PythonFile, rule: Ambient) -> Iterator[Finding]:
    for node in file.nodes:
        bare = isinstance(node, ast.Call) and not node.args and not node.keywords
        if isinstance(node, ast.Call) and bare and "random.Random" in file.qualified(node.func):
            yield _finding(file, node.lineno, rule, "random.Random() without a seed")


def _finding(file: PythonFile, line: int, rule: Ambient, what: str) -> Finding:
    return Finding(file.path, line, rule.rule, f"{file.module} uses {what}; {rule.instead}")
