"""Whether everything that a case does to its run was done."""

from collections.abc import Iterator, Sequence

from hardgate.cases.model import Intervention
from hardgate.cases.record import ObservedIntervention, Record
from hardgate.expectations.outcome import Outcome, last_event


def interventions(wanted: Sequence[Intervention], record: Record) -> Iterator[Outcome]:
    """One check for each intervention: its trigger came, and what was to be done then was done."""
    for index, one in enumerate(wanted):
        known = index < len(record.interventions)
        found = record.interventions[index] if known else ObservedIntervention()
        passed = found.fired and found.refused is None
        observed = "done" if passed else _observed(one, found)
        message = f"missing: {one.action}; awaited: {_awaited(one)}; {observed}"
        yield Outcome(
            "interventions",
            ("interventions", index),
            passed,
            f"{one.action} at {_awaited(one)}",
            observed,
            "" if passed else message,
            () if passed else last_event(record),
        )


def _awaited(one: Intervention) -> str:
    """`occurrence 2 of tool.call.completed (tool math.calculate)`."""
    where = {} if one.where is None else one.where.model_dump(exclude_none=True)
    facts = ", ".join(f"{name} {value}" for name, value in where.items())
    return f"occurrence {one.occurrence} of {one.at}" + (f" ({facts})" if facts else "")


def _observed(one: Intervention, found: ObservedIntervention) -> str:
    if found.refused is not None:
        return f"the trigger came, and it could not be done: {found.refused}"
    seen = f"seen: {found.seen} of {one.at}"
    return seen if one.where is None else f"{seen}, {found.fitting} of them as the filter says"
