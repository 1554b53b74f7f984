"""That the benchmarks of stores have a row for each, and refuse a case or a run that fails."""

import asyncio

import pytest

from agent_core.domain.model import ModelErrorClass
from agent_core.domain.model_script import ErrorTurn
from benchmarks import case_storage, one_case, worker_throughput


def test_every_case_has_a_row_for_each_store(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(case_storage, "WARM_UP", 0)
    rows = case_storage.measure(1)
    stores = ("memory", "SQLite", "PostgreSQL")
    assert [(row["case"], row["store"]) for row in rows] == [
        (case, store) for case in one_case.CASES for store in stores
    ]
    assert all(row["ms"] for row in rows)
    assert {row["times memory"] for row in rows if row["store"] == "memory"} == {1.0}


def test_a_case_that_fails_over_a_store_ends_the_program(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(case_storage, "WARM_UP", 0)
    path = one_case.CASES["one tool call"]
    monkeypatch.setattr(case_storage, "CASES", {"it": path})

    def refuse(name: str, verdict: object) -> None:
        raise SystemExit(name)

    monkeypatch.setattr(case_storage, "must_pass", refuse)
    with pytest.raises(SystemExit, match="it, memory"):
        case_storage.measure(1)


def test_every_store_has_a_row() -> None:
    rows = worker_throughput.measure(1, 2)
    names = ["memory", "SQLite", "PostgreSQL", "PostgreSQL, on disk"]
    assert [row["store"] for row in rows] == names
    assert all(row["runs per second"] for row in rows)
    assert rows[0]["of memory"] == 1.0


def test_a_run_that_fails_ends_the_program(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker_throughput, "TURNS", (ErrorTurn(ModelErrorClass.PERMANENT),))
    place = worker_throughput.Place("memory", "memory")
    with pytest.raises(SystemExit, match="memory: a run is FAILED"):
        asyncio.run(worker_throughput.seconds(place, 1))
