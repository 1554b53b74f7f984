"""The table of reason codes: one fixed message for each, and no other way to a message.

The table is read from the source, entry by entry, because two equal keys of a dict are one when the
program runs. The codes are those that the cases of the suite name and those that they produce.
"""

from __future__ import annotations

import ast
import tempfile
from collections.abc import Iterator
from typing import Any

from agent_core.evals.subject import ReferenceSubject
from gates.checks.harness_suite import Suite
from hardgate.documents.tree import Tree
from hardgate.kinds.python_source import PythonFile, inside, parse_files
from hardgate.verdicts.verdict import Finding

TABLE_PATH = "src/agent_core/domain/outcomes.py"
TABLE_MODULE = "agent_core.domain.outcomes"
TABLE = "REASONS"
ENTRY = "ReasonEntry"
OUTCOME = "ToolOutcome"
MAKER = "make_outcome"
_CHANGES = ("clear", "pop", "popitem", "setdefault", "update")


def reason_findings(
    tree: Tree, suite: Suite, subject: ReferenceSubject
) -> tuple[list[Finding], int]:
    """What is wrong, and how many codes of the suite were looked up."""
    files, findings = parse_files(tree, tree.glob("src/agent_core/**/*.py"))
    table = next((file for file in files if file.path == TABLE_PATH), None)
    if table is None:
        message = f"there is no {TABLE_PATH}, where the table stands"
        return [*findings, Finding(TABLE_PATH, 1, "table_missing", message)], 0
    entries, own = _entries(table)
    findings += own
    findings += _repeated(entries, table)
    findings += [one for file in files for one in _other_ways(file)]
    known = {code for code, _ in entries}
    codes = _codes_of_suite(suite, subject)
    for code, path in sorted(codes.items()):
        if code not in known:
            message = f"the reason code {code} has no message in {TABLE_PATH}"
            findings.append(Finding(path, 1, "reason_unknown", message))
    return findings, len(codes)


def _codes_of_suite(suite: Suite, subject: ReferenceSubject) -> dict[str, str]:
    """Every code that a case names or produces, with the first case that does."""
    codes: dict[str, str] = {}
    for case in suite.runnable:
        for run in case.runs:
            expected = run.planned.expected
            named = [*(expected.reason_codes or ())]
            named += [one.reason_code for one in expected.tool_calls or () if one.reason_code]
            with tempfile.TemporaryDirectory() as workspace:
                record = subject.run(run.planned.case, run.script, workspace, run.tool_results)
            named += [call.reason_code for call in record.tool_calls if call.reason_code]
            for code in named:
                codes.setdefault(code, case.loaded.path)
    return codes


def _entries(table: PythonFile) -> tuple[list[tuple[str, object]], list[Finding]]:
    """The pairs of the table in their order, equal codes included, and interpolated messages."""
    findings = list(_built_messages(table))
    for node in table.body.body:
        if isinstance(node, ast.AnnAssign | ast.Assign) and isinstance(node.value, ast.Dict):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            if [one.id for one in targets if isinstance(one, ast.Name)] == [TABLE]:
                return _evaluated(table, node.value), findings
    message = f"{TABLE} is not written as one dict, so its entries cannot be counted"
    return [], [*findings, Finding(table.path, 1, "table_missing", message)]


def _evaluated(table: PythonFile, written: ast.Dict) -> list[tuple[str, object]]:
    """The entries of a dict as pairs, each part evaluated by itself in the module's own names."""
    names: dict[str, Any] = {"__name__": TABLE_MODULE}
    # The module of the tree, which a defect may have changed, and not the one that is imported.
    exec(compile(table.body, table.path, "exec"), names)
    pairs: list[tuple[str, object]] = []
    for key, value in zip(written.keys, written.values, strict=True):
        part = ast.Dict([key], [value])
        code = compile(ast.fix_missing_locations(ast.Expression(part)), table.path, "eval")
        pairs += eval(code, names).items()
    return pairs


def _repeated(entries: list[tuple[str, object]], table: PythonFile) -> Iterator[Finding]:
    seen: set[str] = set()
    for code, _ in entries:
        if code in seen:
            message = f"the reason code {code} has two entries, of which the last one counts"
            yield Finding(table.path, _line_of(table, code), "reason_repeated", message)
        seen.add(code)


def _line_of(table: PythonFile, code: str) -> int:
    lines = [
        node.lineno
        for node in table.nodes
        if isinstance(node, ast.Constant) and node.value in (code, code.rpartition(".")[2])
    ]
    return max(lines, default=1)


def _built_messages(table: PythonFile) -> Iterator[Finding]:
    """Entries, made directly or by a helper, whose message is not a text as it is written."""
    makers = {ENTRY: 1}  # the place of the message among the arguments
    for function in table.body.body:
        if isinstance(function, ast.FunctionDef):
            names = [argument.arg for argument in function.args.args]
            if "message" in names and any(map(_makes_entry, ast.walk(function))):
                makers[function.name] = names.index("message")
    for node in _calls_of(table.body, makers):
        place = makers[node.func.id]  # type: ignore[attr-defined]  # a Name, see _calls_of
        given = [one.value for one in node.keywords if one.arg == "message"]
        given += node.args[place : place + 1]
        inner = isinstance(given[0], ast.Name) and given[0].id == "message" if given else False
        fixed = bool(given) and isinstance(given[0], ast.Constant) and bool(given[0].value)
        if not fixed and not inner:
            message = "a message is one fixed text; this one is put together or empty"
            yield Finding(table.path, node.lineno, "message_built", message)


def _calls_of(body: ast.AST, names: dict[str, int]) -> Iterator[ast.Call]:
    for node in ast.walk(body):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in names:
            yield node


def _makes_entry(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == ENTRY


def _other_ways(file: PythonFile) -> Iterator[Finding]:
    """Whatever makes an outcome or its message past the table, and whatever changes the table."""
    if not inside(file.module, ("agent_core",)):
        return
    maker = {
        id(node)
        for function in file.body.body
        if isinstance(function, ast.FunctionDef) and function.name == MAKER
        for node in ast.walk(function)
    }
    is_table = file.module == TABLE_MODULE
    for node in file.nodes:
        if isinstance(node, ast.Call):
            yield from _call_findings(file, node, is_maker=is_table and id(node) in maker)
        if isinstance(node, ast.expr | ast.stmt) and _changes_table(file, node):
            message = f"{ast.unparse(node)} changes the table of reason codes at run time"
            yield Finding(file.path, node.lineno, "table_changed", message)


def _call_findings(file: PythonFile, node: ast.Call, *, is_maker: bool) -> Iterator[Finding]:
    name = f"{TABLE_MODULE}.{OUTCOME}"
    local = isinstance(node.func, ast.Name) and node.func.id == OUTCOME
    makes = name in file.qualified(node.func) or (file.module == TABLE_MODULE and local)
    makes = makes or (
        isinstance(node.func, ast.Attribute)
        and node.func.attr == "_make"
        and name in file.qualified(node.func.value)
    )
    if makes and not is_maker:
        message = f"{file.module} makes an outcome itself; only {MAKER} does"
        yield Finding(file.path, node.lineno, "outcome_made_elsewhere", message)
    if makes and is_maker and not any(map(_is_message_of_entry, node.args)):
        message = f"{MAKER} gives another message than that of the entry"
        yield Finding(file.path, node.lineno, "message_built", message)
    replaces = isinstance(node.func, ast.Attribute) and node.func.attr == "_replace"
    if replaces and any(one.arg == "message" for one in node.keywords):
        message = f"{file.module} replaces a message"
        yield Finding(file.path, node.lineno, "message_replaced", message)


def _is_message_of_entry(node: ast.expr) -> bool:
    return isinstance(node, ast.Attribute) and node.attr == "message"


def _changes_table(file: PythonFile, node: ast.AST) -> bool:
    changed: ast.expr | None = None
    if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store | ast.Del):
        changed = node.value
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        changed = node.func.value if node.func.attr in _CHANGES else None
    elif isinstance(node, ast.AugAssign):
        changed = node.target
    if changed is None:
        return False
    local = file.module == TABLE_MODULE and isinstance(changed, ast.Name) and changed.id == TABLE
    named = f"{TABLE_MODULE}.{TABLE}" in file.qualified(changed)
    return local or named
