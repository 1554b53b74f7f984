"""What every policy engine promises."""

from datetime import UTC, datetime

import pytest

from agent_core.adapters.policy.rule_set_policy import NO_EFFECTS, RuleSetPolicy
from agent_core.domain.outcomes import REASONS
from agent_core.domain.policy import (
    OUTBOUND,
    PolicyEffect,
    ProposedAction,
    Rule,
    RuleSet,
    TrustOverlay,
)
from agent_core.domain.sessions import Principal
from agent_core.domain.tools import IdempotencyClass, RiskLevel, SideEffectClass
from agent_core.domain.trust import Labels, TrustLevel


def no_effects():
    return RuleSetPolicy(NO_EFFECTS)


def everything_allowed():
    """The most that a profile can allow."""
    rules = {one: Rule(PolicyEffect.ALLOW) for one in SideEffectClass}
    overlay = TrustOverlay(TrustLevel.EXTERNAL_UNTRUSTED, frozenset(SideEffectClass))
    return RuleSetPolicy(RuleSet("everything", rules, overlay))


IMPLEMENTATIONS = [no_effects, everything_allowed]

SOMEBODY = Principal("somebody", frozenset({"a.read", "b.write"}))
ACTION = ProposedAction(
    action_id="invocation",
    session_id="session",
    run_id="run",
    step_number=1,
    name="demo.tool",
    version="1",
    side_effect=SideEffectClass.NONE,
    risk=RiskLevel.LOW,
    idempotency=IdempotencyClass.READ_ONLY,
    required_scopes=frozenset(),
    arguments={},
    normalized_arguments_hash="ab",
    origin_trust=TrustLevel.USER,
    conversation=Labels(TrustLevel.USER),
    evaluated_at=datetime(2026, 1, 1, tzinfo=UTC),
)


@pytest.fixture(params=IMPLEMENTATIONS)
def make(request):
    return request.param


@pytest.mark.parametrize("side_effect", SideEffectClass)
def test_every_class_gets_a_decision_with_a_reason_of_the_table(make, side_effect):
    decision = make().evaluate(ACTION._replace(side_effect=side_effect), SOMEBODY)
    assert decision.effect in PolicyEffect
    assert decision.reason_code in REASONS
    assert decision.policy_version
    assert decision.missing_scope is None


@pytest.mark.parametrize("side_effect", SideEffectClass)
def test_equal_actions_get_equal_decisions(make, side_effect):
    engine = make()
    action = ACTION._replace(side_effect=side_effect)
    decision = engine.evaluate(action, SOMEBODY)
    for other in SideEffectClass:
        engine.evaluate(ACTION._replace(side_effect=other), Principal("another"))
    assert engine.evaluate(action, SOMEBODY) == make().evaluate(action, SOMEBODY) == decision


@pytest.mark.parametrize("side_effect", SideEffectClass)
def test_risk_never_selects_a_decision(make, side_effect):
    decisions = {
        make().evaluate(ACTION._replace(side_effect=side_effect, risk=risk), SOMEBODY)
        for risk in RiskLevel
    }
    assert len(decisions) == 1


@pytest.mark.parametrize(
    ("required", "missing"),
    [
        ({"a.read"}, None),
        ({"a.read", "b.write"}, None),
        ({"c.read"}, "c.read"),
        ({"a.read", "d.read", "c.read"}, "c.read"),
        ({"a"}, "a"),
        ({"a.read.all"}, "a.read.all"),
        ({"A.READ"}, "A.READ"),
        ({"a.*"}, "a.*"),
    ],
)
def test_scopes_are_exact_and_only_a_missing_one_is_named(make, required, missing):
    decision = make().evaluate(ACTION._replace(required_scopes=frozenset(required)), SOMEBODY)
    assert decision.missing_scope == missing
    assert (decision.reason_code == "policy.scope.missing") is (missing is not None)
    assert (decision.effect is PolicyEffect.DENY) is (missing is not None)


@pytest.mark.parametrize("side_effect", sorted(OUTBOUND))
def test_no_engine_lets_private_content_out_with_untrusted_content_around(make, side_effect):
    mixed = Labels(TrustLevel.EXTERNAL_UNTRUSTED, is_private=True)
    action = ACTION._replace(side_effect=side_effect, conversation=mixed)
    assert make().evaluate(action, SOMEBODY).effect is PolicyEffect.DENY
