"""What every builtin tool promises."""

import asyncio
import contextlib
import json
from datetime import UTC, datetime

import pytest

from agent_core.adapters.determinism.clocks import PinnedClock
from agent_core.adapters.tools.ask_user import AskUser
from agent_core.adapters.tools.current_time import CurrentTime
from agent_core.adapters.tools.demo_write import DemoExternalWrite, DemoUnsafeWrite
from agent_core.adapters.tools.math_calculate import MathCalculate
from agent_core.adapters.tools.recorded import RecordedTool
from agent_core.domain.canonical import canonical_json, canonicalize
from agent_core.domain.json_schema import conforms
from agent_core.domain.outcomes import FAILURE_STATUSES, REASONS
from agent_core.domain.recorded_results import RecordedFailure
from agent_core.domain.registration import registered_spec, spec_problems
from agent_core.domain.tools import CallSuspended, ToolFailure, ToolKind, ToolResult
from agent_core.ports.tools import ToolContext

OTHER = {"destination": "elsewhere", "content": ""}
WRITE = {"destination": "https://example.invalid/notes", "content": "Hällo"}


def recorded():
    """`demo.unsafe_write` with one success and one failure on record."""
    checksum = "sha256:" + 64 * "0"
    output = {"recorded": True, "destination": "d", "byte_count": 1, "checksum": checksum}
    results = {
        ("demo.unsafe_write", canonicalize(WRITE).sha256): ToolResult(output, "Sent."),
        ("demo.unsafe_write", canonicalize(OTHER).sha256): RecordedFailure("tool.timeout"),
    }
    return RecordedTool(DemoUnsafeWrite().spec, results, [])


# A tool, arguments that it can work with, and arguments for which it fails in its own words, if
# there are such.
IMPLEMENTATIONS = [
    pytest.param(
        MathCalculate, {"expression": "17 * 23"}, {"expression": "1 / 0"}, id="MathCalculate"
    ),
    pytest.param(AskUser, {"question": "Which one?"}, None, id="AskUser"),
    pytest.param(CurrentTime, {}, {"timezone": "Mars/Olympus"}, id="CurrentTime"),
    pytest.param(DemoUnsafeWrite, WRITE, None, id="DemoUnsafeWrite"),
    pytest.param(DemoExternalWrite, WRITE, None, id="DemoExternalWrite"),
    pytest.param(recorded, WRITE, OTHER, id="RecordedTool"),
]

each = pytest.mark.parametrize(("make", "good", "bad"), IMPLEMENTATIONS)
SUSPENDED = "the call goes on when somebody has said something"
CLOCK = PinnedClock(datetime(2026, 1, 1, tzinfo=UTC))


class Context:
    """A call's context that counts how often the watermark was set."""

    def __init__(self):
        self.marks = 0

    async def _mark(self):
        self.marks += 1

    def run(self, tool, arguments):
        context = ToolContext("invocation", "key", CLOCK, self._mark)
        try:
            return asyncio.run(tool.run(json.loads(json.dumps(arguments)), context))
        except CallSuspended:
            return SUSPENDED


@each
def test_it_may_be_registered(make, good, bad):
    tool = make()
    assert spec_problems(tool.spec) == []
    assert tool.spec == make().spec
    assert registered_spec(tool.spec) == tool.spec


@each
def test_its_result_is_what_it_declares(make, good, bad):
    tool = make()
    assert conforms(good, tool.spec.input_schema)
    result = Context().run(tool, good)
    assert (result == SUSPENDED) is (tool.spec.kind is ToolKind.CONTROL)
    if result == SUSPENDED:
        return
    assert conforms(result.output, tool.spec.output_schema)
    size = len(result.content.encode()) + len(canonical_json(result.output).encode())
    assert 0 < size <= tool.spec.maximum_output_bytes


@each
def test_its_failure_has_a_message(make, good, bad):
    tool = make()
    assert bad is None or conforms(bad, tool.spec.input_schema)
    if bad is not None:
        with pytest.raises(ToolFailure) as caught:
            Context().run(tool, bad)
        assert REASONS[caught.value.reason_code].status in FAILURE_STATUSES


@each
def test_it_records_an_effect_exactly_if_it_has_to(make, good, bad):
    context = Context()
    context.run(make(), good)
    assert (context.marks > 0) is make().spec.idempotency.needs_watermark


@each
def test_nothing_is_done_when_the_effect_cannot_be_recorded(make, good, bad):
    tool = make()
    if not tool.spec.idempotency.needs_watermark:
        return

    async def refuse():
        raise ConnectionError("the store is gone")

    with pytest.raises(ConnectionError):
        asyncio.run(tool.run(dict(good), ToolContext("invocation", "key", CLOCK, refuse)))


@each
def test_one_call_leaves_nothing_for_the_next(make, good, bad):
    tool = make()
    first = Context().run(tool, good)
    if bad is not None:
        with pytest.raises(ToolFailure):
            Context().run(tool, bad)
    assert Context().run(tool, good) == first


@each
def test_arguments_are_left_alone(make, good, bad):
    arguments = json.loads(json.dumps(good))
    with contextlib.suppress(CallSuspended):
        asyncio.run(make().run(arguments, ToolContext("i", "key", CLOCK, Context()._mark)))
    assert arguments == good
