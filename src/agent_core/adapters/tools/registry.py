"""The tool registry of a deployment."""

from __future__ import annotations

from collections.abc import Iterable

from agent_core.domain.errors import RegistrationError
from agent_core.domain.registration import registered_spec, spec_problems
from agent_core.ports.tools import RegisteredTool, Tool, ToolRegistry


class StaticToolRegistry(ToolRegistry):
    """Fixed at construction. Raises `RegistrationError` with every broken rule of every tool."""

    def __init__(self, tools: Iterable[Tool]) -> None:
        # A tool may make its declaration anew each time: what was checked is what holds.
        offered = [RegisteredTool(tool.spec, tool) for tool in tools]
        names = [one.spec.name for one in offered]
        problems = [problem for one in offered for problem in spec_problems(one.spec)]
        problems += [
            f"{name}: registered {names.count(name)} times"
            for name in dict.fromkeys(names)
            if names.count(name) > 1
        ]
        if problems:
            raise RegistrationError(tuple(problems))
        self._tools = {
            one.spec.name: one._replace(spec=registered_spec(one.spec)) for one in offered
        }

    def find(self, name: str) -> RegisteredTool | None:
        return self._tools.get(name)

    def names(self) -> tuple[str, ...]:
        return tuple(sorted(self._tools))
