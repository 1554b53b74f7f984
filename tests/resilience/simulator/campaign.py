"""Many histories: their seeds, what a failure is told as, and which faults have to have happened.

A seed is `STORE.SHARD.NUMBER`, such as `memory.2.17`; it says everything that a history depends on.
"""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from tests.resilience.simulator.history import History

TIMES = "HARDGATE_SIMULATION_TIMES"
SEED = "HARDGATE_SIMULATION_SEED"
SHARD = "HARDGATE_SIMULATION_SHARD"
MAXIMUM_TIMES = 1_000
_SEED = re.compile(r"(memory|sqlite)\.\d{1,6}\.\d{1,9}")
_MAXIMUM_SHOWN = 20


class Campaign(NamedTuple):
    """What many histories came to: what failed, as text, and how often each fault happened."""

    histories: int
    failures: list[str]
    counts: Counter[str]

    def missing(self, kinds: Collection[str]) -> list[str]:
        """The kinds of fault that did not happen: without them the campaign shows nothing."""
        return [kind for kind in kinds if not self.counts[kind]]

    def keep(self, name: str) -> None:
        """Put the figures among the outputs of the test, where Bazel runs it."""
        folder = os.environ.get("TEST_UNDECLARED_OUTPUTS_DIR")
        if folder:
            figures = {"histories": self.histories, "counts": dict(sorted(self.counts.items()))}
            (Path(folder) / f"{name}.json").write_text(json.dumps(figures, indent=2) + "\n")


def times() -> int:
    """How many times as many histories are to be played. Raises `ValueError`."""
    text = os.environ.get(TIMES, "1")
    if not text.isdecimal() or not 1 <= int(text) <= MAXIMUM_TIMES:
        raise ValueError(f"{TIMES}={text}: a whole number from 1 to {MAXIMUM_TIMES}")
    return int(text)


def seeds(store: str, shard: int, histories: int) -> list[str]:
    """The seeds of a shard: always the same ones, and further ones for more."""
    return [f"{store}.{shard}.{number}" for number in range(histories * times())]


def played(seeds: Iterable[str]) -> Campaign:
    """Play every history."""
    failures = []
    counts: Counter[str] = Counter()
    number = 0
    for number, seed in enumerate(seeds, 1):
        told, happened = play(seed)
        counts += happened
        if told:
            failures.append(told)
    return Campaign(number, failures, counts)


def play(seed: str) -> tuple[str, Counter[str]]:
    """What failed, as text that says how to repeat it (empty if nothing did), and the faults.

    Raises `ValueError` for what is no seed.
    """
    if not _SEED.fullmatch(seed):
        raise ValueError(f"{seed!r} is no seed; one is STORE.SHARD.NUMBER, such as memory.2.17")
    if seed.startswith("sqlite"):
        with tempfile.TemporaryDirectory() as folder:
            result = History(seed, Path(folder)).play()
    else:
        result = History(seed).play()
    lines = [f"  {one.rule}: {one.what}" for one in result.violations]
    return _told(seed, lines) if lines else "", result.faults.counts


def _told(seed: str, lines: Sequence[str]) -> str:
    more = [f"  and {len(lines) - _MAXIMUM_SHOWN} more"] if len(lines) > _MAXIMUM_SHOWN else []
    repeat = f"./bazelw test //tests:resilience/simulator/test_seeds --test_env={SEED}={seed}"
    return "\n".join(
        (f"history {seed}:", *lines[:_MAXIMUM_SHOWN], *more, f"  To repeat it: {repeat}")
    )
