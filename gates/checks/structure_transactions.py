"""What is awaited while a unit of work is open: its own repositories, and nothing else.

A unit is open in the body of `async with <something>units() as unit`, in a function that enters one
by `__aenter__`, and in every function that is handed one (a parameter annotated `UnitOfWork`).
There, an await is a method of one of the unit's repositories, or a call that hands the unit on: to a
function of the same packages, or to one of a table of them; each of these is judged itself. A loop
over a stream, another context, and giving control away are no such awaits.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from hardgate.kinds.python_source import PythonFile, inside
from hardgate.verdicts.verdict import Finding

JUDGED = ("agent_core", "agent_cli")
ADAPTERS = ("agent_core.adapters",)
_UNIT = "agent_core.ports.persistence.UnitOfWork"
_FACTORY_ENDING = "units"
_ENTERING, _LEAVING = "__aenter__", "__aexit__"
_Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass
class _Open:
    """A stretch of code in which the unit that is called `name` is open."""

    file: PythonFile
    name: str
    body: Sequence[ast.stmt]
    nodes: list[ast.AST] = field(default_factory=list)


class TransactionJudge:
    """Judges modules together, because a unit is handed from one to another."""

    def __init__(self, files: Sequence[PythonFile]) -> None:
        self._files = [
            file
            for file in files
            if inside(file.module, JUDGED) and not inside(file.module, ADAPTERS)
        ]
        self._repositories = _repositories(files)
        self._open = [stretch for file in self._files for stretch in _stretches(file)]
        self._taking = {
            node.name
            for file in self._files
            for node in file.nodes
            if isinstance(node, _Function) and _unit_parameters(file, node)
        }
        self.examined = 0

    def findings(self) -> list[Finding]:
        """Everything awaited that may not be; counts the awaits it has judged in `examined`."""
        found = [finding for stretch in self._open for finding in self._judged(stretch)]
        return [*found, *self._unseen()]

    def _judged(self, stretch: _Open) -> Iterator[Finding]:
        for node in _within(stretch.body):
            stretch.nodes.append(node)
            if isinstance(node, ast.Await):
                self.examined += 1
                if not self._is_own(node.value, stretch.name):
                    yield _finding(stretch.file, node, "await_in_transaction", node.value)
            elif isinstance(node, ast.AsyncFor):
                yield _finding(stretch.file, node, "stream_in_transaction", node.iter)
            elif isinstance(node, ast.AsyncWith):
                yield _finding(
                    stretch.file, node, "context_in_transaction", node.items[0].context_expr
                )
            elif isinstance(node, ast.Yield | ast.YieldFrom):
                yield _finding(stretch.file, node, "yield_in_transaction", node)

    def _is_own(self, awaited: ast.expr, unit: str) -> bool:
        if not isinstance(awaited, ast.Call):
            return False
        called = awaited.func
        if self._owner(called) == unit:
            return True
        name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
        if name in (_ENTERING, _LEAVING):
            return True
        given = [*awaited.args, *(one.value for one in awaited.keywords)]
        handed = any(isinstance(one, ast.Name) and one.id == unit for one in given)
        return handed and (name in self._taking or isinstance(called, ast.Subscript))

    def _owner(self, called: ast.expr) -> str:
        """The unit in `unit.<repository>.<method>`; empty for anything else."""
        if isinstance(called, ast.Attribute) and isinstance(called.value, ast.Attribute):
            repository = called.value
            if repository.attr in self._repositories and isinstance(repository.value, ast.Name):
                return repository.value.id
        return ""

    def _unseen(self) -> Iterator[Finding]:
        """Uses of repositories outside every stretch: a unit opened in a way not known here."""
        seen = {id(node) for stretch in self._open for node in stretch.nodes}
        for file in self._files:
            for node in file.nodes:
                if isinstance(node, ast.Await) and isinstance(node.value, ast.Call):
                    if self._owner(node.value.func) and id(node) not in seen:
                        yield _finding(file, node, "transaction_unrecognised", node.value)


def _repositories(files: Sequence[PythonFile]) -> frozenset[str]:
    """The names under which a unit of work has its repositories, as its port declares them."""
    module, _, name = _UNIT.rpartition(".")
    return frozenset(
        member.name
        for file in files
        if file.module == module
        for node in file.nodes
        if isinstance(node, ast.ClassDef) and node.name == name
        for member in node.body
        if isinstance(member, ast.FunctionDef)
    )


def _stretches(file: PythonFile) -> Iterator[_Open]:
    for node in file.nodes:
        if isinstance(node, ast.AsyncWith):
            for item in node.items:
                name = _opened(item)
                if name:
                    yield _Open(file, name, node.body)
        elif isinstance(node, _Function):
            for name in (*_unit_parameters(file, node), *_entered(node)):
                yield _Open(file, name, node.body)


def _opened(item: ast.withitem) -> str:
    """The name of the unit that a context opens; empty where it opens none."""
    context, target = item.context_expr, item.optional_vars
    if not isinstance(context, ast.Call) or not isinstance(target, ast.Name):
        return ""
    called = context.func
    name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
    return target.id if name.endswith(_FACTORY_ENDING) else ""


def _entered(function: _Function) -> list[str]:
    """The names of units that a function enters itself: `unit = await factory().__aenter__()`."""
    return [
        node.targets[0].id
        for node in ast.walk(function)
        if isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Name)
        and isinstance(node.value, ast.Await)
        and isinstance(node.value.value, ast.Call)
        and isinstance(node.value.value.func, ast.Attribute)
        and node.value.value.func.attr == _ENTERING
    ]


def _unit_parameters(file: PythonFile, function: _Function) -> list[str]:
    parameters = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
    return [
        one.arg
        for one in parameters
        if one.annotation is not None and _UNIT in file.qualified(_plain(one.annotation))
    ]


def _plain(annotation: ast.expr) -> ast.expr:
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        return ast.parse(annotation.value, mode="eval").body
    return annotation


def _within(body: Sequence[ast.stmt]) -> Iterator[ast.AST]:
    """The nodes that run while the body does: not the bodies of functions defined in it."""
    pending: list[ast.AST] = list(reversed(body))
    while pending:
        node = pending.pop()
        yield node
        if not isinstance(node, _Function | ast.Lambda):
            pending += reversed(list(ast.iter_child_nodes(node)))


def _finding(file: PythonFile, node: ast.AST, rule: str, what: ast.AST) -> Finding:
    message = f"{ast.unparse(what)[:80]} while a unit of work is open; close the unit before"
    if rule == "transaction_unrecognised":
        message = f"{ast.unparse(what)[:80]} outside every unit that is recognised"
    return Finding(file.path, getattr(node, "lineno", 1), rule, message)
