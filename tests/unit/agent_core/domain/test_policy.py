"""The evaluator: what each class gets, and what makes a decision stricter."""

from datetime import UTC, datetime
from itertools import product

import pytest

from agent_core.domain.policy import (
    Condition,
    PolicyDecision,
    PolicyEffect,
    ProposedAction,
    Rule,
    RuleSet,
    Target,
    TrustOverlay,
    combine,
    evaluate,
    is_inside_workspace,
    missing_scope,
)
from agent_core.domain.sessions import Principal
from agent_core.domain.tools import IdempotencyClass, RiskLevel, SideEffectClass
from agent_core.domain.trust import Labels, TrustLevel

ALLOW, APPROVAL, DENY = PolicyEffect.ALLOW, PolicyEffect.REQUIRE_APPROVAL, PolicyEffect.DENY
PATH, HOST = Condition.PATH_INSIDE_WORKSPACE, Condition.HOST_ON_ALLOWLIST
ISOLATED = Condition.TARGET_ISOLATED
EXEMPT = {SideEffectClass.NONE, SideEffectClass.WORKSPACE_READ, SideEffectClass.NETWORK_READ}
OUTBOUND = {"external_message", "external_write", "publication", "financial"}

SOMEBODY = Principal("somebody")
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


def rule_set(effect=ALLOW, *, name="test", hosts=(), exempt=EXEMPT, **rules):
    every = {one: Rule(effect) for one in SideEffectClass}
    every |= {SideEffectClass(one): rule for one, rule in rules.items()}
    overlay = TrustOverlay(TrustLevel.EXTERNAL_UNTRUSTED, frozenset(exempt))
    return RuleSet(name, every, overlay, hosts)


def decide(side_effect, rules, **change):
    action = ACTION._replace(side_effect=SideEffectClass(side_effect), **change)
    decision = evaluate(action, SOMEBODY, rules)
    assert decision.policy_version == rules.version
    return decision.effect, decision.reason_code


@pytest.mark.parametrize("effect", [ALLOW, APPROVAL, DENY])
@pytest.mark.parametrize("side_effect", SideEffectClass)
def test_the_rule_of_the_class_decides_and_no_other(side_effect, effect):
    other = DENY if effect is ALLOW else ALLOW
    rules = rule_set(other, **{side_effect.value: Rule(effect)})
    assert decide(side_effect, rules) == (effect, f"policy.matrix.{side_effect}")


TARGETS = [
    (PATH, Target(), False),
    (PATH, Target(paths=("notes.txt",)), True),
    (PATH, Target(paths=("notes.txt", "a/b/c")), True),
    (PATH, Target(paths=("notes.txt", "../secret")), False),
    (PATH, Target(hosts=("a.example",), is_isolated=True), False),
    (HOST, Target(), False),
    (HOST, Target(hosts=("a.example",)), True),
    (HOST, Target(hosts=("a.example", "b.example")), True),
    (HOST, Target(hosts=("a.example", "c.example")), False),
    (HOST, Target(hosts=("sub.a.example",)), False),
    (HOST, Target(hosts=("A.example",)), False),
    (HOST, Target(paths=("notes.txt",), is_isolated=True), False),
    (ISOLATED, Target(), False),
    (ISOLATED, Target(is_isolated=True), True),
    (ISOLATED, Target(paths=("notes.txt",), hosts=("a.example",)), False),
]


@pytest.mark.parametrize(("condition", "target", "holds"), TARGETS)
@pytest.mark.parametrize("otherwise", [APPROVAL, DENY])
def test_a_condition_that_does_not_hold_or_is_not_known_gives_otherwise(
    condition, target, holds, otherwise
):
    rules = rule_set(
        DENY, hosts=("a.example", "b.example"), workspace_read=Rule(ALLOW, condition, otherwise)
    )
    expected = (ALLOW if holds else otherwise, "policy.matrix.workspace_read")
    assert decide("workspace_read", rules, target=target) == expected


@pytest.mark.parametrize(
    ("path", "inside"),
    [
        ("a", True),
        ("a/b.txt", True),
        ("a/..b", True),
        ("..a", True),
        (".hidden", True),
        ("a b/ü", True),
        ("x" * 255, True),
        ("/".join(["x" * 255] * 16), True),
        ("", False),
        (".", False),
        ("..", False),
        ("/etc/passwd", False),
        ("a/../../b", False),
        ("a/..", False),
        ("./a", False),
        ("a//b", False),
        ("a/", False),
        ("a\0b", False),
        ("x" * 256, False),
        ("ü" * 128, False),
        ("a\ud800", True),
    ],
)
def test_paths_as_they_are_written(path, inside):
    assert is_inside_workspace(path) is inside


def test_the_longest_path():
    path = "/".join(["x" * 255] * 15 + ["y" * 254, "z"])
    assert len(path) == 4096
    assert is_inside_workspace(path)
    assert not is_inside_workspace(path + "z")


@pytest.mark.parametrize("side_effect", SideEffectClass)
def test_an_untrusted_origin_needs_an_approval_where_others_would_be_allowed(side_effect):
    for effect, origin in product([ALLOW, APPROVAL, DENY], TrustLevel):
        seen = decide(side_effect, rule_set(effect), origin_trust=origin)
        raised = origin is TrustLevel.EXTERNAL_UNTRUSTED and side_effect not in EXEMPT
        if effect is ALLOW and raised:
            assert seen == (APPROVAL, "policy.trust.untrusted_origin")
        else:
            assert seen == (effect, f"policy.matrix.{side_effect}"), origin


@pytest.mark.parametrize("origin", TrustLevel)
@pytest.mark.parametrize("threshold", TrustLevel)
def test_the_profile_says_from_which_label_on(threshold, origin):
    rules = RuleSet("test", rule_set().rules, TrustOverlay(threshold, frozenset()))
    effect, _ = decide("none", rules, origin_trust=origin)
    assert effect is (APPROVAL if origin.is_at_or_below(threshold) else ALLOW)


@pytest.mark.parametrize("side_effect", SideEffectClass)
def test_the_interlock(side_effect):
    """Every row of its truth table: private, untrusted and outbound, and only all three."""
    for effect, private, trust in product([ALLOW, APPROVAL, DENY], [False, True], TrustLevel):
        rules = rule_set(effect, exempt=SideEffectClass)
        seen = decide(side_effect, rules, conversation=Labels(trust, private))
        untrusted = trust in (TrustLevel.KNOWLEDGE, TrustLevel.EXTERNAL_UNTRUSTED)
        if private and untrusted and side_effect in OUTBOUND and effect is not DENY:
            assert seen == (DENY, "policy.trust.exfiltration_blocked"), trust
        else:
            assert seen == (effect, f"policy.matrix.{side_effect}"), (private, trust)


def test_the_interlock_looks_at_the_conversation_and_not_at_the_origin():
    mixed = Labels(TrustLevel.EXTERNAL_UNTRUSTED, is_private=True)
    calm = Labels(TrustLevel.USER, is_private=True)
    rules = rule_set(exempt=SideEffectClass)
    assert decide("publication", rules, conversation=mixed)[0] is DENY
    untrusted = {"origin_trust": TrustLevel.EXTERNAL_UNTRUSTED}
    assert decide("publication", rules, conversation=calm, **untrusted)[0] is ALLOW


def test_a_missing_scope_is_named_before_anything_else_is_asked():
    principal = Principal("somebody", frozenset({"b.read", "held.secret"}))
    action = ACTION._replace(
        side_effect=SideEffectClass.FINANCIAL,
        required_scopes=frozenset({"c.read", "b.read", "a.write"}),
        conversation=Labels(TrustLevel.EXTERNAL_UNTRUSTED, is_private=True),
    )
    rules = rule_set()
    decision = evaluate(action, principal, rules)
    assert decision == (DENY, "policy.scope.missing", rules.version, "a.write")
    assert "held.secret" not in str(decision)


@pytest.mark.parametrize(
    ("required", "held", "missing"),
    [
        ("", "", None),
        ("", "a.b", None),
        ("a.b", "a.b", None),
        ("a.b", "a.b c.d", None),
        ("a.b", "", "a.b"),
        ("a.b c.d", "a.b", "c.d"),
        ("d.e c.d", "a.b", "c.d"),
        ("a.b", "a", "a.b"),
        ("a", "a.b", "a"),
        ("a.b", "a.*", "a.b"),
        ("a.b", "A.B", "a.b"),
        ("a.b", "a.bc", "a.b"),
    ],
)
def test_scopes_are_exact_strings(required, held, missing):
    assert missing_scope(frozenset(required.split()), frozenset(held.split())) == missing


EFFECTS = ["allow", "allow_with_modifications", "require_approval", "deny"]


@pytest.mark.parametrize(("first", "second"), list(product(range(4), repeat=2)))
def test_two_decisions_combine_to_the_more_restrictive_one(first, second):
    one, other = (
        PolicyDecision(PolicyEffect(EFFECTS[rank]), code, "p@0")
        for rank, code in ((first, "first"), (second, "second"))
    )
    assert (one.effect.rank, other.effect.rank) == (first, second)
    assert combine(one, other) == (other if second > first else one)


@pytest.mark.parametrize("missing", SideEffectClass)
def test_a_rule_set_has_a_rule_for_each_class(missing):
    rules = {one: Rule(ALLOW) for one in SideEffectClass if one is not missing}
    with pytest.raises(ValueError, match=f"test: no rule for {missing}$"):
        RuleSet("test", rules, TrustOverlay(TrustLevel.USER, frozenset()))


def test_all_the_classes_without_a_rule_are_named():
    with pytest.raises(ValueError, match=r"no rule for none, workspace_read, .*, privileged$"):
        RuleSet("test", {}, TrustOverlay(TrustLevel.USER, frozenset()))


def test_the_rules_do_not_change_after_they_are_taken():
    mine = {one: Rule(DENY) for one in SideEffectClass}
    rules = RuleSet("test", mine, TrustOverlay(TrustLevel.USER, frozenset()))
    mine[SideEffectClass.NONE] = Rule(ALLOW)
    assert decide("none", rules) == (DENY, "policy.matrix.none")
    with pytest.raises(TypeError):
        rules.rules[SideEffectClass.NONE] = Rule(ALLOW)


def test_the_version_is_the_name_and_twelve_digits_of_the_content():
    name, _, digits = rule_set(name="team.strict").version.partition("@")
    assert name == "team.strict"
    assert len(digits) == 12
    assert set(digits) <= set("0123456789abcdef")


DIFFERENT = [
    rule_set(),
    rule_set(name="other"),
    rule_set(none=Rule(DENY)),
    rule_set(none=Rule(APPROVAL)),
    rule_set(none=Rule(ALLOW, PATH)),
    rule_set(none=Rule(ALLOW, HOST)),
    rule_set(none=Rule(ALLOW, HOST, APPROVAL)),
    rule_set(privileged=Rule(DENY)),
    rule_set(hosts=["a.example"]),
    rule_set(hosts=["a.example", "b.example"]),
    rule_set(exempt=[SideEffectClass.NONE]),
    RuleSet("test", rule_set().rules, TrustOverlay(TrustLevel.MEMORY, frozenset(EXEMPT))),
]


def test_whatever_decides_is_in_the_version():
    digits = {rules.version for rules in DIFFERENT}
    assert len(digits) == len(DIFFERENT)


def test_the_order_in_which_things_are_written_is_not():
    backwards = dict(reversed(list(rule_set().rules.items())))
    overlay = TrustOverlay(TrustLevel.EXTERNAL_UNTRUSTED, frozenset(sorted(EXEMPT)))
    again = RuleSet("test", backwards, overlay, ["b.example", "a.example"])
    assert again.version == rule_set(hosts=["a.example", "b.example"]).version
