"""A case file edited in one place, and every problem of it against a sample of names."""

from hardgate.cases.loader import load_case
from hardgate.cases.names import name_problems
from hardgate.cases.vocabulary import Vocabulary
from hardgate.documents.problems import DefinitionError

CASE_PATH = "evals/cases/02_calculator_tool.yaml"
VOCABULARY = Vocabulary(
    terminal_statuses=frozenset({"COMPLETED", "FAILED", "CANCELLED"}),
    event_types=frozenset({"run.queued", "run.completed", "tool.call.proposed"}),
    tools=frozenset({"math.calculate", "demo.write"}),
    reason_codes=frozenset({"tool.succeeded", "tool.timeout"}),
    principals=frozenset({"eval.standard"}),
    policy_profiles=frozenset({"eval.default"}),
    failure_reasons=frozenset({"max_steps_exceeded", "budget_exceeded"}),
    agents=frozenset({"general"}),
    items=frozenset({"user_message", "tool_result"}),
    metrics=frozenset({"tool_starts_total"}),
)


def edited(text: str, old: str, new: str) -> bytes:
    assert text.count(old) == 1, f"{old!r} has to occur once"
    return text.replace(old, new).encode()


def case_problems(data: bytes, path: str = CASE_PATH) -> list[str]:
    try:
        loaded = load_case(path, data)
    except DefinitionError as error:
        return [problem.render() for problem in error.problems]
    return [problem.render() for problem in unknown_names(loaded)]


def unknown_names(loaded, vocabulary=VOCABULARY, proposed=frozenset()):
    return [
        problem
        for planned in loaded.runs
        for problem in name_problems(planned, loaded.document, vocabulary, proposed)
    ]
