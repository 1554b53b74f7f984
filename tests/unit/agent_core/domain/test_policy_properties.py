"""What holds of the evaluator whatever it is asked."""

from datetime import UTC, datetime

from hypothesis import given, settings
from hypothesis import strategies as st

from agent_core.domain.canonical import canonical_json
from agent_core.domain.outcomes import REASONS
from agent_core.domain.policy import (
    OUTBOUND,
    Condition,
    PolicyEffect,
    ProposedAction,
    Rule,
    RuleSet,
    Target,
    TrustOverlay,
    evaluate,
)
from agent_core.domain.sessions import Principal
from agent_core.domain.tools import IdempotencyClass, RiskLevel, SideEffectClass
from agent_core.domain.trust import Labels, TrustLevel

HOSTS = ["a.example", "b.example", "c.example"]
SCOPES = ["a.read", "b.write", "c.read"]


def some(enum):
    return st.sampled_from(list(enum))


def sets(values):
    return st.frozensets(st.sampled_from(values))


def rules():
    return st.builds(
        RuleSet,
        st.just("generated"),
        st.fixed_dictionaries(
            {
                one: st.builds(
                    Rule,
                    some(PolicyEffect),
                    st.none() | some(Condition),
                    st.just(PolicyEffect.DENY),
                )
                for one in SideEffectClass
            }
        ),
        st.builds(TrustOverlay, some(TrustLevel), sets(list(SideEffectClass))),
        sets(HOSTS),
    )


def actions():
    return st.builds(
        ProposedAction,
        action_id=st.just("invocation"),
        session_id=st.just("session"),
        run_id=st.just("run"),
        step_number=st.integers(1, 9),
        name=st.just("demo.tool"),
        version=st.just("1"),
        side_effect=some(SideEffectClass),
        risk=some(RiskLevel),
        idempotency=some(IdempotencyClass),
        required_scopes=sets(SCOPES),
        arguments=st.dictionaries(st.text(max_size=5), st.integers() | st.text(max_size=5)),
        normalized_arguments_hash=st.just("ab"),
        origin_trust=some(TrustLevel),
        conversation=st.builds(Labels, some(TrustLevel), st.booleans()),
        evaluated_at=st.datetimes(timezones=st.just(UTC)),
        target=st.builds(
            Target,
            st.lists(st.sampled_from(["a", "a/b", "../c", "/d"])).map(tuple),
            st.lists(st.sampled_from(HOSTS)).map(tuple),
            st.booleans(),
        ),
    )


def principals():
    return st.builds(Principal, st.just("somebody"), sets(SCOPES), st.just("tenant_a"))


QUESTIONS = {"action": actions(), "principal": principals(), "profile": rules()}


@settings(max_examples=200, deadline=None, derandomize=True, database=None)
@given(**QUESTIONS)
def test_every_question_has_one_answer_with_a_reason_of_the_table(action, principal, profile):
    decision = evaluate(action, principal, profile)
    assert decision.effect in PolicyEffect
    assert decision.reason_code in REASONS
    assert decision.policy_version == profile.version


@settings(max_examples=200, deadline=None, derandomize=True, database=None)
@given(**QUESTIONS)
def test_what_does_not_decide_changes_nothing(action, principal, profile):
    changed = action._replace(
        action_id="other",
        run_id="other",
        step_number=action.step_number + 1,
        risk=RiskLevel.CRITICAL if action.risk is RiskLevel.LOW else RiskLevel.LOW,
        evaluated_at=datetime(1999, 12, 31, tzinfo=UTC),
    )
    assert evaluate(changed, principal, profile) == evaluate(action, principal, profile)


@settings(max_examples=200, deadline=None, derandomize=True, database=None)
@given(**QUESTIONS)
def test_less_trust_and_more_secrets_never_allow_more(action, principal, profile):
    rank = evaluate(action, principal, profile).effect.rank
    lowest = TrustLevel.EXTERNAL_UNTRUSTED
    for worse in (
        action._replace(origin_trust=lowest),
        action._replace(conversation=action.conversation._replace(is_private=True)),
        action._replace(conversation=action.conversation._replace(trust=lowest)),
        action._replace(required_scopes=frozenset(SCOPES)),
        action._replace(target=Target()),
    ):
        assert evaluate(worse, principal, profile).effect.rank >= rank


@settings(max_examples=200, deadline=None, derandomize=True, database=None)
@given(action=actions(), profile=rules(), outbound=st.sampled_from(sorted(OUTBOUND)))
def test_no_profile_lets_private_content_out_with_untrusted_content_around(
    action, profile, outbound
):
    mixed = Labels(TrustLevel.EXTERNAL_UNTRUSTED, is_private=True)
    action = action._replace(side_effect=outbound, conversation=mixed)
    principal = Principal("somebody", frozenset(SCOPES))
    assert evaluate(action, principal, profile).effect is PolicyEffect.DENY


@settings(max_examples=3, deadline=None, derandomize=True, database=None)
@given(**QUESTIONS)
def test_a_thousand_evaluations_give_the_same_bytes(action, principal, profile):
    texts = {canonical_json(evaluate(action, principal, profile)) for _ in range(1000)}
    assert len(texts) == 1


@settings(max_examples=50, deadline=None, derandomize=True, database=None)
@given(profile=rules(), order=st.permutations(list(SideEffectClass)))
def test_a_rule_set_made_again_in_another_order_decides_under_the_same_version(profile, order):
    again = RuleSet(
        profile.name,
        {one: profile.rules[one] for one in order},
        profile.overlay,
        sorted(profile.allowed_hosts, reverse=True),
    )
    assert again.version == profile.version
    assert again.rules == profile.rules
