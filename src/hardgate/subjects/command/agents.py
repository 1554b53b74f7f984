"""The executables that cases start, as a command line names them."""

from __future__ import annotations

import re
from collections.abc import Iterable

from hardgate.documents.wording import quoted

_NAMED = re.compile(r"([a-z][a-z0-9_]*)=(.*)", re.DOTALL)

OPTION_HELP = "the agent's executable; NAME=PATH for one that cases name in subject.agent"


class AgentsError(ValueError):
    """Words that name no agents; its text is for whoever wrote them."""


def agents_of(words: Iterable[str]) -> dict[str, str]:
    """The paths of `PATH` and `NAME=PATH` by name, "" for the one without. Raises AgentsError."""
    agents: dict[str, str] = {}
    for word in words:
        match = _NAMED.fullmatch(word)
        name, path = (match[1], match[2]) if match else ("", word)
        if not path:
            raise AgentsError(f"found {quoted(word)}; allowed: a path, or NAME=PATH")
        if name in agents:
            what = f"the agent {quoted(name)}" if name else "an agent without a name"
            raise AgentsError(f"found {what} twice; allowed: each once")
        agents[name] = path
    return agents
