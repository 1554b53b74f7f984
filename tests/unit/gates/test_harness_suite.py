"""The cases of a small suite: each fault of a case, a script or a name is a finding."""

import pytest

from agent_core.domain.tools import SideEffectClass
from gates.checks.harness import case_schema
from tests.unit.gates.sources import examine, said

RULES = "\n".join(f"  {one}: {{decision: deny}}" for one in SideEffectClass)
SOUND = {
    "gates/MILESTONE": "1\n",
    "evals/identity/principals.yaml": (
        "schema_version: 1\nprincipals:\n  eval.standard: {tenant: tenant_eval, scopes: []}\n"
    ),
    "evals/identity/profiles/eval.default.yaml": (
        f"schema_version: 1\nname: eval.default\nrules:\n{RULES}\nhost_allowlist: []\n"
        "trust_overlay: {at_or_below: external_untrusted, exempt: []}\n"
    ),
    "evals/fixtures/models/answer.yaml": "turns:\n  - kind: final\n    text: Paris.\n",
    "evals/cases/01_capital.yaml": (
        "name: capital\nmilestone: 1\ninput:\n  text: What is it?\nmodel_fixture: answer\n"
        "expected:\n  terminal_status: completed\n  event_order: [run.completed]\n"
    ),
}
CASE = SOUND["evals/cases/01_capital.yaml"]


def rules(files):
    return {one.split(": ")[1] for one in said(examine(case_schema, {**SOUND, **files}))}


def test_a_sound_suite_has_no_findings():
    examination = examine(case_schema, SOUND)
    assert (list(examination.findings), examination.examined) == ([], 1)


@pytest.mark.parametrize(
    ("old", "new", "rule"),
    [
        ("milestone: 1", "milestones: 1", "schema.unknown_key"),
        ("name: capital", "name: city", "case.file_name"),
        ("model_fixture: answer", "model_fixture: answers", "case.unknown_fixture"),
        ("run.completed", "run.complete", "case.unknown_event_type"),
        ("status: completed", "status: done", "case.unknown_status"),
        ("milestone: 1", "milestone: 1\nprincipal: eval.other", "case.unknown_principal"),
        ("milestone: 1", "milestone: 1\npolicy_profile: eval.x", "case.unknown_policy_profile"),
        ("event_order: [run.completed]", "reason_codes: [tool.x]", "case.unknown_reason_code"),
        ("model_f", "fixtures: {tools: [math.add]}\nmodel_f", "case.unknown_tool"),
    ],
)
def test_each_fault_of_a_case_is_found(old, new, rule):
    assert rule in rules({"evals/cases/01_capital.yaml": CASE.replace(old, new)})


def test_a_script_that_is_none_and_a_file_that_is_no_case_are_found():
    assert rules({"evals/fixtures/models/answer.yaml": "turn: []\n"})
    assert rules({"evals/cases/notes.txt": "later\n"})


def test_a_number_and_a_name_are_used_once():
    other = CASE.replace("name: capital", "name: city")
    assert rules({"evals/cases/01_city.yaml": other}) == {"case_number_repeated"}
    assert rules({"evals/cases/02_capital.yaml": CASE}) == {"case_name_repeated"}


def test_names_of_a_case_for_later_may_be_unknown_and_its_shape_may_not_be_wrong():
    later = CASE.replace("milestone: 1", "milestone: 7").replace("run.completed", "run.archived")
    assert rules({"evals/cases/01_capital.yaml": later}) == set()
    assert rules({"evals/cases/01_capital.yaml": f"{later}more: 1\n"}) == {"schema.unknown_key"}


def test_a_suite_without_cases_examines_nothing():
    files = {path: text for path, text in SOUND.items() if "/cases/" not in path}
    assert examine(case_schema, files).examined == 0
