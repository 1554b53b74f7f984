"""Time, identifiers and randomness that the runtime takes from its surroundings.

They come in through the ports of `agent_core.adapters.determinism` only: a run that reads a clock
of its own cannot be repeated (docs/specs/evaluation_harness.md, section "Determinism").
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hardgate.kinds.python_source import PythonFile, inside
from hardgate.verdicts.verdict import Finding

RUNTIME = ("agent_core",)
ALLOWED = ("agent_core.adapters.determinism",)

# rule -> (what is ambient, what of it is not, where to get it instead)
_AMBIENT: dict[str, tuple[tuple[str, ...], tuple[str, ...], str]] = {
    "ambient_time": (
        (
            "asyncio.sleep",
            "datetime.date.today",
            "datetime.datetime.now",
            "datetime.datetime.today",
            "datetime.datetime.utcnow",
            "os.times",
            "time",
        ),
        ("time.struct_time",),
        "ask the Clock port",
    ),
    "ambient_id": (
        ("uuid.getnode", "uuid.uuid1", "uuid.uuid4", "uuid.uuid6", "uuid.uuid7"),
        (),
        "ask the IdFactory port",
    ),
    "ambient_random": (
        ("os.getrandom", "os.urandom", "random", "secrets", "uuid.SafeUUID"),
        ("random.Random", "secrets.compare_digest"),
        "take a seeded random.Random as an argument",
    ),
}


def ambient_findings(file: PythonFile) -> Iterator[Finding]:
    """Every use of an ambient source in a module of the runtime, called or handed on."""
    if not inside(file.module, RUNTIME) or inside(file.module, ALLOWED):
        return
    inner = {id(node.value) for node in file.nodes if isinstance(node, ast.Attribute)}
    for one in file.imports:
        module, star, _ = one.target.rpartition(".*")
        for rule, (ambient, harmless, instead) in _AMBIENT.items():
            everything = bool(star) and any(inside(name, (module,)) for name in ambient)
            # `import time` alone takes nothing; what is used of it is found below.
            named = "." in one.target and inside(one.target, ambient)
            if everything or (named and not inside(one.target, harmless)):
                yield _finding(file, one.line, rule, one.target, instead)
    for node in file.nodes:
        if isinstance(node, ast.Name | ast.Attribute) and id(node) not in inner:
            for name in sorted(file.qualified(node)):
                yield from _used(file, node, name)
        if isinstance(node, ast.Call) and _is_unseeded(file, node):
            message = "random.Random() without a seed"
            yield _finding(file, node.lineno, "ambient_random", message, "give it a seed")


def _is_unseeded(file: PythonFile, call: ast.Call) -> bool:
    return not call.args and not call.keywords and "random.Random" in file.qualified(call.func)


def _used(file: PythonFile, node: ast.expr, name: str) -> Iterator[Finding]:
    for rule, (ambient, harmless, instead) in _AMBIENT.items():
        if inside(name, ambient) and not inside(name, harmless):
            yield _finding(file, node.lineno, rule, name, instead)


def _finding(file: PythonFile, line: int, rule: str, what: str, instead: str) -> Finding:
    return Finding(file.path, line, rule, f"{file.module} uses {what}; {instead}")
