"""Who may end a run: one function, which is found by reading every module of the runtime.

A terminal status or event is whatever `agent_core.domain` says is one: `is_terminal` of a status
comes from the table of transitions, and a terminal event type is the one that is named after it.
The domain itself may name them, because it knows no port and so cannot write anything, and so may
what reads ended runs for evaluations, because the runtime never imports it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hardgate.kinds.python_source import PythonFile, functions_of, inside
from hardgate.verdicts.verdict import Finding

RUNTIME = ("agent_core",)
DECLARED_IN = ("agent_core.domain",)
READ_IN = ("agent_core.evals",)
WRITER_MODULE = "agent_core.application.finalize"
WRITER_PATH = "src/agent_core/application/finalize.py"
WRITER_CLASS = "Finalizer"
WRITER = "finalize"
_STATUS = "agent_core.domain.runs.RunStatus"
_EVENT_TYPE = "agent_core.domain.events.EventType"
_UPDATE = "runs.update"
_RECORD = ("record", "record_principal", "append")
_GUARD = "RUNNING"


def terminal_names() -> dict[str, str]:
    """The dotted name of each terminal status and event type, and the rule it is found under."""
    from agent_core.domain.runs import RunStatus

    ends = [status for status in RunStatus if status.is_terminal]
    statuses = {f"{_STATUS}.{status.name}": "terminal_status" for status in ends}
    return statuses | {f"{_EVENT_TYPE}.{name}": "terminal_event" for name in terminal_events()}


def terminal_events() -> dict[str, str]:
    """The terminal event types, the text of each by its name."""
    from agent_core.domain.events import EventType
    from agent_core.domain.runs import RunStatus

    ending = {f"run.{status.name.lower()}" for status in RunStatus if status.is_terminal}
    return {event.name: event.value for event in EventType if event.value in ending}


def second_writers(file: PythonFile) -> Iterator[Finding]:
    """Everything in a module by which something else than the writer could end a run."""
    if not inside(file.module, RUNTIME) or inside(file.module, (*DECLARED_IN, WRITER_MODULE)):
        return
    names, texts = terminal_names(), set(terminal_events().values())
    if inside(file.module, READ_IN):
        names, texts = {}, set()
    prose = {id(node.value) for node in file.nodes if isinstance(node, ast.Expr)}
    for node in file.nodes:
        if not isinstance(node, ast.expr):
            continue
        for name in file.qualified(node) if isinstance(node, ast.Name | ast.Attribute) else ():
            if name in names:
                yield _second(file, node.lineno, names[name], name)
        computed = _computed(file, node)
        if computed:
            yield _second(file, node.lineno, "terminal_computed", f"{computed} from a value")
        if isinstance(node, ast.Constant) and node.value in texts and id(node) not in prose:
            yield _second(file, node.lineno, "terminal_event", f"the text {node.value!r}")


def _computed(file: PythonFile, node: ast.AST) -> str:
    """The enumeration that an expression picks a member of by a value: `E(x)`, `E[x]`, getattr."""
    chosen: ast.AST | None = None
    if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
        chosen = node.value
    elif isinstance(node, ast.Call):
        by_name = file.qualified(node.func) & {"getattr", "builtins.getattr"}
        chosen = node.args[0] if by_name and node.args else node.func
    found = file.qualified(chosen) & {_STATUS, _EVENT_TYPE} if chosen is not None else ()
    return min(found, default="")


def _second(file: PythonFile, line: int, rule: str, what: str) -> Finding:
    message = f"{file.module} uses {what}; only {WRITER_MODULE}.{WRITER_CLASS}.{WRITER} ends a run"
    return Finding(file.path, line, rule, message)


def writer_faults(files: list[PythonFile]) -> Iterator[Finding]:
    """What keeps the writer from being one function with one guarded write and one event."""
    for file in files:
        if file.module == WRITER_MODULE:
            methods = [function for name, function in _functions(file) if name == WRITER]
            if len(methods) != 1:
                message = f"found {len(methods)} functions {WRITER}; there has to be one"
                yield Finding(file.path, 1, "writer_missing", message)
                return
            yield from _own_faults(file, methods[0])
            return
    yield Finding(WRITER_PATH, 1, "writer_missing", f"there is no module {WRITER_MODULE}")


def _functions(file: PythonFile) -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    bodies = [file.body.body, *(one.body for one in file.nodes if isinstance(one, ast.ClassDef))]
    for body in bodies:
        for function in functions_of(body):
            yield function.name, function


def _own_faults(
    file: PythonFile, writer: ast.FunctionDef | ast.AsyncFunctionDef
) -> Iterator[Finding]:
    inner = set(ast.walk(writer))
    updates, records = _calls(file, (_UPDATE,)), _calls(file, _RECORD)
    for node in (*updates, *records):
        if node not in inner:
            message = f"{ast.unparse(node.func)} outside {WRITER}; a run ends in one function"
            yield Finding(file.path, node.lineno, "second_writer", message)
    if len(updates) != 1 or len(records) != 1:
        message = f"{WRITER} has {len(updates)} updates of the run and {len(records)} events"
        yield Finding(file.path, writer.lineno, "writes_repeated", f"{message}; one each ends it")
    for update in updates:
        guards = [ast.unparse(one.value) for one in update.keywords if one.arg == "expected"]
        if not any(guard.endswith(f"RunStatus.{_GUARD}") for guard in guards):
            message = f"the update is not guarded by the status {_GUARD}, so a run could end twice"
            yield Finding(file.path, update.lineno, "unguarded_end", message)
    units = [node for node in inner if isinstance(node, ast.AsyncWith)]
    together = [unit for unit in units if {*updates, *records} <= set(ast.walk(unit))]
    if (updates or records) and not together:
        message = "the status and the event are not written in one unit of work"
        yield Finding(file.path, writer.lineno, "split_end", message)


def _calls(file: PythonFile, endings: tuple[str, ...]) -> list[ast.Call]:
    """The calls of methods whose dotted name ends in one of `endings`."""
    found = []
    for node in file.nodes:
        if isinstance(node, ast.Call):
            called = "." + ast.unparse(node.func)
            if any(called.endswith("." + ending) for ending in endings):
                found.append(node)
    return found
