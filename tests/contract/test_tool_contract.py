"""What every builtin tool promises."""

import asyncio
import json

import pytest

from agent_core.adapters.tools.math_calculate import MathCalculate
from agent_core.domain.canonical import canonical_json
from agent_core.domain.json_schema import conforms
from agent_core.domain.outcomes import REASONS
from agent_core.domain.tools import ToolContext, ToolFailure, spec_problems

# A tool, arguments that it can work with, and arguments for which it fails in its own words.
IMPLEMENTATIONS = [
    pytest.param(
        MathCalculate, {"expression": "17 * 23"}, {"expression": "1 / 0"}, id="MathCalculate"
    ),
]

each = pytest.mark.parametrize(("make", "good", "bad"), IMPLEMENTATIONS)
CONTEXT = ToolContext("invocation", "key")


def run(tool, arguments):
    return asyncio.run(tool.run(json.loads(json.dumps(arguments)), CONTEXT))


@each
def test_it_may_be_registered(make, good, bad):
    tool = make()
    assert spec_problems(tool.spec) == []
    assert tool.spec == make().spec


@each
def test_its_result_is_what_it_declares(make, good, bad):
    tool = make()
    assert conforms(good, tool.spec.input_schema)
    result = run(tool, good)
    assert conforms(result.output, tool.spec.output_schema)
    size = len(result.content.encode()) + len(canonical_json(result.output).encode())
    assert 0 < size <= tool.spec.maximum_output_bytes


@each
def test_its_failure_has_a_message(make, good, bad):
    tool = make()
    assert conforms(bad, tool.spec.input_schema)
    with pytest.raises(ToolFailure) as caught:
        run(tool, bad)
    assert caught.value.reason_code in REASONS


@each
def test_one_call_leaves_nothing_for_the_next(make, good, bad):
    tool = make()
    first = run(tool, good)
    with pytest.raises(ToolFailure):
        run(tool, bad)
    assert run(tool, good) == first


@each
def test_arguments_are_left_alone(make, good, bad):
    arguments = json.loads(json.dumps(good))
    asyncio.run(make().run(arguments, CONTEXT))
    assert arguments == good
