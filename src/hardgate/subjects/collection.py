"""Gathers a case with everything it names, and checks all of it before anything runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from hardgate.cases.loader import LoadedCase, load_case
from hardgate.cases.names import name_problems
from hardgate.cases.needs import need_problems
from hardgate.cases.planned import PlannedRun
from hardgate.cases.vocabulary import Vocabulary
from hardgate.documents.problems import DefinitionError, Problem
from hardgate.documents.strict_yaml import Keys
from hardgate.documents.tree import MissingFile, Tree
from hardgate.fixtures.model_script import (
    ModelScript,
    load_script,
    played_script,
    proposed_tools,
)

if TYPE_CHECKING:
    from hardgate.fixtures.judge import ScriptedJudge
    from hardgate.fixtures.mcp_server import McpServer
    from hardgate.fixtures.tool_results import ToolResults
    from hardgate.subjects.port import Subject

MODELS = "models"
TOOL_RESULTS = "tools"
JUDGES = "judges"
MCP_SERVERS = "mcp"
WORKSPACES = "workspaces"

T = TypeVar("T")


class RunnableRun(NamedTuple):
    """One planned run with its fixtures. `files` are the workspace's at the start, by path."""

    planned: PlannedRun
    script: ModelScript
    files: Mapping[str, bytes]
    tool_results: ToolResults | None = None
    judge: ScriptedJudge | None = None
    mcp_servers: tuple[McpServer, ...] = ()


class RunnableCase(NamedTuple):
    """A case with everything it names: one run, or one for each of its arms."""

    loaded: LoadedCase
    runs: tuple[RunnableRun, ...]

    @property
    def script(self) -> ModelScript:
        """The script of the first run."""
        return self.runs[0].script


def load(tree: Tree, case_path: str) -> LoadedCase:
    """The case in a file of the tree. Raises DefinitionError."""
    return load_case(case_path, read(tree, case_path))


def collect(
    tree: Tree, loaded: LoadedCase, fixtures: str, subject: Subject, *, runs_now: bool = True
) -> RunnableCase:
    """The case with its fixtures from the folder `fixtures` of the tree.

    A case that does not run yet, because its milestone is still to come, may use names and
    abilities that the subject has not got. Raises DefinitionError with the problems of all files.
    """
    runs, problems = load_fixtures(tree, loaded, fixtures)
    vocabulary = subject.vocabulary()
    if loaded.case.subject is not None and not vocabulary.outside:
        message = (
            f"found subject, but cases run in the process of {subject.name} here; allowed: with "
            "hardgate.kinds.command_case"
        )
        problems.append(loaded.document.problem(("subject",), "case.subject", message, at_key=True))
    problems += subject_problems(loaded, runs, vocabulary, runs_now=runs_now)
    if problems:
        raise DefinitionError(problems)
    return RunnableCase(loaded, tuple(runs))


def subject_problems(
    loaded: LoadedCase,
    runs: Iterable[RunnableRun],
    vocabulary: Vocabulary | None,
    *,
    runs_now: bool = True,
) -> list[Problem]:
    """What a subject cannot do, and the names in a case that it does not know; see `collect`.

    A case with a `subject` of its own is judged by that, whatever the vocabulary is. Without one of
    either, nothing is known that could be wrong.
    """
    problems: list[Problem] = []
    if loaded.case.subject is not None or (vocabulary is not None and vocabulary.outside):
        from hardgate.cases import outside
        from hardgate.cases.command import DEFAULT

        vocabulary = outside.vocabulary(loaded.case.subject or DEFAULT)
        problems += outside.outside_problems(loaded.case, loaded.document)
        runs_now = True
    if vocabulary is None:
        return problems
    for planned in loaded.runs:
        abilities = vocabulary.abilities
        if not vocabulary.outside:
            problems += need_problems(planned, loaded.document, abilities, runs_now=runs_now)
    if runs_now:
        for run in runs:
            proposed = proposed_tools(run.script)
            problems += name_problems(run.planned, loaded.document, vocabulary, proposed)
    return problems


def fixture_paths(loaded: LoadedCase, fixtures: str) -> frozenset[str]:
    """The fixture files that a case names, other than those of workspaces."""
    named: set[tuple[str, str | None]] = set()
    for planned in loaded.runs:
        case = planned.case
        named.add((MODELS, case.model_fixture))
        named.add((TOOL_RESULTS, case.fixtures.tool_results))
        named.add((JUDGES, case.fixtures.judge))
        named.update((MCP_SERVERS, stem) for stem in case.fixtures.mcp_servers or ())
    return frozenset(f"{fixtures}/{folder}/{stem}.yaml" for folder, stem in named if stem)


def read(tree: Tree, path: str) -> bytes:
    """The bytes of one file of the tree. Raises DefinitionError."""
    try:
        return tree.read(path)
    except (MissingFile, OSError) as error:
        reason = getattr(error, "strerror", None) or "there is no such file"
        message = f"cannot be read: {reason}"
        raise DefinitionError([Problem(path, 1, 1, "file.unreadable", message)]) from None


def load_fixtures(
    tree: Tree, loaded: LoadedCase, fixtures: str
) -> tuple[list[RunnableRun], list[Problem]]:
    """Each run of a case with its fixtures, and every problem of these.

    A run is left out when it has no script that could be played.
    """
    finder = _Finder(tree, loaded, fixtures)
    runs: list[RunnableRun] = []
    for planned in loaded.runs:
        script = finder.script(planned)
        files = finder.workspace(planned)
        tool_results = finder.tool_results(planned)
        judge = finder.judge(planned)
        mcp_servers = finder.mcp_servers(planned)
        if script is not None:
            runs.append(RunnableRun(planned, script, files, tool_results, judge, mcp_servers))
    return runs, finder.problems


class _Finder:
    """Finds and reads the fixtures of one case, and gathers their problems."""

    def __init__(self, tree: Tree, loaded: LoadedCase, fixtures: str) -> None:
        self.tree = tree
        self.loaded = loaded
        self.fixtures = fixtures
        self.problems: list[Problem] = []

    def script(self, planned: PlannedRun) -> ModelScript | None:
        script = self._file(planned, ("model_fixture",), MODELS, load_script)
        if script is None:
            return None
        message_texts = planned.case.input.turns if planned.case.input else None
        if script.on_exhausted == "repeat_last" and message_texts is None:
            message = (
                f"found {planned.case.model_fixture}, whose on_exhausted is repeat_last; "
                "allowed: with input.turns only"
            )
            keys = planned.keys(self.loaded.document, ("model_fixture",))
            self.problems.append(self.loaded.document.problem(keys, "case.repeat_last", message))
        return played_script(script, len(message_texts or ()))

    def workspace(self, planned: PlannedRun) -> Mapping[str, bytes]:
        stem = planned.case.fixtures.workspace
        if stem is None:
            return {}
        from hardgate.fixtures.workspaces import TooLarge, read_workspace

        keys = planned.keys(self.loaded.document, ("fixtures", "workspace"))
        folder = f"{self.fixtures}/{WORKSPACES}"
        try:
            files = read_workspace(self.tree, f"{folder}/{stem}")
        except TooLarge as error:
            self.problems.append(
                self.loaded.document.problem(keys, "case.workspace_too_large", str(error))
            )
            return {}
        if not files:
            names = {
                path.removeprefix(f"{folder}/").split("/")[0]
                for path in self.tree.glob(f"{folder}/*/**")
            }
            self._unknown(keys, stem, f"{folder}/{stem}/", names)
        return files

    def tool_results(self, planned: PlannedRun) -> ToolResults | None:
        if planned.case.fixtures.tool_results is None:
            return None
        from hardgate.fixtures.tool_results import load_tool_results

        return self._file(planned, ("fixtures", "tool_results"), TOOL_RESULTS, load_tool_results)

    def judge(self, planned: PlannedRun) -> ScriptedJudge | None:
        if planned.case.fixtures.judge is None:
            return None
        from hardgate.fixtures.judge import load_judge

        judge = self._file(planned, ("fixtures", "judge"), JUDGES, load_judge)
        rubric = planned.expected.judge
        if judge is not None and rubric is not None and judge.rubric != rubric:
            message = (
                f"found another condition than the rubric of {planned.case.fixtures.judge}.yaml; "
                "allowed: the same text in both"
            )
            problem = self.loaded.document.problem((*planned.at, "judge"), "case.rubric", message)
            self.problems.append(problem)
        return judge

    def mcp_servers(self, planned: PlannedRun) -> tuple[McpServer, ...]:
        stems = planned.case.fixtures.mcp_servers
        if not stems:
            return ()
        from hardgate.fixtures.mcp_server import load_mcp_server

        servers: dict[str, McpServer] = {}
        for index, stem in enumerate(stems):
            keys: Keys = ("fixtures", "mcp_servers", index)
            server = self._file(planned, keys, MCP_SERVERS, load_mcp_server)
            if server is not None and server.server_id in servers:
                message = (
                    f"found {stem}, whose server_id {server.server_id} another server of the case "
                    "has; allowed: an id of its own"
                )
                place = planned.keys(self.loaded.document, keys)
                problem = self.loaded.document.problem(place, "case.mcp_server_id", message)
                self.problems.append(problem)
            elif server is not None:
                servers[server.server_id] = server
        return tuple(servers.values())

    def _file(
        self,
        planned: PlannedRun,
        keys: Keys,
        folder: str,
        load: Callable[[str, bytes], T],
    ) -> T | None:
        """The fixture that the value under `keys` names, or None and a problem."""
        stem: Any = planned.case
        for key in keys:
            stem = stem[key] if isinstance(key, int) else getattr(stem, key)
        path = f"{self.fixtures}/{folder}/{stem}.yaml"
        if not self.tree.exists(path):
            place = planned.keys(self.loaded.document, keys)
            paths = self.tree.glob(f"{self.fixtures}/{folder}/*.yaml")
            self._unknown(place, stem, path, {_stem(one) for one in paths})
            return None
        try:
            return load(path, read(self.tree, path))
        except DefinitionError as error:
            self.problems += error.problems
            return None

    def _unknown(self, keys: Keys, stem: str, path: str, known: set[str]) -> None:
        from hardgate.documents.wording import choices, did_you_mean, quoted

        names = sorted(known)
        message = (
            f"found {quoted(stem)}, but there is no {path}; "
            f"allowed: {choices(names)}{did_you_mean(stem, names)}"
        )
        self.problems.append(self.loaded.document.problem(keys, "case.unknown_fixture", message))


def _stem(path: str) -> str:
    return path.rsplit("/", 1)[-1].removesuffix(".yaml")
