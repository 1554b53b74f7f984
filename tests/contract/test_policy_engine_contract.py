"""What every policy engine promises."""

from datetime import UTC, datetime

import pytest

from agent_core.adapters.policy.side_effect_policy import SideEffectPolicy
from agent_core.domain.outcomes import REASONS
from agent_core.domain.policy import PolicyEffect, ProposedAction
from agent_core.domain.tools import IdempotencyClass, RiskLevel, SideEffectClass
from agent_core.domain.trust import TrustLevel

IMPLEMENTATIONS = [SideEffectPolicy]

ACTION = ProposedAction(
    action_id="invocation",
    session_id="session",
    run_id="run",
    step_number=1,
    principal_id="somebody",
    name="demo.tool",
    version="1",
    side_effect=SideEffectClass.NONE,
    risk=RiskLevel.LOW,
    idempotency=IdempotencyClass.READ_ONLY,
    required_scopes=frozenset(),
    arguments={},
    normalized_arguments_hash="ab",
    origin_trust=TrustLevel.USER,
    evaluated_at=datetime(2026, 1, 1, tzinfo=UTC),
)


@pytest.fixture(params=IMPLEMENTATIONS)
def make(request):
    return request.param


@pytest.mark.parametrize("side_effect", SideEffectClass)
def test_every_class_gets_a_decision_with_its_reason(make, side_effect):
    decision = make().evaluate(ACTION._replace(side_effect=side_effect))
    assert decision.effect in PolicyEffect
    assert decision.reason_code.startswith("policy.")
    assert decision.policy_version
    if decision.effect is PolicyEffect.DENY:
        assert decision.reason_code in REASONS


@pytest.mark.parametrize("side_effect", SideEffectClass)
def test_equal_actions_get_equal_decisions(make, side_effect):
    engine = make()
    action = ACTION._replace(side_effect=side_effect)
    decision = engine.evaluate(action)
    for other in SideEffectClass:
        engine.evaluate(ACTION._replace(side_effect=other))
    assert engine.evaluate(action) == make().evaluate(action) == decision


@pytest.mark.parametrize("side_effect", SideEffectClass)
def test_risk_never_selects_a_decision(make, side_effect):
    decisions = {
        make().evaluate(ACTION._replace(side_effect=side_effect, risk=risk)) for risk in RiskLevel
    }
    assert len(decisions) == 1
