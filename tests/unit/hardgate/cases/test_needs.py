"""What a subject cannot do yet is refused by name, with the milestone that brings it."""

import pytest

from hardgate.cases.loader import load_case
from hardgate.cases.needs import ABILITIES, need_problems

HEAD = "name: sample\nmilestone: {milestone}\nmodel_fixture: one\n"
PLAIN = "input: {text: Hi}\nexpected: {terminal_status: completed"
NEEDY = {
    "cancellation": [
        (PLAIN + "}\ninterventions: [{at: run.started, action: cancel}]\n", "6:35", "'action'"),
        (
            PLAIN.replace("terminal_status: completed", "stop_cause: interrupted") + "}\n",
            "5:12",
            "'stop_cause'",
        ),
    ],
    "workers": [(PLAIN + "}\ninterventions: [{at: after_effect, action: kill_worker}]\n",)],
    "user_input": [
        (PLAIN + "}\ninterventions: [{at: user_input_requested, action: answer, text: x}]\n",)
    ],
    "trajectories": [
        (PLAIN + "}\nsource: trajectory\nsource_export_id: e1\nreviewed_by: us\n", "6:1")
    ],
    "cost": [
        (PLAIN + "}\nfixtures: {run_limits: {max_cost_micros: 5}}\n", "6:25"),
        (PLAIN.replace("terminal_status: completed", "stop_cause: cost_budget") + "}\n", "5:12"),
    ],
    "approvals": [
        (PLAIN + "}\ninterventions: [{at: approval_requested, action: approve}]\n",),
        (PLAIN + "}\ninterventions: [{at: approval_requested, action: deny}]\n",),
        (PLAIN + ", approval_requested: true}\n", "5:40"),
        (PLAIN + ", approval_requested: false}\n", "5:40"),
        (PLAIN + ", pending_approvals: 0}\n", "5:40"),
    ],
    "private_labels": [
        (PLAIN + ", blocked_sends: 0}\n", "5:40"),
        (PLAIN + ", taint: {private: false}}\n", "5:48"),
        (PLAIN + ", trust: [{item: a, level: user, private: true}]}\n", "5:71"),
    ],
    "streaming": [
        (
            PLAIN + "}\ninterventions: [{at: run.started, action: disconnect, "
            "reconnect: {after: immediately, last_event_id: last_seen}}]\n",
        )
    ],
    "artifacts": [(PLAIN + ", artifacts: [{name: a.txt}]}\n", "5:40")],
    "compaction": [
        (PLAIN + ", min_compactions: 1}\n", "5:40"),
        (PLAIN + "}\nfixtures: {compact_at_tokens: 900}\n", "6:12"),
    ],
    "long_sessions": [
        (
            PLAIN.replace("text: Hi", "turns: [Hi, Ho]") + "}\nsession: {advance_seconds: 60}\n",
            "6:1",
        )
    ],
    "mcp_servers": [(PLAIN + "}\nfixtures: {mcp_servers: [files]}\n", "6:12")],
    "skills": [
        (PLAIN + "}\nfixtures: {skills: [notes]}\n", "6:12"),
    ],
    "memory": [
        (
            PLAIN.replace("text: Hi", "turns: [Hi, Ho]") + "}\nsession: {memory_write_turn: 1}\n",
            "6:11",
        ),
        (
            "input: {text: Hi}\narms:\n  - {name: a, expected: {contains: [x]}}\n"
            "  - {name: b, carry: [memory], expected: {contains: [x]}}\n",
            "7:15",
        ),
    ],
    "turns": [(PLAIN.replace("text: Hi", "turns: [Hi, Ho]") + "}\n", "4:9")],
    "run_limits": [(PLAIN + "}\nfixtures: {run_limits: {max_steps: 2}}\n", "6:12")],
    "tool_results": [(PLAIN + "}\nfixtures: {tool_results: times}\n", "6:12")],
    "clock_steps": [(PLAIN + "}\nclock: {advance_on_step: 1s}\n", "6:9")],
    "trust_labels": [
        (PLAIN + ", trust: [{item: a, level: user}]}\n", "5:40"),
        (PLAIN + ", taint: {untrusted: false}}\n", "5:48"),
    ],
    "metrics": [(PLAIN + ", metrics: {a_total: 1}}\n", "5:40")],
}
TABLE = [(ability, *rest) for ability, rows in NEEDY.items() for rest in rows]


def problems(text, milestone, abilities, *, runs_now):
    text = HEAD.format(milestone=milestone) + text
    loaded = load_case("evals/cases/01_sample.yaml", text.encode())
    return [
        problem
        for run in loaded.runs
        for problem in need_problems(run, loaded.document, frozenset(abilities), runs_now=runs_now)
    ]


def test_every_ability_is_asked_for_by_some_key():
    assert set(NEEDY) == set(ABILITIES)


@pytest.mark.parametrize("row", TABLE, ids=lambda row: row[0])
def test_a_key_without_its_ability_is_refused_with_the_milestone(row):
    ability, text, *more = row
    brought = ABILITIES[ability].milestone
    others = set(ABILITIES) - {ability}
    (problem,) = problems(text, brought - 1, others, runs_now=True)
    assert problem.rule == f"case.needs_{ability}"
    assert f"milestone {brought} brings them" in problem.message
    assert ABILITIES[ability].meaning in problem.message
    if more:
        assert f"{problem.line}:{problem.column}" == more[0]
    assert all(words in problem.message for words in more[1:])


@pytest.mark.parametrize("row", TABLE, ids=lambda row: row[0])
def test_a_case_that_waits_for_its_milestone_may_use_what_comes_by_then(row):
    ability, text, *_ = row
    brought = ABILITIES[ability].milestone
    others = set(ABILITIES) - {ability}
    assert problems(text, brought, others, runs_now=False) == []
    assert len(problems(text, brought - 1, others, runs_now=False)) == 1


def test_at_its_milestone_a_case_needs_a_subject_that_can():
    text = PLAIN + ", approval_requested: true}\n"
    (problem,) = problems(text, 4, (), runs_now=True)
    assert problem.message.endswith("allowed: with a subject that offers them")
    assert problems(text, 4, {"approvals"}, runs_now=True) == []


def test_a_plain_case_needs_nothing():
    assert problems(PLAIN + "}\n", 0, (), runs_now=True) == []
