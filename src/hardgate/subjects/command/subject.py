"""An agent in any language as a subject of Hardgate: started as a process, seen from outside."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING

from hardgate.cases import outside
from hardgate.cases.command import DEFAULT, CommandSubject
from hardgate.cases.command_rules import AGENT, PLACEHOLDER, PROMPT, PROMPT_FILE, WORKSPACE
from hardgate.cases.model import Case
from hardgate.cases.record import Record
from hardgate.cases.vocabulary import Vocabulary
from hardgate.fixtures.model_script import ModelScript
from hardgate.subjects.command.faults import TURNS
from hardgate.subjects.command.process import Ended, Launch, NotStarted, run
from hardgate.subjects.command.record import Left, observed
from hardgate.subjects.port import SubjectError
from hardgate.wire.limits import Limits
from hardgate.wire.mcp.results import McpResults
from hardgate.wire.provider import ScriptedProvider

if TYPE_CHECKING:
    from hardgate.fixtures.mcp_server import McpServer
    from hardgate.fixtures.tool_results import ToolResults
    from hardgate.wire.mcp.setup import McpSetup

NAME = "command"
VERSION = "1"
# Requests beyond the turns of the script: retries, listing models, counting tokens.
SPARE_REQUESTS = 20
# The provider outlives the agent, so that it is the agent that is ended for being slow.
_SPARE_SECONDS = 30.0
# Programs that Bazel built find their own files by these.
_PASSED_PATHS = ("RUNFILES_DIR", "RUNFILES_MANIFEST_FILE", "TEST_SRCDIR")
_PASSED = ("TEST_WORKSPACE",)
_PLAIN = {"LANG": "C.UTF-8", "LC_ALL": "C.UTF-8", "TZ": "UTC"}
DEFAULT_PATH = "/usr/bin:/bin"


class ForeignAgent:
    """Runs each case in a new process of an agent.

    `agents` are the paths of executables by name; the one without a name ("") is what a case means
    that names none. `environ` is what this process knows, of which little is passed on.
    """

    name = NAME
    version = VERSION

    def __init__(self, agents: Mapping[str, str], environ: Mapping[str, str]) -> None:
        self._agents = {name: os.path.abspath(path) for name, path in agents.items()}
        self._environ = environ

    def vocabulary(self) -> Vocabulary:
        return outside.vocabulary(DEFAULT)

    def run(
        self,
        case: Case,
        script: ModelScript,
        workspace: str,
        tool_results: ToolResults | None = None,
        mcp_servers: Sequence[McpServer] = (),
    ) -> Record:
        """See the port. What tools give cannot be replaced in another process."""
        spec = case.subject or DEFAULT
        prompt = _prompt(case)
        with ExitStack() as stack:
            parent = self._environ.get("TEST_TMPDIR")
            private = stack.enter_context(
                tempfile.TemporaryDirectory(prefix="agent-", dir=parent, ignore_cleanup_errors=True)
            )
            most = spec.limits.turns or len(script.turns) + SPARE_REQUESTS
            limits = Limits(
                requests=2 * most, wall_seconds=spec.limits.wall_seconds + _SPARE_SECONDS
            )
            provider = stack.enter_context(ScriptedProvider(script, limits))
            mcp = stack.enter_context(_mcp(mcp_servers, private)) if mcp_servers else None
            launch = self._launch(spec, prompt, workspace, private, provider, mcp)
            ended = _run(launch, provider, most)
            asked = McpResults(()) if mcp is None else mcp.results()
            left = Left(script, provider.transcript, ended, workspace, asked)
        return observed(spec, left)

    def _launch(
        self,
        spec: CommandSubject,
        prompt: str,
        workspace: str,
        private: str,
        provider: ScriptedProvider,
        mcp: McpSetup | None,
    ) -> Launch:
        """How the agent is started. Its home and its temporary files are not in the workspace."""
        folders = {name: os.path.join(private, name) for name in ("home", "tmp")}
        for folder in folders.values():
            os.mkdir(folder)
        workspace = os.path.abspath(workspace)
        values = {WORKSPACE: workspace, PROMPT: prompt}
        if spec.prompt == "file":
            values[PROMPT_FILE] = os.path.join(private, "prompt.txt")
            with open(values[PROMPT_FILE], "w", encoding="utf-8", newline="") as file:
                file.write(prompt)
        if mcp is not None:
            values |= mcp.placeholders
        if any(AGENT in PLACEHOLDER.findall(word) for word in spec.command):
            values[AGENT] = self._agent(spec.agent or "")
        return Launch(
            argv=tuple(_filled(word, values) for word in spec.command),
            directory=workspace,
            environment={
                **spec.environment,
                **self._passed(),
                **_PLAIN,
                "HOME": folders["home"],
                "TMPDIR": folders["tmp"],
                **provider.environment(),
                **(mcp.environment if mcp is not None else {}),
            },
            stdin=prompt.encode() if spec.prompt == "stdin" else b"",
            wall_seconds=spec.limits.wall_seconds,
            output_limit_bytes=spec.limits.output_bytes,
            report=bool(spec.reports) or spec.answer == "report",
        )

    def _agent(self, name: str) -> str:
        """The path of the executable that a case means. Raises SubjectError."""
        if name in self._agents:
            return self._agents[name]
        known = ", ".join(sorted(filter(None, self._agents))) or "none"
        what = f"the agent {name!r}" if name else "an agent without a name"
        raise SubjectError(f"the case means {what}; given: {known}", rule="subject.agent_unknown")

    def _passed(self) -> dict[str, str]:
        """What the agent gets of this process's variables."""
        passed = {"PATH": self._environ.get("PATH") or DEFAULT_PATH}
        for name in _PASSED_PATHS:
            if self._environ.get(name):
                passed[name] = os.path.abspath(self._environ[name])
        for name in _PASSED:
            if self._environ.get(name):
                passed[name] = self._environ[name]
        return passed


def _prompt(case: Case) -> str:
    if case.input is None or case.input.text is None:
        raise SubjectError("the case has no message in input.text")
    return case.input.text


def _mcp(servers: Sequence[McpServer], private: str) -> McpSetup:
    from hardgate.wire.mcp.setup import prepare  # few cases have servers

    folder = os.path.join(private, "mcp")
    os.mkdir(folder)
    return prepare(servers, folder)


def _filled(word: str, values: Mapping[str, str]) -> str:
    """A word of the command with its placeholders replaced; what is put in is not looked at."""
    return PLACEHOLDER.sub(lambda found: values[found[1]], word)


def _run(launch: Launch, provider: ScriptedProvider, most: int) -> Ended:
    """Run the agent to its end or to its limit of requests. Raises SubjectError."""

    def stop() -> str | None:
        return TURNS if len(provider.transcript.exchanges) > most else None

    try:
        return run(launch, stop)
    except NotStarted as error:
        rule = "subject." + error.reason_code.replace(".", "_")
        raise SubjectError(error.text, rule=rule) from None
