"""The commands over a store, in this process: what they print, their codes, and every mistake."""

import json
import shutil
import sqlite3
import sys
from pathlib import Path

import pytest

from agent_cli import worker_command
from agent_cli.__main__ import main
from agent_core.domain.errors import StorageUnavailable

SCRIPT = """\
turns:
  - kind: tool_calls
    calls: [{call_id: c1, name: math.calculate, arguments: {expression: 17 * 23}}]
  - kind: final
    text: 17 times 23 is 391.
"""
STORE = ("--store", "sqlite:///records.db")
WORKER = ("worker", *STORE, "--script", "script.yaml")


@pytest.fixture
def agent(tmp_path, monkeypatch):
    """`agent("worker", ...)` in a folder with a script and a deployment."""
    for name in ("BUILD_WORKING_DIRECTORY", "BUILD_WORKSPACE_DIRECTORY", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "script.yaml").write_text(SCRIPT)
    shutil.copytree(Path("config").resolve(), tmp_path / "config", symlinks=False)
    monkeypatch.chdir(tmp_path)
    return lambda *words: main(list(words))


def submitted(agent, capsys, text="What is 17 * 23?"):
    assert agent("submit", text, *STORE) == 0
    return capsys.readouterr().out.strip()


def counts(capsys):
    return {
        name: count for name, count in json.loads(capsys.readouterr().out)["runs"].items() if count
    }


def test_a_message_is_submitted_and_executed_by_a_worker(agent, capsys):
    run_id = submitted(agent, capsys)
    assert agent(*WORKER, "--until-idle", "--owner", "w1") == 0
    out, err = capsys.readouterr()
    assert out == "runs: 1 claimed, 1 completed\n"
    assert err.splitlines() == [
        "agent worker: w1 works for tenant_default",
        f"agent worker: run {run_id}: claimed",
        f"agent worker: run {run_id}: completed",
    ]


def test_json_tells_the_worker_and_what_became_of_runs(agent, capsys):
    submitted(agent, capsys)
    assert agent(*WORKER, "--until-idle", "--owner", "w1", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found.pop("runs") == {
        "claimed": 1,
        "completed": 1,
        "failed": 0,
        "cancelled": 0,
        "waiting": 0,
        "requeued": 0,
        "lost": 0,
    }
    assert found == {"schema_version": 1, "ok": True, "owner": "w1", "errors": 0}


def test_once_is_one_run_and_until_idle_is_all_with_their_hooks(agent, tmp_path, capsys):
    for _ in range(3):
        submitted(agent, capsys)
    assert agent(*WORKER, "--once", "--json") == 0
    assert counts(capsys) == {"claimed": 1, "completed": 1}
    assert agent(*WORKER, "--until-idle", "--json") == 0
    assert counts(capsys) == {"claimed": 2, "completed": 2}
    assert agent(*WORKER, "--until-idle", "--json") == 0
    assert counts(capsys) == {}
    connection = sqlite3.connect(tmp_path / "records.db")
    statuses = connection.execute("SELECT status, count(*) FROM hook_tasks GROUP BY status")
    assert statuses.fetchall() == [("DONE", 3)]


def test_a_run_that_fails_is_no_failure_of_the_worker(agent, tmp_path, capsys):
    submitted(agent, capsys)
    (tmp_path / "script.yaml").write_text("turns: [{kind: error, error_class: permanent}]\n")
    assert agent(*WORKER, "--until-idle", "--json") == 0
    assert counts(capsys) == {"claimed": 1, "failed": 1}


def test_a_run_that_asks_waits(agent, tmp_path, capsys):
    submitted(agent, capsys)
    (tmp_path / "script.yaml").write_text(
        "turns:\n  - kind: tool_calls\n    calls: [{call_id: q, name: conversation.ask_user, "
        "arguments: {question: Why?}}]\n"
    )
    assert agent(*WORKER, "--until-idle") == 0
    assert capsys.readouterr().out == "runs: 1 claimed, 1 waiting\n"


ASK = (
    "turns:\n  - kind: tool_calls\n    calls: [{call_id: q, name: conversation.ask_user, "
    "arguments: {question: Why?}}]\n  - {kind: final, text: I see.}\n"
)


def test_a_question_is_answered_and_the_run_goes_on(agent, tmp_path, capsys):
    run_id = submitted(agent, capsys)
    (tmp_path / "script.yaml").write_text(ASK)
    assert agent("answer", run_id, "Too early.", *STORE) == 1
    assert "no question is open" in capsys.readouterr().err
    agent(*WORKER, "--until-idle")
    capsys.readouterr()
    assert agent("answer", run_id, " ", *STORE) == 2
    assert "an answer has 1 to" in capsys.readouterr().err
    assert agent("answer", run_id, "Because.", *STORE) == 0
    assert capsys.readouterr().out == "QUEUED\n"
    assert agent(*WORKER, "--until-idle") == 0
    assert capsys.readouterr().out == "runs: 1 claimed, 1 completed\n"


def test_a_run_is_cancelled_once(agent, capsys):
    run_id = submitted(agent, capsys)
    for _ in range(2):
        assert agent("cancel", run_id, *STORE, "--json") == 0
        found = json.loads(capsys.readouterr().out)
        assert found == {"schema_version": 1, "ok": True, "run_id": run_id, "status": "CANCELLED"}
    assert agent(*WORKER, "--until-idle") == 0
    assert capsys.readouterr().out == "runs: none\n"


@pytest.mark.parametrize("words", [("cancel", "nobody"), ("answer", "nobody", "Blue.")])
def test_a_run_that_is_not_there(words, agent, capsys):
    agent("migrate", *STORE)
    assert agent(*words, *STORE) == 1
    out, err = capsys.readouterr()
    assert "nobody" in err
    assert "Traceback" not in err


def test_an_error_that_is_survived_is_told_and_counted(agent, capsys, monkeypatch):
    async def worked(worker):
        worker._on_error(StorageUnavailable("for a moment"))
        worker._on_error(RuntimeError("unseen"))

    monkeypatch.setattr(worker_command, "_once", worked)
    assert agent(*WORKER, "--once", "--json") == 1
    out, err = capsys.readouterr()
    assert (json.loads(out)["ok"], json.loads(out)["errors"]) == (False, 2)
    assert "went on after an error: for a moment" in err
    assert "went on after an error: RuntimeError" in err
    assert "unseen" not in err


def test_a_store_is_made_for_tenants_and_made_again_without_harm(agent, tmp_path, capsys):
    words = ("migrate", *STORE, "--tenant", "tenant_a", "--tenant", "tenant_b")
    for _ in range(2):
        assert agent(*words) == 0
        assert capsys.readouterr().out == "the store is ready for tenant_a, tenant_b\n"
    connection = sqlite3.connect(tmp_path / "records.db")
    found = {name for (name,) in connection.execute("SELECT id FROM tenants")}
    assert {"tenant_a", "tenant_b"} <= found
    assert agent("migrate", *STORE, "--json") == 0
    plain = {"schema_version": 1, "ok": True, "tenants": ["tenant_default"]}
    assert json.loads(capsys.readouterr().out) == plain


MISTAKES = [
    (("worker",), 2, "the following arguments are required: --store, --script"),
    ((*WORKER, "--once", "--until-idle"), 2, "not allowed with argument"),
    ((*WORKER, "--onec"), 2, "found no option '--onec'; did you mean '--once'?"),
    ((*WORKER, "--lease-seconds", "0"), 2, "allowed: a whole number from 1 to 86400"),
    ((*WORKER, "--reclaim-seconds", "-1"), 2, "allowed: a whole number from 0 to 86400"),
    ((*WORKER, "--owner", " "), 2, "--owner: allowed: a name of 1 to 100 characters"),
    ((*WORKER, "--tenant", "tenant_x"), 2, "--tenant: found no tenant 'tenant_x'"),
    (("worker", "--store", "memory", "--script", "script.yaml"), 2, "which no other process sees"),
    (("worker", "--store", "memory:", "--script", "script.yaml"), 2, "--store: not the URL"),
    (
        ("worker", "--store", "mysql://x/y", "--script", "script.yaml"),
        2,
        "--store: no such storage",
    ),
    (("worker", *STORE, "--script", "gone.yaml"), 4, "gone.yaml: No such file"),
    (("worker", *STORE, "--script", "config/deployment.yaml"), 4, "schema.unknown_key"),
    ((*WORKER, "--deployment", "gone.yaml"), 4, "gone.yaml"),
    (("worker", "--store", "sqlite:////nowhere/x.db", "--script", "script.yaml"), 5, "CANTOPEN"),
    (("migrate",), 2, "the following arguments are required: --store"),
    (("migrate", "--store", "sqlite:////nowhere/x.db"), 5, "it cannot be used"),
    (("submit", " ", *STORE), 2, "found an empty TEXT"),
    (("submit", "Hi", *STORE, "--principal", "local.usr"), 2, "did you mean 'local.user'?"),
]


@pytest.mark.parametrize(("words", "code", "text"), MISTAKES)
def test_mistakes(words, code, text, agent, capsys):
    assert agent(*words) == code
    out, err = capsys.readouterr()
    assert text in out + err
    assert "Traceback" not in out + err


def test_a_store_with_another_schema_is_refused(agent, tmp_path, capsys):
    agent("migrate", *STORE)
    connection = sqlite3.connect(tmp_path / "records.db")
    connection.execute("UPDATE alembic_version SET version_num = 'm9999'")
    connection.commit()
    capsys.readouterr()
    for words in ((*WORKER, "--once"), ("submit", "Hi", *STORE), ("migrate", *STORE)):
        assert agent(*words) == 4
        out, err = capsys.readouterr()
        assert out == ""
        assert "schema" in err
        assert "Traceback" not in err


def test_a_store_takes_a_driver_that_the_program_may_not_have(agent, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "psycopg", None)
    word = "unseen"
    store = ("--store", "postgresql+psycopg://user:" + word + "@127.0.0.1:1/db")
    assert agent("worker", *store, "--script", "script.yaml") == 4
    err = capsys.readouterr().err
    assert "this program has no psycopg" in err
    assert word not in err


def test_paths_are_the_callers(agent, tmp_path, monkeypatch, capsys):
    (tmp_path / "below").mkdir()
    (tmp_path / "script.yaml").rename(tmp_path / "below" / "script.yaml")
    monkeypatch.setenv("BUILD_WORKING_DIRECTORY", str(tmp_path / "below"))
    monkeypatch.setenv("BUILD_WORKSPACE_DIRECTORY", str(tmp_path))
    monkeypatch.chdir("/")
    assert agent(*WORKER, "--once") == 0
    assert (tmp_path / "below" / "records.db").exists()
