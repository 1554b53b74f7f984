"""Which runs a case asks for: one, or one for each of its arms."""

from typing import Any, NamedTuple

from hardgate.cases.expected import Entry, Expected
from hardgate.cases.model import Arm, Case
from hardgate.documents.strict_yaml import Document, Keys

# What an arm says key by key, on top of what the case says.
_OVERLAID = ("clock", "fixtures")
_REPLACED = ("input", "model_fixture", "principal", "policy_profile")


class PlannedRun(NamedTuple):
    """One run: `case` is as the run sees it, without arms and with `expected` as `expected`.

    `arm` is the arm's name, None for a case without arms; `arm_index` is its place. `carry` names
    what it keeps of the run before.
    """

    case: Case
    expected: Expected
    arm: str | None = None
    arm_index: int | None = None
    carry: tuple[str, ...] = ()

    @property
    def at(self) -> Keys:
        """The keys of this run's `expected` in the case file."""
        return ("expected",) if self.arm_index is None else ("arms", self.arm_index, "expected")

    def keys(self, document: Document, keys: Keys) -> Keys:
        """Where the value under `keys` was written: in the arm, if it says it, or in the case."""
        if self.arm_index is not None:
            in_arm = ("arms", self.arm_index, *keys)
            if in_arm in document.positions or keys[:1] == ("expected",):
                return in_arm
        return keys


def planned_runs(case: Case) -> tuple[PlannedRun, ...]:
    """The runs in their order; none for a case with neither `expected` nor `arms`."""
    if case.arms is not None:
        return tuple(
            PlannedRun(_with_arm(case, arm), arm.expected, arm.name, index, arm.carry)
            for index, arm in enumerate(case.arms)
        )
    return () if case.expected is None else (PlannedRun(case, case.expected),)


def _with_arm(case: Case, arm: Arm) -> Case:
    """The case as one arm runs it. Its name, which seeds the ids, is the case's and the arm's."""
    update: dict[str, Any] = {
        "name": f"{case.name}.{arm.name}",
        "expected": arm.expected,
        "arms": None,
        "delta": None,
    }
    for key in _REPLACED:
        if getattr(arm, key) is not None:
            update[key] = getattr(arm, key)
    for key in _OVERLAID:
        if getattr(arm, key) is not None:
            update[key] = _overlaid(getattr(case, key), getattr(arm, key))
    return case.model_copy(update=update)


def _overlaid(base: Entry, overlay: Entry) -> Entry:
    return base.model_copy(
        update={name: getattr(overlay, name) for name in overlay.model_fields_set}
    )
