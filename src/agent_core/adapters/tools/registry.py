"""The tool registry of a deployment."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from agent_core.domain.errors import RegistrationError
from agent_core.domain.tools import spec_problems
from agent_core.ports.tools import Tool, ToolRegistry


class StaticToolRegistry(ToolRegistry):
    """Fixed at construction. Raises `RegistrationError` with every broken rule of every tool."""

    def __init__(self, tools: Iterable[Tool]) -> None:
        offered = tuple(tools)
        counts = Counter(tool.spec.name for tool in offered)
        problems = [problem for tool in offered for problem in spec_problems(tool.spec)]
        problems += [f"{name}: registered {n} times" for name, n in counts.items() if n > 1]
        if problems:
            raise RegistrationError(tuple(problems))
        self._tools = {tool.spec.name: tool for tool in offered}

    def find(self, name: str) -> Tool | None:
        return self._tools.get(name)

    def names(self) -> tuple[str, ...]:
        return tuple(sorted(self._tools))
