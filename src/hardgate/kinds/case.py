"""The process of one case: a case as a target of its own, or the case behind a gate.

A runtime's own entry point composes its subject and calls `main` with the command line:

    --case evals/cases/02_calculator_tool.yaml --fixtures evals/fixtures --milestone 1
    --repeat "bazel test //evals:cases/calculator_tool"

A gate gives its registry entry and its files instead, see `hardgate.kinds.case_gate`:

    --entry ENTRY.json --manifest MANIFEST --case-name calculator_tool --repeat COMMAND
    [--counterexample NAME]

Exit codes: 0 the verdict passes, 1 it fails, 2 usage or a case above the given milestone, 4 the
case or a fixture cannot be read. A test target runs one such process, so what is not needed on the
way to a passing verdict is imported late or not at all.
"""

import argparse
import sys
from collections.abc import Sequence

from hardgate.documents.problems import DefinitionError
from hardgate.documents.tree import DirectoryTree
from hardgate.kinds.case_run import CaseResult, event_excerpt, run_case, temporary_workspace
from hardgate.kinds.command_line import argument_parser
from hardgate.subjects import collection
from hardgate.subjects.collection import RunnableCase
from hardgate.subjects.port import Subject
from hardgate.verdicts.network import Probe, prove
from hardgate.verdicts.output import Start, publish

EXIT_USAGE = 2
EXIT_DEFINITION = 4

__all__ = ["CaseResult", "RunnableCase", "collect", "main", "run_case"]


def main(argv: Sequence[str], subject: Subject, probe: Probe | None = None) -> int:
    """Run one case and return the exit code. `probe` is how the network is looked at."""
    if any(word.partition("=")[0] == "--entry" for word in argv):
        from hardgate.kinds.case_gate import main as gate

        return gate(argv, subject)
    start = Start.now()
    options = _options(argv)
    try:
        runnable = collect(options.case, options.fixtures, subject, milestone=options.milestone)
    except DefinitionError as error:
        print(error, file=sys.stderr)
        return EXIT_DEFINITION
    case = runnable.loaded.case
    if case.milestone > options.milestone:
        print(
            f"case: {case.name} is pending until milestone {case.milestone}; "
            f"the given milestone is {options.milestone}",
            file=sys.stderr,
        )
        return EXIT_USAGE
    network = prove(probe)
    with temporary_workspace() as workspace:
        result = run_case(runnable, subject, workspace, network)
    return publish(
        result.verdict, repeat=options.repeat, start=start, excerpt=event_excerpt(result)
    )


def collect(
    case_path: str, fixtures: str, subject: Subject, *, milestone: int | None = None
) -> RunnableCase:
    """Read a case and its fixtures from the working directory, the workspace's root.

    `milestone` is the one that has been reached; without it the case is to run whatever its own is.
    Raises DefinitionError with the problems of all files.
    """
    tree = DirectoryTree(".", (case_path, fixtures), outside_links=True)
    loaded = collection.load(tree, case_path)
    runs_now = milestone is None or loaded.case.milestone <= milestone
    return collection.collect(tree, loaded, fixtures, subject, runs_now=runs_now)


def _options(argv: Sequence[str]) -> argparse.Namespace:
    parser = argument_parser("case")
    parser.add_argument("--case", required=True, help="the case file, relative to the workspace")
    parser.add_argument(
        "--fixtures", required=True, help="the folder of the fixtures, relative to the workspace"
    )
    parser.add_argument(
        "--milestone", required=True, type=_milestone, help="the milestone that has been reached"
    )
    parser.add_argument("--repeat", required=True, help="the command that repeats this case")
    return parser.parse_args(argv)


def _milestone(text: str) -> int:
    if not (text.isascii() and text.isdigit()):
        raise argparse.ArgumentTypeError(f"{text!r} is no number from 0")
    return int(text)
