"""Runs one case with a given subject and publishes its verdict.

A runtime's own entry point composes its subject and calls `main` with the command line:

    --case evals/cases/02_calculator_tool.yaml --fixtures evals/fixtures --milestone 1
    --repeat "bazel test //evals:cases/calculator_tool"

Exit codes: 0 the case passes, 1 it fails, 2 usage or a case above the given milestone, 4 the case
or its script cannot be read. A test target runs one such process, so what is not needed on the way
to a passing verdict is imported late or not at all.
"""

import os
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from hardgate.cases.loader import LoadedCase, load_case
from hardgate.cases.record import Record
from hardgate.cases.rules import name_problems
from hardgate.documents.problems import DefinitionError, Problem
from hardgate.expectations.evaluate import evaluate
from hardgate.fixtures.model_script import ModelScript, load_script, proposed_tools
from hardgate.kinds.options import EXIT_USAGE, read_options
from hardgate.subjects.port import Subject, SubjectError
from hardgate.verdicts.network import NetworkProof, Probe, prove
from hardgate.verdicts.output import Start, publish
from hardgate.verdicts.verdict import Finding, Verdict, conclude

EXIT_DEFINITION = 4
MODELS_FOLDER = "models"
FILES_LIMIT = 1000

_OPTIONS = {
    "case": "the case file, relative to the workspace",
    "fixtures": "the folder of the fixtures, relative to the workspace",
    "milestone": "the milestone that has been reached",
    "repeat": "the command that repeats this case",
}


class RunnableCase(NamedTuple):
    """A case with everything it names."""

    loaded: LoadedCase
    script: ModelScript


class CaseResult(NamedTuple):
    """A verdict, and the record behind it; None where the subject gave none."""

    verdict: Verdict
    record: Record | None
    around: tuple[int, ...]


def main(argv: Sequence[str], subject: Subject, probe: Probe | None = None) -> int:
    """Run one case and return the exit code. `probe` is how the network is looked at."""
    start = Start.now()
    options = read_options(argv, "case", _OPTIONS)
    milestone = options["milestone"]
    if not (milestone.isascii() and milestone.isdigit()):
        print(f"case: --milestone {milestone!r} is no number from 0", file=sys.stderr)
        return EXIT_USAGE
    try:
        runnable = collect(options["case"], options["fixtures"], subject)
    except DefinitionError as error:
        print(error, file=sys.stderr)
        return EXIT_DEFINITION
    case = runnable.loaded.case
    if case.milestone > int(milestone):
        print(
            f"case: {case.name} is pending until milestone {case.milestone}; "
            f"the given milestone is {int(milestone)}",
            file=sys.stderr,
        )
        return EXIT_USAGE
    network = prove(probe)
    with _workspace() as workspace:
        result = run_case(runnable, subject, workspace, network)
    return publish(result.verdict, repeat=options["repeat"], start=start, excerpt=_excerpt(result))


def collect(case_path: str, fixtures: str, subject: Subject) -> RunnableCase:
    """Read a case and its script. Raises DefinitionError with the problems of both."""
    loaded = load_case(case_path, _bytes(case_path))
    stem = loaded.case.model_fixture
    script_path = f"{fixtures}/{MODELS_FOLDER}/{stem}.yaml"
    if not os.path.isfile(script_path):
        raise DefinitionError([_no_script(loaded, f"{fixtures}/{MODELS_FOLDER}")])
    script = load_script(script_path, _bytes(script_path))
    problems = name_problems(
        loaded.case, loaded.document, subject.vocabulary(), proposed_tools(script)
    )
    if problems:
        raise DefinitionError(problems)
    return RunnableCase(loaded, script)


def run_case(
    runnable: RunnableCase, subject: Subject, workspace: str, network: NetworkProof
) -> CaseResult:
    """Run a case in the empty folder `workspace` and judge it.

    What goes wrong in the subject is a finding of a failing verdict: `subject.error` where it says
    so itself, `subject.crashed`, with the traceback on stderr, for anything else.
    """
    loaded, script = runnable
    findings: tuple[Finding, ...] = ()
    record: Record | None = None
    try:
        record = subject.run(loaded.case, script, workspace)
    except SubjectError as error:
        findings = (Finding(loaded.path, 1, "subject.error", str(error)),)
    except Exception as error:
        import traceback

        traceback.print_exc()
        findings = (Finding(loaded.path, 1, "subject.crashed", type(error).__name__),)
    files = sorted(_files_below(workspace))
    limits = () if record is None else record.limits_hit
    if len(files) > FILES_LIMIT:
        files, limits = files[:FILES_LIMIT], (*limits, "workspace_files")
    evaluation = evaluate(loaded, record, files) if record is not None else None
    verdict = conclude(
        id=f"case.{loaded.case.name}",
        kind="case",
        milestone=loaded.case.milestone,
        checks=evaluation.checks if evaluation else (),
        findings=findings,
        examined=len(record.events) if record else 0,
        unit="events",
        seed=loaded.case.name,
        network=network,
        limits_hit=limits,
        subject=f"{subject.name} {subject.version}",
    )
    return CaseResult(verdict, record, evaluation.around if evaluation else ())


def _excerpt(result: CaseResult) -> str:
    if result.verdict.passed or result.record is None:
        return ""
    from hardgate.expectations.excerpt import excerpt

    return excerpt(result.record, result.around)


def _bytes(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        message = f"cannot be read: {error.strerror or error}"
        raise DefinitionError([Problem(path, 1, 1, "file.unreadable", message)]) from None


def _no_script(loaded: LoadedCase, folder: str) -> Problem:
    from hardgate.documents.wording import choices, did_you_mean, quoted

    names = os.listdir(folder) if os.path.isdir(folder) else []
    stems = sorted(name.removesuffix(".yaml") for name in names if name.endswith(".yaml"))
    stem = loaded.case.model_fixture
    message = (
        f"found {quoted(stem)}, but there is no {folder}/{stem}.yaml; "
        f"allowed: {choices(stems)}{did_you_mean(stem, stems)}"
    )
    return loaded.document.problem(("model_fixture",), "case.unknown_fixture", message)


@contextmanager
def _workspace() -> Iterator[str]:
    """An empty folder for the run, gone afterwards: below the test's own where Bazel names one."""
    parent = os.environ.get("TEST_TMPDIR")
    if not parent:
        import tempfile  # dear to import, and a test target never comes here

        parent = tempfile.gettempdir()
    folder = os.path.join(parent, f"case-{os.getpid()}-{time.monotonic_ns()}")
    os.mkdir(folder, 0o700)
    try:
        yield folder
    finally:
        if os.listdir(folder):
            import shutil

            shutil.rmtree(folder)
        else:
            os.rmdir(folder)


def _files_below(folder: str) -> Iterator[str]:
    """The paths of everything in a folder, relative to it; links are listed and not followed."""
    for parent, folders, files in os.walk(folder):
        links = [name for name in folders if os.path.islink(os.path.join(parent, name))]
        for name in (*files, *links):
            yield os.path.relpath(os.path.join(parent, name), folder)
