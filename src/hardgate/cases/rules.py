"""What a case has to satisfy beyond the shape of its values, as far as the case alone tells.

What an `expected` block has to satisfy by itself is in `expected_rules`.
"""

import re
from collections.abc import Iterator

from hardgate.cases.command_rules import command_problems
from hardgate.cases.expected_rules import (
    CANNOT_FAIL,
    CONTRADICTION,
    Block,
    each_once,
    expected_problems,
)
from hardgate.cases.model import Case
from hardgate.cases.planned import PlannedRun, planned_runs
from hardgate.documents.problems import Problem
from hardgate.documents.strict_yaml import Document
from hardgate.documents.wording import quoted

SAYS_NOTHING = "case.says_nothing"
# A number of two or more digits, with a letter where one number has several cases, then the case's
# name.
FILE_NAME = re.compile(r"(?:.*/)?([0-9]{2,4}[a-z]?)_([^/]*)\.yaml")

# The keys of an intervention that one action only can use.
_ACTIONS_OF_KEY = {
    "actor": ("approve", "deny"),
    "text": ("answer",),
    "reconnect": ("disconnect",),
}
# An upper bound of `expected`, and the limit that ends a run before it could pass that bound.
_LIMIT_OF_BOUND = {
    "maximum_steps": "max_steps",
    "maximum_model_calls": "max_model_calls",
    "maximum_tool_calls": "max_tool_calls",
}


def own_problems(case: Case, document: Document) -> list[Problem]:
    """Every problem of one case that needs no other file."""
    problems = [
        *_file_name(case, document),
        *_source(case, document),
        *_expected_or_arms(case, document),
        *_interventions(case, document),
        *_named_once(case, document),
        *command_problems(case, document),
    ]
    for run in planned_runs(case):
        problems += [
            *_input(run, document),
            *_script(run, document),
            *_judge(run, document),
            *_bounds(run, document),
            *expected_problems(Block(run.expected, document, run.at)),
        ]
    return problems


def _file_name(case: Case, document: Document) -> Iterator[Problem]:
    match = FILE_NAME.fullmatch(document.path)
    if match is None:
        message = f"found the file {quoted(document.path)}; allowed: NN_{case.name}.yaml"
        yield document.problem((), "case.file_name", message)
    elif match[2] != case.name:
        file = document.path.rsplit("/", 1)[-1]
        message = (
            f"found {quoted(case.name)}; allowed: {quoted(match[2])}, as the file is named, "
            f"or the file name {match[1]}_{case.name}.yaml instead of {file}"
        )
        yield document.problem(("name",), "case.file_name", message)


def _source(case: Case, document: Document) -> Iterator[Problem]:
    for key in ("source_export_id", "reviewed_by"):
        given = getattr(case, key) is not None
        if case.source == "trajectory" and not given:
            message = f"found source trajectory without {key}; allowed: both"
            yield document.problem(("source",), "case.source", message)
        elif case.source == "authored" and given:
            message = f"found {key} beside an authored case; allowed: with source trajectory only"
            yield document.problem((key,), "case.source", message, at_key=True)


def _expected_or_arms(case: Case, document: Document) -> Iterator[Problem]:
    rule = "case.expected_or_arms"
    if case.expected is None and case.arms is None:
        yield document.problem((), rule, "found neither expected nor arms; allowed: one of the two")
    elif case.expected is not None and case.arms is not None:
        message = "found arms beside expected; allowed: one of the two"
        yield document.problem(("arms",), rule, message, at_key=True)
    if case.delta is not None and case.arms is None:
        message = "found delta without arms; allowed: with arms only"
        yield document.problem(("delta",), rule, message, at_key=True)
    if case.delta is not None and not case.delta.model_fields_set:
        message = "found no relation; allowed: outcome, policy_failures or both"
        yield document.problem(("delta",), SAYS_NOTHING, message)
    for index, arm in enumerate(case.arms or ()):
        if case.input is not None and arm.input is not None:
            message = "found an input beside the case's own; allowed: one of the two"
            yield document.problem(("arms", index, "input"), "case.input", message, at_key=True)
        if arm.carry and not index:
            message = "found carry in the first arm; allowed: in the second, which comes after one"
            yield document.problem(("arms", index, "carry"), CONTRADICTION, message, at_key=True)


def _interventions(case: Case, document: Document) -> Iterator[Problem]:
    rule = "case.intervention"
    for index, one in enumerate(case.interventions):
        at = ("interventions", index)
        for key, actions in _ACTIONS_OF_KEY.items():
            if key in one.model_fields_set and one.action not in actions:
                message = f"found {key} beside {one.action}; allowed: with {' or '.join(actions)}"
                yield document.problem((*at, key), rule, message, at_key=True)
        if one.action == "answer" and one.text is None:
            message = "found an answer without text; allowed: both"
            yield document.problem(at, rule, message)
        if one.where is not None and not one.where.model_fields_set:
            message = "found no filter; allowed: tool, call_id or step"
            yield document.problem((*at, "where"), SAYS_NOTHING, message)
    session = case.session
    if session is not None and not session.model_fields_set:
        message = "found nothing that happens between turns; allowed: at least one key"
        yield document.problem(("session",), SAYS_NOTHING, message)
    if session is not None and (session.revoke_scope is None) != (
        session.revoke_scope_turn is None
    ):
        message = "found one of revoke_scope and revoke_scope_turn; allowed: both, or none"
        yield document.problem(("session",), "case.session", message)


def _named_once(case: Case, document: Document) -> Iterator[Problem]:
    yield from each_once(document, ("tags",), [((i,), tag) for i, tag in enumerate(case.tags)])
    arms = [((index, "name"), arm.name) for index, arm in enumerate(case.arms or ())]
    yield from each_once(document, ("arms",), arms)
    for run in planned_runs(case):
        for key in ("tools", "mcp_servers", "skills"):
            at = run.keys(document, ("fixtures", key))
            names = getattr(run.case.fixtures, key) or ()
            yield from each_once(document, at, [((i,), name) for i, name in enumerate(names)])


def _input(run: PlannedRun, document: Document) -> Iterator[Problem]:
    rule = "case.input"
    found = run.case.input
    if found is None:
        of_arm = "" if run.arm is None else f" for the arm {run.arm}"
        at = () if run.arm_index is None else ("arms", run.arm_index)
        yield document.problem(at, rule, f"found no input{of_arm}; allowed: one")
    elif (found.text is None) == (found.turns is None):
        what = "neither text nor turns" if found.text is None else "text beside turns"
        message = f"found {what}; allowed: one of the two"
        yield document.problem(run.keys(document, ("input",)), rule, message)
    elif run.case.session is not None and found.turns is None:
        message = "found session beside input.text; allowed: with input.turns only"
        yield document.problem(("session",), rule, message, at_key=True)


def _script(run: PlannedRun, document: Document) -> Iterator[Problem]:
    if run.case.model_fixture is None:
        of_arm = "" if run.arm is None else f" for the arm {run.arm}"
        at = () if run.arm_index is None else ("arms", run.arm_index)
        message = f"found no model_fixture{of_arm}; allowed: the name of a model script"
        yield document.problem(at, "case.no_script", message)


def _judge(run: PlannedRun, document: Document) -> Iterator[Problem]:
    rule = "case.judge"
    if run.expected.judge is not None and run.case.fixtures.judge is None:
        message = (
            "found judge without fixtures.judge; allowed: a scripted judge in fixtures.judge, "
            "or a scenario of the capability track"
        )
        yield document.problem((*run.at, "judge"), rule, message, at_key=True)
    elif run.expected.judge is None and run.case.fixtures.judge is not None:
        message = "found a judge that no judge key of expected asks; allowed: both, or neither"
        yield document.problem(run.keys(document, ("fixtures", "judge")), rule, message)


def _bounds(run: PlannedRun, document: Document) -> Iterator[Problem]:
    """Upper bounds that the run's own limits keep it from passing."""
    for bound, limit in _LIMIT_OF_BOUND.items():
        expected = getattr(run.expected, bound)
        enforced = getattr(run.case.fixtures.run_limits, limit)
        if expected is not None and enforced is not None and expected >= enforced:
            turns = run.case.input.turns if run.case.input else None
            if turns is None or expected >= enforced * len(turns):
                message = (
                    f"found {expected}, which fixtures.run_limits.{limit} {enforced} never lets a "
                    "run pass; allowed: a smaller number"
                )
                yield document.problem((*run.at, bound), CANNOT_FAIL, message)
