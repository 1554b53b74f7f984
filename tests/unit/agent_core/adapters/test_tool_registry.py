"""Registration, with all its problems at once."""

import pytest

from agent_core.adapters.tools.math_calculate import MathCalculate
from agent_core.adapters.tools.registry import StaticToolRegistry
from agent_core.domain.errors import RegistrationError


class Renamed(MathCalculate):
    def __init__(self, **change):
        self._change = change

    @property
    def spec(self):
        return super().spec._replace(**self._change)


def test_every_problem_of_every_tool_is_told():
    tools = [
        Renamed(name="mcp.server.tool"),
        Renamed(name="Bad", version=""),
        MathCalculate(),
        MathCalculate(),
    ]
    with pytest.raises(RegistrationError) as caught:
        StaticToolRegistry(tools)
    assert [problem.split(": ")[0] for problem in caught.value.problems] == [
        "mcp.server.tool",
        "Bad",
        "Bad",
        "math.calculate",
    ]
    assert caught.value.problems[-1] == "math.calculate: registered 2 times"
    assert str(caught.value) == "\n".join(caught.value.problems)


def test_an_iterator_of_tools_is_read_once():
    registry = StaticToolRegistry(iter([Renamed(name="web.tool"), Renamed(name="demo.tool")]))
    assert registry.names() == ("demo.tool", "web.tool")


class Changing(MathCalculate):
    """A tool that declares something else each time it is asked."""

    def __init__(self):
        self._asked = 0

    @property
    def spec(self):
        self._asked += 1
        return super().spec._replace(version=str(self._asked))


def test_what_was_checked_is_what_holds():
    registry = StaticToolRegistry([Changing()])
    assert [registry.find("math.calculate").spec.version for _ in range(3)] == ["1"] * 3
