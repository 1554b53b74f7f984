"""The port between Hardgate and an agent runtime.

A subject plays the scripted model to an ordinary agent of its runtime, lets it run to its end, and
hands back what its event log and tables say. It neither checks nor judges.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from hardgate.cases.model import Case
from hardgate.cases.record import Record
from hardgate.cases.vocabulary import Vocabulary
from hardgate.fixtures.model_script import ModelScript

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hardgate.fixtures.mcp_server import McpServer
    from hardgate.fixtures.tool_results import ToolResults


class SubjectError(Exception):
    """The subject could not run the case at all; its text is for people and holds no secret.

    A run that ends as failed is no such error: that is a record. `rule` names the reason.
    """

    def __init__(self, text: str, rule: str = "subject.error") -> None:
        super().__init__(text)
        self.rule = rule


class Subject(Protocol):
    """An agent runtime under test. `name` and `version` are kept in the verdict."""

    name: str
    version: str

    def vocabulary(self) -> Vocabulary:
        """The names this subject knows; cheap, called once before a case runs."""

    def run(
        self,
        case: Case,
        script: ModelScript,
        workspace: str,
        tool_results: ToolResults | None = None,
        mcp_servers: Sequence[McpServer] = (),
    ) -> Record:
        """Run `case` with the model that `script` plays, in the folder `workspace`.

        The folder holds the files that the case starts with. `tool_results` are what tools give
        instead of running, `mcp_servers` what the agent reaches. Of a case with several messages,
        each is a run of the same conversation, and none is sent after a run that did not complete.
        Deterministic: the same case and the same fixtures give an equal record. Raises
        SubjectError.
        """
