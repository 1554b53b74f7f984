"""`agent reviews`: what nobody knows is listed, and what was found out is kept."""

import asyncio
import json
import shutil
from datetime import UTC, datetime
from pathlib import Path

import pytest

from agent_cli.__main__ import main
from agent_core.bootstrap import open_storage
from agent_core.domain.invocations import InvocationStatus, ToolInvocation
from agent_core.domain.reviews import EffectReview
from agent_core.domain.trust import Labels, TrustLevel

STORE = ("--store", "sqlite:///records.db")
NOW = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture
def agent(tmp_path, monkeypatch):
    """`agent("reviews", ...)` in a folder with a deployment."""
    for name in ("BUILD_WORKING_DIRECTORY", "BUILD_WORKSPACE_DIRECTORY", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)
    shutil.copytree(Path("config").resolve(), tmp_path / "config", symlinks=False)
    monkeypatch.chdir(tmp_path)
    assert main(["migrate", *STORE]) == 0
    return lambda *words: main(list(words))


@pytest.fixture
def review(agent, capsys):
    """A call that ended UNCERTAIN in a stored run, and its review."""
    assert agent("submit", "Write it down.", *STORE) == 0
    run_id = capsys.readouterr().out.split()[-1]
    labels, status = Labels(TrustLevel.USER), InvocationStatus.UNCERTAIN
    call = ToolInvocation("call", run_id, 1, "c1", "demo.unsafe_write", {}, labels, status, NOW)
    found = EffectReview(
        "review", "tenant_default", run_id, "call", call.tool_name, "tool.outcome_unknown", NOW
    )

    async def add():
        storage = open_storage("sqlite:///records.db", tenant_id="tenant_default")
        async with storage.units() as unit:
            await unit.invocations.add(call._replace(idempotency_key="key"))
            await unit.reviews.add(found)
        storage.close()

    asyncio.run(add())
    return found


def printed(capsys):
    return capsys.readouterr().out.strip()


def test_there_are_none(agent, capsys):
    capsys.readouterr()
    assert agent("reviews", *STORE) == 0
    assert printed(capsys) == "no open reviews"


def test_an_open_review_is_listed_with_all_that_is_known(agent, review, capsys):
    assert agent("reviews", *STORE) == 0
    assert printed(capsys) == (
        "review  open  demo.unsafe_write  tool.outcome_unknown  "
        f"run {review.run_id}  2026-01-01T00:00:00+00:00"
    )
    assert agent("reviews", *STORE, "--json") == 0
    (found,) = json.loads(printed(capsys))["reviews"]
    assert found == {
        "id": "review",
        "run_id": review.run_id,
        "invocation_id": "call",
        "tool_name": "demo.unsafe_write",
        "reason_code": "tool.outcome_unknown",
        "opened_at": "2026-01-01T00:00:00+00:00",
        "resolution": None,
        "resolved_at": None,
        "resolved_by": None,
        "note": "",
    }


def test_what_was_found_out_is_kept_and_said_once(agent, review, capsys):
    resolve = ("reviews", "review", "--found", "happened", "--note", "It is there.", *STORE)
    assert agent(*resolve, "--json") == 0
    (first,) = json.loads(printed(capsys))["reviews"]
    assert (first["resolution"], first["note"]) == ("happened", "It is there.")
    assert first["resolved_by"] and first["resolved_at"]
    assert agent(*resolve, "--json") == 0
    assert json.loads(printed(capsys))["reviews"] == [first]
    assert agent("reviews", *STORE) == 0
    assert printed(capsys) == "no open reviews"
    assert agent("reviews", "review", "--found", "did_not_happen", *STORE) == 1
    assert "resolved as happened" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "code", "complaint"),
    [
        (("nobody", "--found", "happened"), 1, "review nobody"),
        (("review",), 2, "REVIEW and --found go together"),
        (("--found", "happened"), 2, "REVIEW and --found go together"),
        (("--note", "x"), 2, "found --note without REVIEW"),
        (("review", "--found", "hapened"), 2, "did you mean 'happened'?"),
        (("review", "--found", "happened", "--note", "x" * 2001), 2, "at most 2000 characters"),
        (("--principal", "stranger"), 2, "found no principal 'stranger'"),
    ],
)
def test_mistakes_are_refused(agent, review, capsys, words, code, complaint):
    assert agent("reviews", *words, *STORE) == code
    assert complaint in capsys.readouterr().err
