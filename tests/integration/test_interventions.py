"""What a case does to its run, done for real: workers die by SIGKILL, runs are cancelled, questions
are answered, and a store is empty after each case."""

import os
import signal
import sqlite3
from collections import Counter
from pathlib import Path

import pytest

from agent_cli.case_store import SqliteStore
from agent_cli.subject import IDENTITY, eval_identity, reference_subject
from agent_core.bootstrap import build_pinned_runtime
from agent_core.evals.stored import WorkerEnd
from agent_core.evals.subject import ReferenceSubject
from hardgate.cases.loader import load_case
from hardgate.cases.record import MissingToolResult
from hardgate.documents.problems import DefinitionError
from hardgate.fixtures.model_script import load_script
from hardgate.fixtures.tool_results import load_tool_results
from hardgate.kinds.case import collect
from hardgate.kinds.case_run import run_case
from hardgate.subjects.port import SubjectError

CASE = """\
name: sample
milestone: 2
model_fixture: sample
policy_profile: eval.permissive
expected: {terminal_status: completed}
"""
TEXT = "input: {text: Hello.}\n"
FINAL = "{kind: final, text: Done.}"
ASK = (
    "{kind: tool_calls, calls: [{call_id: q, name: conversation.ask_user, "
    "arguments: {question: Which colour?}}]}"
)
WRITE = (
    "{kind: tool_calls, calls: [{call_id: w, name: demo.unsafe_write, "
    "arguments: {destination: board, content: x}}]}"
)
CALCULATE = (
    "{kind: tool_calls, calls: [{call_id: c, name: math.calculate, "
    "arguments: {expression: 6 * 7}}]}"
)
FAILS = "{kind: error, error_class: transient}"


class Watched(SqliteStore):
    """A store that keeps how its workers ended, and which process each was."""

    def __init__(self, identity):
        super().__init__(identity)
        self.ends = []

    def work(self, job):
        self.ends.append(super().work(job))
        return self.ends[-1]


class Bench:
    """A subject, and every store that it opened."""

    def __init__(self, store=Watched):
        self.stores = []

        def open_store():
            self.stores.append(store(IDENTITY))
            return self.stores[-1]

        self.subject = ReferenceSubject(
            build_pinned_runtime, lambda: eval_identity(IDENTITY), open_store
        )

    def run(self, interventions, *turns, more=TEXT, results=None):
        text = f"{CASE}{more}interventions: [{interventions}]\n"
        case = load_case("01_sample.yaml", text.encode()).case
        script = load_script("models/sample.yaml", f"turns: [{', '.join(turns)}]".encode())
        recorded = results and load_tool_results("tools/sample.yaml", results.encode())
        return self.subject.run(case, script, "/nowhere", recorded)

    @property
    def ends(self):
        return [end.exit_code for store in self.stores for end in store.ends]


@pytest.fixture
def bench():
    bench = Bench()
    yield bench
    for store in bench.stores:
        store.close()


def types(record):
    return [event.type for event in record.events]


KILL = "{at: %s, action: kill_worker}"


@pytest.mark.parametrize(
    "trigger",
    [
        "run.started",
        "model.request.started",
        "model.response.completed",
        "tool.call.proposed",
        "tool.call.started",
        "tool.call.completed",
        "assistant.message.completed",
        "pipeline.1.before",
        "pipeline.9.before",
        "pipeline.10.after",
        "pipeline.14.after",
    ],
)
def test_a_worker_dies_at_the_trigger_and_another_one_recovers(bench, trigger):
    record = bench.run(KILL % trigger, CALCULATE, FINAL)
    assert bench.ends == [-signal.SIGKILL, 0]
    assert (record.terminal_status, record.final_text) == ("COMPLETED", "Done.")
    assert (record.turns_consumed, record.turns_total, record.exhausted_at_step) == (2, 2, None)
    (made,) = record.tool_calls
    assert made.status == "SUCCEEDED"
    assert types(record).count("run.claimed") == 2
    assert types(record).count("tool.call.completed") == 1
    requeued = types(record).index("run.requeued")
    if not trigger.startswith("pipeline"):
        assert types(record)[requeued - 1] == trigger  # nothing came after the trigger
    (done,) = record.interventions
    assert (done.fired, done.refused) == (True, None)


def test_a_worker_that_dies_at_the_end_of_a_run_leaves_its_hooks_to_others(bench):
    record = bench.run(KILL % "run.completed", FINAL)
    assert bench.ends == [-signal.SIGKILL]
    assert record.terminal_status == "COMPLETED"


def test_an_effect_is_executed_again_before_its_watermark_and_never_after(bench):
    before = bench.run(KILL % "before_effect", WRITE, FINAL)
    after = bench.run(KILL % "after_effect", WRITE, FINAL)
    assert bench.ends == [-signal.SIGKILL, 0] * 2
    assert [(c.status, c.effect_sent) for c in before.tool_calls] == [("SUCCEEDED", True)]
    assert [(c.status, c.effect_sent) for c in after.tool_calls] == [("UNCERTAIN", True)]
    assert before.metrics["effect_reviews_total"] == 0
    assert after.metrics["effect_reviews_total"] == 1


def test_each_kill_takes_one_of_the_attempts_of_a_run(bench):
    kills = ", ".join("{at: run.resumed, action: kill_worker, occurrence: %d}" % n for n in (1, 2))
    record = bench.run(f"{KILL % 'run.started'}, {kills}", CALCULATE, FINAL)
    assert bench.ends == [-signal.SIGKILL] * 3 + [0]
    assert (record.terminal_status, record.failure_reason) == ("FAILED", "max_attempts_exceeded")
    assert record.turns_consumed == 0


def test_attempts_waits_and_missing_results_of_dead_workers_are_known(bench):
    result = "{tool: math.calculate, arguments: {expression: '1'}, output: {x: 1}, content: x}"
    record = bench.run(
        KILL % "tool.call.failed",
        FAILS,
        CALCULATE,
        FINAL,
        more=f"{TEXT}fixtures: {{tool_results: sample}}\n",
        results=f"results: [{result}]\n",
    )
    assert bench.ends == [-signal.SIGKILL, 0]
    assert (record.turns_consumed, record.model_call_count) == (3, 3)
    assert (record.metrics["waits_total"], record.metrics["waited_milliseconds_total"]) == (1, 1000)
    (missing,) = record.missing_tool_results
    assert isinstance(missing, MissingToolResult)
    assert (missing.tool, missing.step) == ("math.calculate", 1)


def test_a_script_that_runs_out_in_a_worker_is_told(bench):
    record = bench.run(KILL % "run.started", CALCULATE)
    assert record.failure_reason == "model_permanent_error"
    assert (record.turns_consumed, record.exhausted_at_step) == (1, 2)


def test_workers_of_several_messages(bench):
    more = "input: {turns: [First., Second.]}\nclock: {advance_on_step: 90s}\n"
    record = bench.run(
        "{at: tool.call.started, action: kill_worker}", FINAL, CALCULATE, FINAL, more=more
    )
    assert bench.ends == [0, -signal.SIGKILL, 0]
    assert (record.messages_sent, record.turns_consumed) == (2, 3)
    assert Counter(types(record))["run.completed"] == 2


def test_no_worker_is_there_when_a_message_is_sent(bench):
    record = bench.run(KILL % "run.queued", FINAL)
    assert bench.ends == [0]
    assert record.terminal_status == "COMPLETED"
    assert record.interventions[0].refused == "no worker was at work"


@pytest.mark.parametrize("stored", [False, True], ids=["in process", "beside a kill"])
@pytest.mark.parametrize(
    ("trigger", "turns", "proposed"),
    [
        ("run.queued", [], 0),
        ("run.started", [CALCULATE], 0),  # noticed when the attempt has been made
        ("model.response.completed", [CALCULATE], 0),
        ("tool.call.started", [WRITE], 1),
        ("run.waiting_for_user", [ASK], 1),
    ],
)
def test_a_run_is_cancelled(bench, trigger, turns, proposed, stored):
    never = ", {at: run.fenced, action: kill_worker}" if stored else ""
    record = bench.run(f"{{at: {trigger}, action: cancel}}{never}", *turns, FINAL)
    assert record.terminal_status == "CANCELLED"
    assert types(record)[-1] == "run.cancelled"
    assert types(record).count("tool.call.proposed") == proposed
    assert record.turns_consumed == len(turns)
    assert record.interventions[0].fired
    assert bool(bench.stores) is stored
    assert [one.fired for one in record.interventions[1:]] == [False] * stored


@pytest.mark.parametrize("stored", [False, True], ids=["in process", "beside a kill"])
def test_a_question_is_answered_and_the_run_goes_on(bench, stored):
    kill = ", {at: run.resumed, action: kill_worker}" if stored else ""
    answer = "{at: user_input_requested, action: answer, text: Blue.}"
    record = bench.run(answer + kill, ASK, FINAL)
    assert (record.terminal_status, record.final_text) == ("COMPLETED", "Done.")
    (asked,) = record.tool_calls
    assert (asked.status, asked.reason_code) == ("SUCCEEDED", "tool.succeeded")
    labels = [(item.kind, item.trust) for item in record.items]
    assert ("tool_result", "user") in labels
    order = ["run.waiting_for_user", "tool.call.completed", "run.requeued", "run.resumed"]
    assert [one for one in types(record) if one in order][:4] == order
    assert bench.ends == ([-signal.SIGKILL, 0] if stored else [])


def test_a_question_that_nobody_answers_leaves_the_run_waiting_and_the_store_empty(bench):
    record = bench.run("{at: run.fenced, action: kill_worker}", ASK, FINAL)
    assert record.terminal_status == "WAITING_FOR_USER"
    assert bench.ends == [0]
    assert rows_left(bench.stores[0]) == 0


def test_an_answer_that_nobody_waits_for_is_refused_by_the_service(bench):
    record = bench.run("{at: run.started, action: answer, text: Blue.}", FINAL)
    assert "no question is open" in record.interventions[0].refused


def rows_left(store):
    connection = sqlite3.connect(store.url.removeprefix("sqlite:///"))
    tables = [
        name
        for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        if name not in ("alembic_version", "tenants")
    ]
    assert len(tables) > 5
    return sum(connection.execute(f"SELECT count(*) FROM {name}").fetchone()[0] for name in tables)


def test_one_store_serves_several_cases_and_is_empty_after_each(bench):
    logs = []
    for _ in range(2):
        logs.append(bench.run(KILL % "tool.call.started", CALCULATE, FINAL))
        assert rows_left(bench.stores[0]) == 0
    assert len(bench.stores) == 1
    assert logs[0] == logs[1]


def test_a_store_goes_with_its_subject(bench):
    bench.run(KILL % "run.started", FINAL)
    path = Path(bench.stores[0].url.removeprefix("sqlite:///"))
    assert path.exists()
    bench.stores[0].close()
    assert not path.parent.exists()


@pytest.mark.parametrize(
    ("end", "message"),
    [
        (WorkerEnd(1, None), "worker 1 ended with the code 1"),
        (WorkerEnd(0, None), "worker 1 ended with the code 0"),
        (WorkerEnd(-9, None), "worker 1 ended with the code -9"),
    ],
)
def test_a_worker_that_fails_by_itself_is_a_finding_and_its_store_is_given_up(end, message):
    class Broken(Watched):
        def work(self, job):
            return end

    bench = Bench(Broken)
    for _ in range(2):
        with pytest.raises(SubjectError, match=f"^{message}$") as raised:
            bench.run(KILL % "run.started", FINAL)
        assert raised.value.rule == "subject.worker_failed"
    assert len(bench.stores) == 2
    for store in bench.stores:
        assert not Path(store.url.removeprefix("sqlite:///")).parent.exists()


def test_what_the_subject_cannot_do_is_refused_with_the_milestone(tmp_path, monkeypatch):
    for action, at, ability in (
        ("approve", "approval_requested", 4),
        ("deny", "approval_requested", 4),
        ("disconnect", "run.started", 5),
    ):
        folder = tmp_path / action / "evals"
        (folder / "cases").mkdir(parents=True)
        (folder / "fixtures/models").mkdir(parents=True)
        (folder / "fixtures/models/sample.yaml").write_text(f"turns: [{FINAL}]\n")
        text = f"{CASE}{TEXT}interventions: [{{at: {at}, action: {action}}}]\n"
        (folder / "cases/01_sample.yaml").write_text(text)
        os.symlink(Path("evals/identity").resolve(), folder / "identity")
        with monkeypatch.context() as patched:
            patched.chdir(folder.parent)
            with pytest.raises(DefinitionError, match=f"milestone {ability} brings them"):
                collect("evals/cases/01_sample.yaml", "evals/fixtures", reference_subject())


CASES = sorted(str(path) for path in Path("evals/cases").glob("*.yaml"))


def test_every_case_has_the_same_verdict_and_record_over_a_store(tmp_path):
    """One store for all of them, one after the other."""
    in_memory, stored = reference_subject(), reference_subject(always_stored=True)
    assert len(CASES) > 14
    for number, case in enumerate(CASES):
        runnable = collect(case, "evals/fixtures", in_memory)
        found = []
        for subject in (in_memory, stored):
            folder = tmp_path / f"{number}_{len(found)}"
            folder.mkdir()
            found.append(run_case(runnable, subject, str(folder), None))
        assert found[0].verdict.checks == found[1].verdict.checks, case
        assert [one.record for one in found[0].runs] == [one.record for one in found[1].runs]
        assert all(check.outcome == "pass" for check in found[0].verdict.checks), case
