"""The faults of a history: what there is, how likely it is, and that it did happen."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping

from agent_core.domain.tools import IdempotencyClass
from tests.resilience.plan import AFTER_TURN, BEFORE_TURN
from tests.resilience.world import after_effect, before_effect

BEFORE_UNIT = "unit.before"
BEFORE_COMMIT = "commit.before"
AFTER_COMMIT = "commit.after"
HOOK = "hook"
STEPS = range(1, 15)
PIPELINE = (
    *(f"pipeline.{step}.{side}" for step in STEPS for side in ("before", "after")),
    "before_effect",
    "after_effect",
)
"""The points at which the pipeline's observer is awaited."""

TOOLS = tuple(point(kind) for kind in IdempotencyClass for point in (before_effect, after_effect))
"""The points within tools."""

POINTS = (
    BEFORE_UNIT,
    BEFORE_COMMIT,
    AFTER_COMMIT,
    BEFORE_TURN,
    AFTER_TURN,
    HOOK,
    *TOOLS,
    *PIPELINE,
)
"""Where a process can be killed: at its commits, at the pipeline's points, within a tool, within the
model's turn, and within a hook."""

CRASHES = "a process is killed that holds a run or a hook"
KILLED = "killed: "
LEASE_LOST = "a lease ends while its owner goes on"
REFUSED = "the store refuses a unit of work"
FULL = "the store is full"
ROLLED_BACK = "a commit fails"
ANSWER_LOST = "a commit succeeds and its answer is lost"
CHECKPOINTS_DELETED = "checkpoints are deleted"
HOOK_FAILED = "a hook fails"
FENCED = "a worker is fenced"
CANCELLED = "a run is cancelled"
ANSWERED = "a question is answered"
INTERLEAVED = "calls of a batch end in another order"
RESUMED = "a run is resumed"
GIVEN_UP = "a run loses its worker too often"
UNCERTAIN = "an effect is unknown"
REPEATED = "a call is executed again"

KINDS = (
    CRASHES,
    *(KILLED + point for point in POINTS),
    LEASE_LOST,
    REFUSED,
    FULL,
    ROLLED_BACK,
    ANSWER_LOST,
    CHECKPOINTS_DELETED,
    HOOK_FAILED,
    FENCED,
    CANCELLED,
    ANSWERED,
    INTERLEAVED,
    RESUMED,
    GIVEN_UP,
    UNCERTAIN,
    REPEATED,
)
"""Every kind of fault, and what has to follow from some of them; a campaign has to see each."""

_KILL = {
    **dict.fromkeys(POINTS, 0.007),
    **dict.fromkeys((BEFORE_TURN, AFTER_TURN, HOOK), 0.02),
    **dict.fromkeys((*TOOLS, "before_effect", "after_effect"), 0.03),
    **dict.fromkeys((BEFORE_UNIT, BEFORE_COMMIT, AFTER_COMMIT), 0.005),
}
"""How likely a process is killed where it comes to a point; the rarer ones are more likely."""

_LOSE_LEASE = 0.002
_REFUSE = 0.002
_ROLL_BACK = 0.003
_LOSE_ANSWER = 0.003
_FAIL_HOOK = 0.3


class Faults:
    """Decides by the seed, and counts what it decided."""

    def __init__(self, chosen: random.Random) -> None:
        self._chosen = chosen
        self.counts: Counter[str] = Counter()

    def count(self, kind: str) -> None:
        self.counts[kind] += 1

    def kills(self, point: str) -> bool:
        """Whether the process that is at `point` ends there."""
        return self._happens(KILLED + point, _KILL[point])

    def loses_lease(self) -> bool:
        return self._chosen.random() < _LOSE_LEASE

    def of_beginning(self) -> str | None:
        """REFUSED, FULL or None."""
        return self._one_of({REFUSED: _REFUSE, FULL: _REFUSE})

    def of_commit(self) -> str | None:
        """ROLLED_BACK, ANSWER_LOST or None."""
        return self._one_of({ROLLED_BACK: _ROLL_BACK, ANSWER_LOST: _LOSE_ANSWER})

    def fails_hook(self) -> bool:
        return self._happens(HOOK_FAILED, _FAIL_HOOK)

    def _one_of(self, likely: Mapping[str, float]) -> str | None:
        return next((kind for kind, one in likely.items() if self._happens(kind, one)), None)

    def _happens(self, kind: str, likely: float) -> bool:
        if self._chosen.random() >= likely:
            return False
        self.count(kind)
        return True
