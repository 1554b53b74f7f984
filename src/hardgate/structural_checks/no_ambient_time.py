"""`hardgate:no_ambient_time`: time, ids, randomness and settings are handed in."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from hardgate.kinds.context import Examination, StructuralContext
from hardgate.kinds.python_source import PythonFile, inside
from hardgate.registry.check_options import Ambience, NoAmbientTimeOptions
from hardgate.structural_checks.allowed_in import AllowedIn
from hardgate.structural_checks.modules import matches, read_modules, unknown_modules
from hardgate.structural_checks.name_uses import NameUses
from hardgate.verdicts.verdict import Finding


class Ambient(NamedTuple):
    """One rule: what is ambient, what of it is not, and where to get it instead."""

    rule: str
    ambient: tuple[str, ...]
    harmless: tuple[str, ...]
    instead: str


AMBIENT = {
    Ambience.TIME: Ambient(
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
        "ask a clock that is handed in",
    ),
    Ambience.IDENTITY: Ambient(
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
        "ask a source of ids that is handed in",
    ),
    Ambience.RANDOMNESS: Ambient(
        "ambient_random",
        ("os.getrandom", "os.urandom", "random", "secrets", "uuid.SafeUUID"),
        ("random.Random", "secrets.compare_digest"),
        "take a seeded random.Random as an argument",
    ),
    Ambience.ENVIRONMENT: Ambient(
        "ambient_environment",
        (
            "os.environ",
            "os.environb",
            "os.getcwd",
            "os.getenv",
            "os.getenvb",
            "os.getlogin",
            "os.path.expanduser",
            "os.path.expandvars",
            "getpass.getuser",
            "pathlib.Path.cwd",
            "pathlib.Path.home",
        ),
        (),
        "take the setting as an argument",
    ),
}


def check(context: StructuralContext) -> Examination:
    """Reads every bound module for what it takes by itself; counts the bound modules."""
    options = context.options(NoAmbientTimeOptions)
    place = (context.gate.path, context.gate.line)
    files, findings = read_modules(context.tree, options.roots, place)
    found = [*findings, *unknown_modules(place, "modules", options.modules, files)]
    bound = [file for file in files if not options.modules or matches(file.module, options.modules)]
    allowed = AllowedIn(options.allowed_in)
    uses = NameUses(files)
    examined = 0
    for file in bound:
        taken = list(ambient_findings(file, [AMBIENT[one] for one in options.of], uses))
        if not allowed.frees(file.module, needed=bool(taken)):
            examined += 1
            found += taken
    return Examination([*found, *allowed.unused(place)], examined, "modules")


def ambient_findings(
    file: PythonFile, rules: Sequence[Ambient], uses: NameUses
) -> Iterator[Finding]:
    """Every use of an ambient source in a module, called or handed on."""
    for rule in rules:
        for use in uses.of(file, rule.ambient):
            if not inside(use.name, rule.harmless):
                yield _finding(file, use.line, rule, use.name)
        if "random.Random" in rule.harmless:
            yield from _unseeded(file, rule)


def _unseeded(file: PythonFile, rule: Ambient) -> Iterator[Finding]:
    for node in file.nodes:
        if not isinstance(node, ast.Call) or "random.Random" not in file.qualified(node.func):
            continue
        given = [*node.args, *(one.value for one in node.keywords)]
        if all(isinstance(one, ast.Constant) and one.value is None for one in given):
            yield _finding(file, node.lineno, rule, "random.Random() without a seed")


def _finding(file: PythonFile, line: int, rule: Ambient, what: str) -> Finding:
    return Finding(file.path, line, rule.rule, f"{file.module} uses {what}; {rule.instead}")
