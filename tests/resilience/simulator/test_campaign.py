"""Histories can be repeated, failures say how, and a campaign without a kind of fault is void."""

from collections import Counter

import pytest

from tests.resilience.simulator import campaign
from tests.resilience.simulator.defects import DEFECTS
from tests.resilience.simulator.faults import CANCELLED, KINDS
from tests.resilience.simulator.history import History


def test_a_history_follows_from_its_seed() -> None:
    one, again, other = (History(seed).play() for seed in ("a", "a", "b"))
    assert (one.turns, one.faults.counts) == (again.turns, again.faults.counts)
    assert one.faults.counts != other.faults.counts


def test_a_failure_names_the_seed_and_the_command_that_repeats_it() -> None:
    with DEFECTS["a run ends twice"].patch():
        found = campaign.played(["memory.7.0"])
    (told,) = found.failures
    assert told.startswith("history memory.7.0:\n  terminal_events: run ")
    assert told.endswith(
        "./bazelw test //tests:resilience/simulator/test_seeds"
        " --test_env=HARDGATE_SIMULATION_SEED=memory.7.0"
    )


@pytest.mark.parametrize(
    "seed", ["", "memory", "memory.1", "disk.1.2", "memory.1.x", "memory.1.2 "]
)
def test_what_is_no_seed_is_refused(seed: str) -> None:
    with pytest.raises(ValueError, match="is no seed"):
        campaign.play(seed)


def test_a_campaign_without_a_kind_of_fault_is_void() -> None:
    counts = Counter(dict.fromkeys(KINDS, 1))
    assert campaign.Campaign(1, [], counts).missing(KINDS) == []
    del counts[CANCELLED]
    assert campaign.Campaign(1, [], counts).missing(KINDS) == [CANCELLED]
    assert campaign.played([]).missing(KINDS) == list(KINDS)


def test_more_times_are_more_of_the_same_seeds(monkeypatch: pytest.MonkeyPatch) -> None:
    once = campaign.seeds("memory", 3, 5)
    monkeypatch.setenv(campaign.TIMES, "10")
    assert campaign.seeds("memory", 3, 5)[:5] == once
    assert len(set(campaign.seeds("memory", 3, 5))) == 50


@pytest.mark.parametrize("text", ["0", "-1", "many", "1001", "1.5", ""])
def test_a_wrong_number_of_times_is_refused(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv(campaign.TIMES, text)
    with pytest.raises(ValueError, match=campaign.TIMES):
        campaign.times()
