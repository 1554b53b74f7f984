"""What the pinned clock and ids promise beyond their ports, and the system's in odd times."""

import asyncio
from datetime import UTC, datetime, timedelta, timezone
from types import SimpleNamespace

import pytest

from agent_core.adapters.determinism import clocks, ids
from agent_core.adapters.determinism.clocks import PinnedClock, SystemClock
from agent_core.adapters.determinism.ids import PinnedIdFactory, SystemIdFactory

START = datetime(2026, 1, 1, tzinfo=UTC)


def test_a_pinned_clock_moves_only_when_it_is_told_to():
    clock = PinnedClock(START)
    assert clock.now() == clock.now() == START
    clock.advance(1.5)
    assert clock.now() == START + timedelta(seconds=1.5)


def test_a_pinned_sleep_is_kept_and_does_not_move_the_clock():
    clock = PinnedClock(START)
    asyncio.run(clock.sleep(3600))
    asyncio.run(clock.sleep(0.5))
    assert clock.now() == START
    assert clock.sleeps == [3600, 0.5]


def test_a_pinned_clock_starts_anywhere_and_tells_utc():
    clock = PinnedClock(datetime(2026, 1, 1, 2, tzinfo=timezone(timedelta(hours=2))))
    assert clock.now() == START
    assert clock.now().tzinfo is UTC
    with pytest.raises(ValueError, match="aware"):
        PinnedClock(datetime(2026, 1, 1))


@pytest.mark.parametrize("seconds", [-1, float("inf"), float("nan")])
def test_a_pinned_clock_never_goes_back(seconds):
    clock = PinnedClock(START)
    with pytest.raises(ValueError, match="finite and not negative"):
        clock.advance(seconds)
    assert clock.now() == START


def test_the_system_clock_stays_when_the_systems_time_is_set_back(monkeypatch):
    times = [START, START - timedelta(hours=1), START + timedelta(seconds=1)]

    class SetBack(datetime):
        @classmethod
        def now(cls, zone):
            assert zone is UTC
            return times.pop(0)

    monkeypatch.setattr(clocks, "datetime", SetBack)
    clock = SystemClock()
    assert [clock.now() for _ in range(3)] == [START, START, START + timedelta(seconds=1)]


def test_the_same_seed_gives_the_same_ids():
    first, again, other = PinnedIdFactory("case_a"), PinnedIdFactory("case_a"), PinnedIdFactory("b")
    made = [first.new_id() for _ in range(100)]
    assert made == [again.new_id() for _ in range(100)]
    assert not set(made) & {other.new_id() for _ in range(100)}


def test_pinned_ids_do_not_change_between_versions():
    factory = PinnedIdFactory("single_calculator_call")
    assert [factory.new_id(), factory.new_id()] == [
        "019b76da-a800-7875-a292-8b2c14618b22",
        "019b76da-a801-724e-a2d4-d46c65bbabcc",
    ]


def test_system_ids_rise_within_a_millisecond_and_when_the_time_is_set_back(monkeypatch):
    milliseconds = [1000, 1000, 1000, 999, 1001]
    stopwatch = SimpleNamespace(time_ns=lambda: milliseconds.pop(0) * 1_000_000)
    monkeypatch.setattr(ids, "time", stopwatch)
    # The largest random part: the id after it has to go into the next millisecond.
    monkeypatch.setattr(ids, "os", SimpleNamespace(urandom=lambda size: b"\xff" * size))
    factory = SystemIdFactory()
    made = [factory.new_id() for _ in range(5)]
    assert made == sorted(set(made))
    assert [int(one.replace("-", "")[:12], 16) for one in made] == [1000, 1001, 1001, 1001, 1001]
