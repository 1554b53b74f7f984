"""The identity of steps, attempts and calls, compared with the script that was played."""

from __future__ import annotations

from typing import Any

from agent_core.domain.events import EventType
from gates.checks.runtime_scripts import TOOLS, Call, Performance, Step, perform, usages
from hardgate.kinds.checking import require
from hardgate.kinds.property import PropertyContext

_CALL_IDS = ("call_1", "call_2", "call_3")
_TEXTS = ("a", "b", "c", "d")
_MOST_ALIKE = 4  # the breaker refuses the fifth


def check(context: PropertyContext) -> None:
    from hypothesis import strategies as st

    aspects = st.sampled_from(["tool", "text", "call_id"])
    context.for_all(identity_follows_the_script, steps=_scripts(), aspect=aspects)


def identity_follows_the_script(steps: list[Step], aspect: str) -> None:
    """Steps and attempts are numbered as they are played, and a call's key is its own."""
    performance = perform(steps)
    _require_call_ids(steps, performance)
    _require_numbers(steps, performance)
    _require_steps_of_calls(steps, performance)
    keys = _keys(performance)
    require(len(set(keys)) == len(keys), "key_shared", "two calls of the run have one key")
    require(_keys(perform(steps)) == keys, "key_changed", "the same run gives other keys")
    without_failures = [step._replace(failures=()) for step in steps]
    require(_keys(perform(without_failures)) == keys, "key_changed", "an attempt changes the keys")
    other_run = _keys(perform(steps, seed="another"))
    require(not set(keys) & set(other_run), "key_shared", "calls of two runs have one key")
    changed = _keys(perform(_with_other_call(steps, aspect)))
    require(
        not keys or changed[0] != keys[0], "key_shared", f"another {aspect} does not change the key"
    )


def _require_numbers(steps: list[Step], performance: Performance) -> None:
    played = performance.played
    played_steps = [*steps, Step()]
    expected = [
        (number, attempt)
        for number, step in enumerate(played_steps, 1)
        for attempt in range(1, len(step.failures) + 2)
    ]
    asked = [(one.step_number, one.attempt_number) for one in played.requests]
    logged = [
        (one.payload["step_number"], one.payload["attempt_number"])
        for one in played.events
        if one.event_type is EventType.MODEL_REQUEST_STARTED
    ]
    for found in (asked, logged):
        numbers = list(dict.fromkeys(number for number, _ in found))
        require(
            numbers == [number for number, _ in enumerate(played_steps, 1)],
            "step_numbers",
            f"the steps are numbered {numbers}, there are {len(played_steps)}",
        )
        require(found == expected, "attempt_numbers", f"expected {expected}, found {found}")
    require(
        played.run.step_count == len(played_steps),
        "step_numbers",
        f"the run counts {played.run.step_count} steps, there are {len(played_steps)}",
    )


def _require_call_ids(steps: list[Step], performance: Performance) -> None:
    """Each call is recorded under its id and executed, so none was taken for another one."""
    calls = [call for step in steps for call in step.calls]
    expected = [call.call_id for call in calls]
    found = [row.call_id for row in performance.played.invocations]
    require(
        all(one == other for one, other in zip(found, expected, strict=False)),
        "call_id_changed",
        f"expected {expected}, found {found}",
    )
    executed = list(performance.executed)
    require(
        len(found) == len(expected) and executed == [call.text for call in calls],
        "key_shared",
        f"of {len(calls)} calls {len(found)} are recorded and {executed} executed",
    )


def _require_steps_of_calls(steps: list[Step], performance: Performance) -> None:
    expected = [number for number, step in enumerate(steps, 1) for _ in step.calls]
    found = [row.step_number for row in performance.played.invocations]
    require(found == expected, "call_step", f"expected {expected}, found {found}")


def _keys(performance: Performance) -> list[str]:
    return [row.idempotency_key for row in performance.played.invocations]


def _with_other_call(steps: list[Step], aspect: str) -> list[Step]:
    """The script with one aspect of its first call changed."""
    others = {"tool": TOOLS, "text": (*_TEXTS, "e"), "call_id": (*_CALL_IDS, "call_4")}
    changed = list(steps)
    for number, step in enumerate(steps):
        if step.calls:
            first, *rest = step.calls
            taken = {getattr(call, aspect) for call in (first, *rest)}
            if aspect == "tool":
                taken = {first.tool}
            other = next(one for one in others[aspect] if one not in taken)
            changed[number] = step._replace(calls=(_changed(first, aspect, other), *rest))
            break
    return changed


def _changed(call: Call, aspect: str, value: str) -> Call:
    changes: dict[str, Any] = {aspect: value}
    return call._replace(**changes)


def _scripts() -> Any:
    """Up to four steps, with calls that are often alike but for their id or their step."""
    from hypothesis import strategies as st

    calls = st.lists(
        st.builds(
            Call,
            st.sampled_from(TOOLS),
            st.sampled_from(_TEXTS),
            st.sampled_from(_CALL_IDS),
        ),
        min_size=1,
        max_size=3,
        unique_by=lambda call: call.call_id,
    ).map(tuple)
    steps = st.builds(Step, st.lists(usages(2), max_size=2).map(tuple), usages(2), calls)
    return st.lists(steps, min_size=1, max_size=4).filter(_passes_breaker)


def _passes_breaker(steps: list[Step]) -> bool:
    """Whether no call is made so often that the run is stopped, also with one call changed."""
    alike = [(call.tool, call.text) for step in steps for call in step.calls]
    return all(alike.count(one) < _MOST_ALIKE for one in alike)
