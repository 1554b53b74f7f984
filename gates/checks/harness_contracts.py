"""Ports, the contract modules that test them, and the classes that implement them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from hardgate.kinds.python_source import PythonFile, classes_of, functions_of, inside
from hardgate.verdicts.verdict import Finding

PORTS = "agent_core.ports"
ADAPTERS = "agent_core.adapters"
RUNTIME = "agent_core"
IMPLEMENTATIONS = "IMPLEMENTATIONS"
_PROTOCOLS = frozenset({"typing.Protocol", "typing_extensions.Protocol"})
_ABSTRACT = frozenset({"abc.ABC"})
_MODULE = re.compile(r"test_(\w+)_contract")


@dataclass(frozen=True, eq=False)
class Class:
    """A class of the runtime; `bases` are dotted names, `members` its own functions by name."""

    name: str
    file: PythonFile
    node: ast.ClassDef
    bases: frozenset[str]
    members: frozenset[str]

    @property
    def dotted(self) -> str:
        return f"{self.file.module}.{self.name}"


@dataclass(frozen=True, eq=False)
class Contract:
    """A module tests/contract/test_<port>_contract.py; `listed` is what it runs over."""

    file: PythonFile
    stem: str
    listed: frozenset[str]


def contract_findings(
    files: Sequence[PythonFile], tests: Sequence[PythonFile]
) -> tuple[list[Finding], int]:
    """Compares ports, contract modules and implementations; also returns the number of ports."""
    classes = [one for file in files for one in _classes(file)]
    ports = [one for one in classes if inside(one.file.module, (PORTS,)) and _is_protocol(one)]
    contracts = [one for file in tests for one in _contract(file)]
    findings = [
        *_modules(ports, contracts),
        *(finding for contract in contracts for finding in _unused_list(contract)),
        *_implementations(ports, classes, contracts),
    ]
    return findings, len(ports)


def snake(name: str) -> str:
    """The name of a class as a part of a module's name: IdFactory -> id_factory."""
    parted = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name)
    return parted.lower()


def _classes(file: PythonFile) -> Iterator[Class]:
    local = {node.name for node in classes_of(file.body.body)}
    for node in classes_of(file.body.body):
        bases: set[str] = set()
        for base in node.bases:
            plain = base.value if isinstance(base, ast.Subscript) else base
            if isinstance(plain, ast.Name) and plain.id in local:
                bases.add(f"{file.module}.{plain.id}")
            else:
                bases |= file.qualified(plain)
        members = {one.name for one in functions_of(node.body)} | _attributes(node)
        yield Class(node.name, file, node, frozenset(bases), frozenset(members))


def _attributes(node: ast.ClassDef) -> set[str]:
    targets: list[ast.expr] = [one.target for one in node.body if isinstance(one, ast.AnnAssign)]
    targets += [
        target for one in node.body if isinstance(one, ast.Assign) for target in one.targets
    ]
    return {target.id for target in targets if isinstance(target, ast.Name)}


def _is_protocol(one: Class) -> bool:
    return bool(one.bases & _PROTOCOLS) and not one.name.startswith("_")


def _contract(file: PythonFile) -> Iterator[Contract]:
    match = _MODULE.fullmatch(PurePosixPath(file.path).stem)
    if match:
        yield Contract(file, match.group(1), frozenset(_listed(file)))


def _listed(file: PythonFile) -> set[str]:
    """The dotted names in the value of IMPLEMENTATIONS and in the functions that it names."""
    functions = {node.name: node for node in functions_of(file.body.body)}
    pending: list[ast.AST] = list(_values(file))
    seen: set[str] = set()
    names: set[str] = set()
    while pending:
        for node in ast.walk(pending.pop()):
            names |= file.qualified(node)
            if isinstance(node, ast.Name) and node.id in functions and node.id not in seen:
                seen.add(node.id)
                pending.append(functions[node.id])
    return names


def _values(file: PythonFile) -> Iterator[ast.expr]:
    for node in file.body.body:
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        if any(isinstance(one, ast.Name) and one.id == IMPLEMENTATIONS for one in targets):
            value = getattr(node, "value", None)
            if value is not None:
                yield value


def _modules(ports: Sequence[Class], contracts: Sequence[Contract]) -> Iterator[Finding]:
    by_stem: dict[str, list[Contract]] = {}
    for contract in contracts:
        by_stem.setdefault(contract.stem, []).append(contract)
    for port in ports:
        found = by_stem.pop(snake(port.name), [])
        if not found:
            expected = f"tests/contract/test_{snake(port.name)}_contract.py"
            message = f"the port {port.name} has no contract module; expected {expected}"
            yield Finding(port.file.path, port.node.lineno, "port_without_contract", message)
        for more in found[1:]:
            message = f"the port {port.name} has its contract module already: {found[0].file.path}"
            yield Finding(more.file.path, 1, "duplicate_contract", message)
    known = ", ".join(sorted(snake(port.name) for port in ports)) or "none"
    for contract in (one for rest in by_stem.values() for one in rest):
        message = f"there is no port for the contract {contract.stem}; ports: {known}"
        yield Finding(contract.file.path, 1, "contract_without_port", message)


def _unused_list(contract: Contract) -> Iterator[Finding]:
    """A contract that lists implementations and then tests nothing on them."""
    file = contract.file
    if not any(True for _ in _values(file)):
        message = (
            f"there is no list {IMPLEMENTATIONS}, so nobody knows what this contract runs over"
        )
        yield Finding(file.path, 1, "contract_without_list", message)
        return
    loads = [
        node
        for node in file.nodes
        if isinstance(node, ast.Name)
        and node.id == IMPLEMENTATIONS
        and isinstance(node.ctx, ast.Load)
    ]
    tests = [node for node in _all_functions(file) if node.name.startswith("test")]
    if not loads or not any(_tests_something(node) for node in tests):
        message = f"no test here asserts anything about a member of {IMPLEMENTATIONS}"
        yield Finding(file.path, 1, "contract_without_test", message)


def _all_functions(file: PythonFile) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    return [node for node in file.nodes if isinstance(node, kinds)]


def _tests_something(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether a test takes an argument, uses it, and asserts or expects an error."""
    arguments = {one.arg for one in node.args.args + node.args.kwonlyargs} - {"self"}
    inner = [one for statement in node.body for one in ast.walk(statement)]
    uses = any(isinstance(one, ast.Name) and one.id in arguments for one in inner)
    asserts = any(
        isinstance(one, ast.Assert) or (isinstance(one, ast.Attribute) and one.attr == "raises")
        for one in inner
    )
    return uses and asserts


def _implementations(
    ports: Sequence[Class], classes: Sequence[Class], contracts: Sequence[Contract]
) -> Iterator[Finding]:
    by_dotted = {one.dotted: one for one in classes}
    listed_for = {
        port.dotted: contract.listed
        for port in ports
        for contract in contracts
        if contract.stem == snake(port.name)
    }
    for one in classes:
        if inside(one.file.module, (PORTS,)) or one.bases & _ABSTRACT:
            continue
        for port in _ports_of(one, ports, by_dotted):
            if one.dotted not in listed_for.get(port.dotted, frozenset()):
                message = f"{one.name} implements {port.name}, whose contract does not run over it"
                where = f"add it to {IMPLEMENTATIONS} of test_{snake(port.name)}_contract.py"
                rule = "implementation_without_contract"
                yield Finding(one.file.path, one.node.lineno, rule, f"{message}; {where}")


def _ports_of(one: Class, ports: Sequence[Class], by_dotted: Mapping[str, Class]) -> list[Class]:
    """The ports that a class names as a base, or, if it names none, those whose members it has."""
    lineage = _lineage(one, by_dotted)
    bases = {base for ancestor in lineage for base in ancestor.bases}
    named = [port for port in ports if port.dotted in bases]
    if named or not inside(one.file.module, (ADAPTERS,)):
        return named
    members = {member for ancestor in lineage for member in ancestor.members}
    return [port for port in ports if port.members and port.members <= members]


def _lineage(one: Class, by_dotted: Mapping[str, Class]) -> list[Class]:
    """A class and every class of the runtime that it inherits from."""
    found = [one]
    for ancestor in found:
        for base in sorted(ancestor.bases):
            if base in by_dotted and by_dotted[base] not in found:
                found.append(by_dotted[base])
    return found
