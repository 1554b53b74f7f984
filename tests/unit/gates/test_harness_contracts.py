"""Ports, contract modules and implementations, compared in every direction."""

import pytest

from gates.checks.harness_contracts import contract_findings, snake
from tests.unit.gates.sources import parsed

PORT = """
from typing import Protocol


class IdFactory(Protocol):
    def new_id(self) -> str: ...
    def last(self) -> str: ...
"""
ADAPTER = """
from agent_core.ports.ids import IdFactory


class Counted(IdFactory):
    def new_id(self) -> str: return "1"
"""
CONTRACT = """
import pytest
from agent_core.adapters.ids import Counted

IMPLEMENTATIONS = {"counted": Counted}


@pytest.fixture(params=IMPLEMENTATIONS)
def ids(request): return IMPLEMENTATIONS[request.param]()


def test_new(ids):
    assert ids.new_id()
"""
SOUND = {
    "src/agent_core/ports/ids.py": PORT,
    "src/agent_core/adapters/ids.py": ADAPTER,
    "tests/contract/test_id_factory_contract.py": CONTRACT,
}


def findings(**changes):
    files = dict(SOUND)
    for path, text in changes.pop("files", {}).items():
        files.pop(path, None)
        if text is not None:
            files[path] = text
    sources = {path: text for path, text in files.items() if path.startswith("src/")}
    tests = {path: text for path, text in files.items() if path.startswith("tests/")}
    found, _ = contract_findings(parsed(sources), parsed(tests))
    return sorted({(finding.path.rsplit("/", 1)[1], finding.rule) for finding in found})


def test_a_sound_tree_has_no_finding_and_one_port():
    sources, tests = dict(list(SOUND.items())[:2]), dict(list(SOUND.items())[2:])
    assert contract_findings(parsed(sources), parsed(tests)) == ([], 1)


UNLISTED = ("ids.py", "implementation_without_contract")
TEST = "tests/contract/test_id_factory_contract.py"


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({TEST: None}, [("ids.py", "port_without_contract"), UNLISTED]),
        (
            {"tests/contract/more/test_id_factory_contract.py": CONTRACT},
            [("test_id_factory_contract.py", "duplicate_contract")],
        ),
        (
            {"tests/contract/test_clock_contract.py": CONTRACT},
            [("test_clock_contract.py", "contract_without_port")],
        ),
        (
            {TEST: CONTRACT.replace("IMPLEMENTATIONS = {", "RUNS = {")},
            [UNLISTED, ("test_id_factory_contract.py", "contract_without_list")],
        ),
        (
            {TEST: CONTRACT.replace("def test_new", "def check_new")},
            [("test_id_factory_contract.py", "contract_without_test")],
        ),
        (
            {TEST: CONTRACT.replace("assert ids.new_id()", "assert True")},
            [("test_id_factory_contract.py", "contract_without_test")],
        ),
        (
            {TEST: CONTRACT.replace("assert ids.new_id()", "ids.new_id()")},
            [("test_id_factory_contract.py", "contract_without_test")],
        ),
        ({TEST: CONTRACT.replace('{"counted": Counted}', "{}")}, [UNLISTED]),
        ({"tests/contract/test_other.py": "def test_a(): assert 1"}, []),
        (
            {"src/agent_core/ports/ids.py": PORT.replace("(Protocol)", "")},
            [
                ("test_id_factory_contract.py", "contract_without_port"),
            ],
        ),
        (
            {"src/agent_core/ports/ids.py": PORT.replace("IdFactory", "_IdFactory")},
            [
                ("test_id_factory_contract.py", "contract_without_port"),
            ],
        ),
    ],
)
def test_modules(files, expected):
    assert findings(files=files) == sorted(expected)


METHODS = "    def new_id(self): return '2'\n    def last(self): return '1'\n"


@pytest.mark.parametrize(
    "text",
    [
        "from agent_core.ports.ids import IdFactory as F\nclass Other(F): pass",
        "import agent_core.ports.ids as ids\nclass Other(ids.IdFactory): pass",
        "from agent_core.adapters.ids import Counted\nclass Other(Counted): pass",
        f"class Other:\n{METHODS}",
        "class _Half:\n    def last(self): return '1'\n"
        "class Other(_Half):\n    def new_id(self): return '2'",
        "if 1:\n    from agent_core.ports.ids import IdFactory\n    class Other(IdFactory): pass",
    ],
    ids=["alias", "module", "heir", "same_members", "inherited_members", "conditional"],
)
def test_an_implementation_that_no_contract_runs_is_found(text):
    assert findings(files={"src/agent_core/adapters/other.py": text}) == [
        ("other.py", "implementation_without_contract")
    ]


@pytest.mark.parametrize(
    "text",
    [
        "class Other:\n    def new_id(self): return '2'",
        "from abc import ABC\nfrom agent_core.ports.ids import IdFactory\n"
        "class Base(IdFactory, ABC): pass",
    ],
    ids=["some_members_only", "abstract"],
)
def test_what_is_no_implementation_is_left_alone(text):
    assert findings(files={"src/agent_core/adapters/other.py": text}) == []


def test_outside_the_adapters_only_a_named_port_counts():
    assert findings(files={"src/agent_core/domain/other.py": f"class Other:\n{METHODS}"}) == []


def test_an_implementation_may_be_listed_through_a_function():
    text = CONTRACT.replace('{"counted": Counted}', "[make]").replace(
        "@pytest", "def make(): return build()\n\n\ndef build(): return Counted()\n\n\n@pytest"
    )
    assert findings(files={TEST: text}) == []


@pytest.mark.parametrize(
    ("name", "expected"),
    [("Clock", "clock"), ("IdFactory", "id_factory"), ("MCPServer", "mcp_server")],
)
def test_snake(name, expected):
    assert snake(name) == expected
