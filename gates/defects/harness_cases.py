"""The counterexamples of gate.harness.case_schema."""

from __future__ import annotations

import re

from gates.defects.harness_edits import change
from hardgate.documents.tree import DefectError
from hardgate.kinds.bench import Bench

_CASES = "evals/cases"


def _case_with(bench: Bench, wanted: str) -> str:
    """The path of the first case that holds a text."""
    for path in bench.tree.glob(f"{_CASES}/*.yaml"):
        if wanted in bench.tree.read(path).decode("utf-8"):
            return path
    raise DefectError(f"no case holds {wanted!r}")


def _in_case(bench: Bench, wanted: str, old: str, new: str) -> None:
    """Replaces the first match of a pattern in the first case that holds a text."""
    change(bench, _case_with(bench, wanted), lambda text: re.sub(old, new, text, count=1))


def case_key_misspelt(bench: Bench) -> None:
    """A key of a case is misspelt, and what it says would be expected of nobody."""
    _in_case(bench, "  maximum_steps:", "  maximum_steps:", "  maximum_step:")


def case_number_reused(bench: Bench) -> None:
    """A new case takes the number of one that exists."""
    path = _case_with(bench, "name: direct_response\n")
    text = bench.tree.read(path).decode("utf-8")
    copy = text.replace("name: direct_response\n", "name: direct_answer\n")
    bench.tree.write(path.replace("direct_response", "direct_answer"), copy)


def case_name_reused(bench: Bench) -> None:
    """A case is copied under the next number and keeps its name."""
    path = _case_with(bench, "name: direct_response\n")
    bench.tree.write(f"{_CASES}/98_direct_response.yaml", bench.tree.read(path).decode("utf-8"))


def fixture_renamed(bench: Bench) -> None:
    """A script gets a better name, the case keeps the old one."""
    path = "evals/fixtures/models/direct_answer.yaml"
    text = bench.tree.read(path).decode("utf-8")
    bench.tree.remove(path)
    bench.tree.write(path.replace("direct_answer", "plain_answer"), text)


def fixture_broken(bench: Bench) -> None:
    """The key of a script's turns is misspelt, so that the script has none."""
    path = "evals/fixtures/models/direct_answer.yaml"
    change(bench, path, lambda text: text.replace("turns:", "turn:"))


def tool_misspelt(bench: Bench) -> None:
    """A case offers a tool that there is not."""
    _in_case(bench, "\n  tools: [", r"\n  tools: \[", "\n  tools: [math.calculator, ")


def principal_removed(bench: Bench) -> None:
    """A principal gets another name, the cases keep the old one."""
    path = "evals/identity/principals.yaml"
    change(bench, path, lambda text: text.replace("eval.standard:", "eval.ordinary:"))


def profile_misspelt(bench: Bench) -> None:
    """A case asks for a policy profile that there is not."""
    _in_case(
        bench,
        "name: direct_response\n",
        "\nmilestone:",
        "\npolicy_profile: eval.defaults\nmilestone:",
    )


def event_misspelt(bench: Bench) -> None:
    """An event is expected under a name that no event has."""
    _in_case(bench, "    - run.completed", "    - run.completed", "    - run.complete")


def reason_misspelt(bench: Bench) -> None:
    """A reason code is expected that no call can have."""
    _in_case(bench, "reason_code: tool.succeeded", "tool.succeeded", "tool.success")
