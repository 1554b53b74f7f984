"""The SQL adapter as it is written: the order of its rows, the chain of its migrations, and what it
shows of the libraries behind it."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from hardgate.kinds.python_source import PythonFile, functions_of, inside
from hardgate.registry.check_options import ForbiddenImport
from hardgate.verdicts.verdict import Finding

ADAPTER = "agent_core.adapters.sql"
TRANSACTION = f"{ADAPTER}.transaction"
VERSIONS = f"{ADAPTER}.migrations.versions"
SCHEMA_MODULE = f"{ADAPTER}.schema_version"
_NO_QUERIES = (f"{ADAPTER}.migrations", f"{ADAPTER}.migrate")
_COLLECTION = "rows"
_ANYTHING = "execute"
_QUERY = "select"
_FETCHING = frozenset(
    {"all", "columns", "fetchall", "fetchmany", "mappings", "partitions", "scalars"}
)
_ORDER = "order_by"
_LIBRARIES = ("aiosqlite", "alembic", "asyncpg", "psycopg", "sqlalchemy", "sqlite3")
_PORTS = "agent_core.ports"
CONFINED = (
    ForbiddenImport(
        rule="database_library",
        reason="only the persistence adapter knows that there is a database",
        importers=("agent_core", "agent_cli", "hardgate"),
        importers_except=(ADAPTER,),
        forbidden=_LIBRARIES,
        through_others=False,
    ),
)
"""Who may use a library of SQL."""


def order_findings(files: Sequence[PythonFile]) -> tuple[list[Finding], int]:
    """Queries for several rows that do not say in which order; also how many were looked at.

    `Transaction.rows` is the one way to several rows, and what it is given says `order_by`, in the
    call itself or where its name is assigned in the same function. A function that passes one of
    its parameters on to it is such a way as well.
    """
    findings: list[Finding] = []
    examined = 0
    for file in files:
        if not inside(file.module, (ADAPTER,)) or inside(file.module, (*_NO_QUERIES, TRANSACTION)):
            continue
        ways = {_COLLECTION, *_passing(file)}
        for function in _functions(file):
            for call in _method_calls(function):
                name = call.func.attr if isinstance(call.func, ast.Attribute) else ""
                if name in ways and not (function.name in ways and _passes(call, function)):
                    examined += 1
                    if not (call.args and _is_ordered(call.args[0], function)):
                        message = f"{ast.unparse(call)[:80]}; a query for rows says {_ORDER}(...)"
                        findings.append(Finding(file.path, call.lineno, "order_missing", message))
                elif name in _FETCHING or (name == _ANYTHING and _is_query(call, function)):
                    message = f"{ast.unparse(call)[:80]}; several rows come from Transaction.rows"
                    findings.append(Finding(file.path, call.lineno, "rows_past_order", message))
    return findings, examined


def migration_findings(files: Sequence[PythonFile]) -> tuple[list[Finding], int]:
    """What is wrong with the chain of migrations; also how many there are."""
    migrations = {
        file.module: file
        for file in files
        if file.module.startswith(f"{VERSIONS}.") and not file.is_package
    }
    package = next((file for file in files if file.module == VERSIONS), None)
    if package is None or not migrations:
        return [], 0
    findings = list(_chain_findings(migrations))
    findings += _list_findings(package, migrations)
    findings += _pinned_findings(files, migrations)
    return findings, len(migrations)


def shown_findings(files: Sequence[PythonFile]) -> tuple[list[Finding], int]:
    """Public methods of what implements a port in SQL whose signatures name a class of a library,
    or the adapter's own transaction; also how many methods were looked at.

    `__init__` is how the adapter puts its own parts together, and no port has it.
    """
    findings: list[Finding] = []
    examined = 0
    for file in files:
        if not inside(file.module, (ADAPTER,)):
            continue
        for node in file.nodes:
            if isinstance(node, ast.ClassDef) and _implements_port(file, node):
                for method in functions_of(node.body):
                    if not method.name.startswith("_"):
                        examined += 1
                        findings += _shown(file, method)
    return findings, examined


def _implements_port(file: PythonFile, node: ast.ClassDef) -> bool:
    return any(inside(name, (_PORTS,)) for base in node.bases for name in file.qualified(base))


def _shown(file: PythonFile, method: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[Finding]:
    given = method.args
    parameters = (*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg)
    annotations = [one.annotation for one in parameters if one is not None] + [method.returns]
    named = {
        name
        for annotation in annotations
        if annotation is not None
        for node in ast.walk(annotation)
        for name in file.qualified(node)
        if inside(name, (*_LIBRARIES, TRANSACTION))
    }
    for name in sorted(named):
        message = f"{method.name} shows {name}; whoever uses a port knows of no database"
        yield Finding(file.path, method.lineno, "connection_shown", message)


def _chain_findings(migrations: dict[str, PythonFile]) -> Iterator[Finding]:
    """Each migration follows one other, and each but one is followed by one other."""
    revisions: dict[str, str] = {}
    followed: dict[object, str] = {}
    for module, file in sorted(migrations.items()):
        revision, before = _constant(file, "revision"), _constant(file, "down_revision")
        if not isinstance(revision, str) or not isinstance(before, str | None):
            message = "revision is a text, and down_revision a text or None: one migration before"
            yield Finding(file.path, 1, "migration_merged", message)
            continue
        if revision in revisions:
            message = f"revision {revision!r} is that of {revisions[revision]} as well"
            yield Finding(file.path, 1, "revision_repeated", message)
        revisions[revision] = module
        if before in followed:
            message = f"{before!r} is followed by {followed[before]} already: two heads"
            yield Finding(file.path, 1, "second_head", message)
        followed[before] = module
    for before in followed:
        if before is not None and before not in revisions:
            file = migrations[followed[before]]
            message = f"down_revision {before!r} is that of no migration"
            yield Finding(file.path, 1, "revision_unknown", message)


def _list_findings(package: PythonFile, migrations: dict[str, PythonFile]) -> Iterator[Finding]:
    """The list of migrations that is run holds each of them, in the order of the chain."""
    listed = _constant_names(package, "MIGRATIONS")
    chain = _chain(migrations)
    if listed != chain:
        message = f"MIGRATIONS is {listed}; the chain of down_revision is {chain}"
        yield Finding(package.path, 1, "migration_unlisted", message)


def _pinned_findings(
    files: Sequence[PythonFile], migrations: dict[str, PythonFile]
) -> Iterator[Finding]:
    """The version that programs expect is the last one."""
    for file in files:
        if file.module == SCHEMA_MODULE:
            pinned = _constant(file, "SCHEMA_VERSION")
            chain = _chain(migrations)
            last = _constant(migrations[f"{VERSIONS}.{chain[-1]}"], "revision") if chain else None
            if pinned != last:
                message = f"SCHEMA_VERSION is {pinned!r}, the last migration {last!r}"
                yield Finding(file.path, 1, "schema_version_stale", message)


def _chain(migrations: dict[str, PythonFile]) -> list[str]:
    """The modules' own names from the first migration on, as far as the chain goes."""
    after = {
        _constant(file, "down_revision"): module for module, file in sorted(migrations.items())
    }
    chain: list[str] = []
    revision: object = None
    while revision in after and len(chain) < len(migrations):
        module = after[revision]
        chain.append(module.rpartition(".")[2])
        revision = _constant(migrations[module], "revision")
    return chain


def _constant(file: PythonFile, name: str) -> object:
    """The value of a module's constant; an `ast.AST` where it is no literal, None if absent."""
    for node in file.body.body:
        target = node.targets[0] if isinstance(node, ast.Assign) else None
        if isinstance(node, ast.AnnAssign):
            target = node.target
        if isinstance(target, ast.Name) and target.id == name:
            value = getattr(node, "value", None)
            try:
                return ast.literal_eval(value) if value is not None else None
            except ValueError:
                return value
    return None


def _constant_names(file: PythonFile, name: str) -> list[str]:
    value = _constant(file, name)
    elements = value.elts if isinstance(value, ast.Tuple | ast.List) else []
    return [one.id for one in elements if isinstance(one, ast.Name)]


def _functions(file: PythonFile) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    bodies = [file.body.body, *(one.body for one in file.nodes if isinstance(one, ast.ClassDef))]
    for body in bodies:
        yield from functions_of(body)


def _passing(file: PythonFile) -> set[str]:
    """The functions of a module that hand one of their own parameters to `Transaction.rows`."""
    return {
        function.name
        for function in _functions(file)
        for call in _method_calls(function)
        if isinstance(call.func, ast.Attribute)
        and call.func.attr == _COLLECTION
        and _passes(call, function)
    }


def _passes(call: ast.Call, function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    parameters = {one.arg for one in (*function.args.args, *function.args.kwonlyargs)}
    given = call.args[0] if call.args else None
    return isinstance(given, ast.Name) and given.id in parameters


def _method_calls(function: ast.AST) -> list[ast.Call]:
    return [
        node
        for node in ast.walk(function)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
    ]


def _is_ordered(statement: ast.expr, function: ast.AST) -> bool:
    if _says_order(statement):
        return True
    values = _values_of(statement, function)
    return bool(values) and all(_says_order(value) for value in values)


def _is_query(call: ast.Call, function: ast.AST) -> bool:
    """Whether what a call is given begins with `select`, there or where its name is assigned."""
    given = call.args[:1]
    return any(
        _begins_with_select(one)
        for statement in given
        for one in (statement, *_values_of(statement, function))
    )


def _begins_with_select(value: ast.expr) -> bool:
    while isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute):
        value = value.func.value
    return isinstance(value, ast.Call) and getattr(value.func, "id", "") == _QUERY


def _values_of(statement: ast.expr, function: ast.AST) -> list[ast.expr]:
    """What a name stands for in a function; nothing for what is no name."""
    return [
        node.value
        for node in ast.walk(function)
        if isinstance(statement, ast.Name)
        and isinstance(node, ast.Assign)
        and any(isinstance(one, ast.Name) and one.id == statement.id for one in node.targets)
    ]


def _says_order(value: ast.expr) -> bool:
    """Whether the outermost calls of an expression, read from its end, hold order_by."""
    while isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute):
        if value.func.attr == _ORDER:
            return bool(value.args)
        value = value.func.value
    return False
