"""Registration with all its problems at once, and the policy of the first runtime."""

from datetime import UTC, datetime

import pytest

from agent_core.adapters.policy.side_effect_policy import SideEffectPolicy
from agent_core.adapters.tools.math_calculate import MathCalculate
from agent_core.adapters.tools.registry import StaticToolRegistry
from agent_core.domain.errors import RegistrationError
from agent_core.domain.policy import PolicyEffect, ProposedAction
from agent_core.domain.tools import IdempotencyClass, RiskLevel, SideEffectClass
from agent_core.domain.trust import TrustLevel


class Renamed(MathCalculate):
    def __init__(self, **change):
        self._change = change

    @property
    def spec(self):
        return super().spec._replace(**self._change)


def test_every_problem_of_every_tool_is_told():
    tools = [
        Renamed(name="mcp.server.tool"),
        Renamed(name="Bad", version=""),
        MathCalculate(),
        MathCalculate(),
    ]
    with pytest.raises(RegistrationError) as caught:
        StaticToolRegistry(tools)
    assert [problem.split(": ")[0] for problem in caught.value.problems] == [
        "mcp.server.tool",
        "Bad",
        "Bad",
        "math.calculate",
    ]
    assert caught.value.problems[-1] == "math.calculate: registered 2 times"
    assert str(caught.value) == "\n".join(caught.value.problems)


def test_an_iterator_of_tools_is_read_once():
    registry = StaticToolRegistry(iter([Renamed(name="b.tool"), Renamed(name="a.tool")]))
    assert registry.names() == ("a.tool", "b.tool")


ACTION = ProposedAction(
    action_id="invocation",
    session_id="session",
    run_id="run",
    step_number=1,
    principal_id="somebody",
    name="demo.tool",
    version="1",
    side_effect=SideEffectClass.NONE,
    risk=RiskLevel.CRITICAL,
    idempotency=IdempotencyClass.READ_ONLY,
    required_scopes=frozenset(),
    arguments={},
    normalized_arguments_hash="ab",
    origin_trust=TrustLevel.EXTERNAL_UNTRUSTED,
    evaluated_at=datetime(2026, 1, 1, tzinfo=UTC),
)


@pytest.mark.parametrize("side_effect", SideEffectClass)
def test_only_what_has_no_side_effect_is_allowed(side_effect):
    decision = SideEffectPolicy().evaluate(ACTION._replace(side_effect=side_effect))
    assert (decision.effect is PolicyEffect.ALLOW) == (side_effect.value == "none")
    assert decision.reason_code == f"policy.matrix.{side_effect.value}"
