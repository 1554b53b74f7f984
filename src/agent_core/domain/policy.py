"""May this action happen? A pure function of action, principal and rules (docs/specs/policy.md)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from enum import StrEnum
from types import MappingProxyType
from typing import NamedTuple

from agent_core.domain.canonical import JsonObject, canonical_json, sha256_hex
from agent_core.domain.sessions import Principal
from agent_core.domain.tools import IdempotencyClass, RiskLevel, SideEffectClass
from agent_core.domain.trust import Labels, TrustLevel

OUTBOUND = frozenset(
    {
        SideEffectClass.EXTERNAL_MESSAGE,
        SideEffectClass.EXTERNAL_WRITE,
        SideEffectClass.PUBLICATION,
        SideEffectClass.FINANCIAL,
    }
)
"""The classes by which content can leave for somebody else to read."""

_MAXIMUM_PATH_BYTES = 4096
_MAXIMUM_COMPONENT_BYTES = 255


class PolicyEffect(StrEnum):
    """What may become of an action, least restrictive first."""

    ALLOW = "allow"
    ALLOW_WITH_MODIFICATIONS = "allow_with_modifications"
    REQUIRE_APPROVAL = "require_approval"
    DENY = "deny"

    @property
    def rank(self) -> int:
        """0 to 3; of two effects the one with the higher rank holds."""
        return _RANK[self]


_RANK = {effect: rank for rank, effect in enumerate(PolicyEffect)}


class Target(NamedTuple):
    """What an action touches, as far as that is known. What is not known fulfils no condition.

    `paths` are relative to the workspace, `hosts` in lower case. `is_isolated`: the action runs
    where it reaches nothing of the host.
    """

    paths: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    is_isolated: bool = False


class ProposedAction(NamedTuple):
    """An action that waits for a decision. `evaluated_at` is given: an evaluator reads no clock.

    `origin_trust` is the label of what the model was shown when it proposed the action, and so
    that of the arguments. `conversation` joins the labels of everything in the conversation, the
    results of earlier calls of the same batch included.
    """

    action_id: str
    session_id: str
    run_id: str
    step_number: int
    name: str
    version: str
    side_effect: SideEffectClass
    risk: RiskLevel
    idempotency: IdempotencyClass
    required_scopes: frozenset[str]
    arguments: JsonObject
    normalized_arguments_hash: str
    origin_trust: TrustLevel
    conversation: Labels
    evaluated_at: datetime
    target: Target = Target()


class PolicyDecision(NamedTuple):
    """`reason_code` names the rule that decided, `policy_version` the rule set.

    `missing_scope` is set exactly when the code is `policy.scope.missing`.
    """

    effect: PolicyEffect
    reason_code: str
    policy_version: str
    missing_scope: str | None = None


class Condition(StrEnum):
    """What a rule may ask about the target of an action."""

    PATH_INSIDE_WORKSPACE = "path_inside_workspace"
    HOST_ON_ALLOWLIST = "host_on_allowlist"
    TARGET_ISOLATED = "target_isolated"


class Rule(NamedTuple):
    """The decision for one side-effect class; `otherwise` where `condition` does not hold."""

    decision: PolicyEffect
    condition: Condition | None = None
    otherwise: PolicyEffect = PolicyEffect.DENY


class TrustOverlay(NamedTuple):
    """An action whose origin is worth no more than `at_or_below` needs an approval, unless its
    class is `exempt`."""

    at_or_below: TrustLevel
    exempt: frozenset[SideEffectClass]


class RuleSet:
    """A policy profile as the evaluator uses it: one rule for each class. It does not change.

    `version` is `name@` and twelve hexadecimal digits of a hash over everything that decides.
    """

    def __init__(
        self,
        name: str,
        rules: Mapping[SideEffectClass, Rule],
        overlay: TrustOverlay,
        allowed_hosts: Iterable[str] = (),
    ) -> None:
        """Raises `ValueError` that names the classes without a rule, if there are any."""
        missing = [side_effect for side_effect in SideEffectClass if side_effect not in rules]
        if missing:
            raise ValueError(f"{name}: no rule for {', '.join(missing)}")
        self.name = name
        self.rules = MappingProxyType({one: rules[one] for one in SideEffectClass})
        self.overlay = overlay
        self.allowed_hosts = frozenset(allowed_hosts)
        self.version = f"{name}@{sha256_hex(canonical_json(self._content()))[:12]}"

    def _content(self) -> list[object]:
        return [
            self.rules.copy(),
            self.overlay.at_or_below,
            sorted(self.overlay.exempt),
            sorted(self.allowed_hosts),
        ]


def evaluate(action: ProposedAction, principal: Principal, rules: RuleSet) -> PolicyDecision:
    """The decision for `action`: equal arguments give equal decisions.

    The risk of an action never takes part. `REQUIRE_APPROVAL` is an answer about the action and
    not about whether anybody can approve it: where nobody can, the caller denies.
    """
    missing = missing_scope(action.required_scopes, principal.scopes)
    if missing is not None:
        return PolicyDecision(PolicyEffect.DENY, "policy.scope.missing", rules.version, missing)
    decision = _by_class(action, rules)
    for further in (_by_origin(action, rules), _by_conversation(action, rules)):
        if further is not None:
            decision = combine(decision, further)
    return decision


def missing_scope(required: frozenset[str], held: frozenset[str]) -> str | None:
    """The first scope, by name, that is required and not held."""
    return min(required - held, default=None)


def combine(first: PolicyDecision, second: PolicyDecision) -> PolicyDecision:
    """The more restrictive of two decisions, and of two alike the first."""
    return second if second.effect.rank > first.effect.rank else first


def _by_class(action: ProposedAction, rules: RuleSet) -> PolicyDecision:
    rule = rules.rules[action.side_effect]
    effect = rule.decision
    if rule.condition is not None and not _holds(rule.condition, action.target, rules):
        effect = rule.otherwise
    return PolicyDecision(effect, f"policy.matrix.{action.side_effect}", rules.version)


def _by_origin(action: ProposedAction, rules: RuleSet) -> PolicyDecision | None:
    overlay = rules.overlay
    if action.side_effect in overlay.exempt:
        return None
    if not action.origin_trust.is_at_or_below(overlay.at_or_below):
        return None
    return PolicyDecision(
        PolicyEffect.REQUIRE_APPROVAL, "policy.trust.untrusted_origin", rules.version
    )


def _by_conversation(action: ProposedAction, rules: RuleSet) -> PolicyDecision | None:
    """The exfiltration interlock, which no profile can switch off: with private and untrusted
    content in one conversation, the latter may have asked to send out the former."""
    conversation = action.conversation
    if not (conversation.is_private and conversation.is_untrusted):
        return None
    if action.side_effect not in OUTBOUND:
        return None
    return PolicyDecision(PolicyEffect.DENY, "policy.trust.exfiltration_blocked", rules.version)


def _holds(condition: Condition, target: Target, rules: RuleSet) -> bool:
    if condition is Condition.PATH_INSIDE_WORKSPACE:
        return bool(target.paths) and all(map(is_inside_workspace, target.paths))
    if condition is Condition.HOST_ON_ALLOWLIST:
        return bool(target.hosts) and rules.allowed_hosts.issuperset(target.hosts)
    return target.is_isolated


def is_inside_workspace(path: str) -> bool:
    """Whether `path`, taken as it is written, names something below the workspace.

    Links are not followed here: what a path leads to is for those who open it.
    """
    if "\0" in path or len(path.encode("utf-8", "surrogatepass")) > _MAXIMUM_PATH_BYTES:
        return False
    return all(
        part not in ("", ".", "..")
        and len(part.encode("utf-8", "surrogatepass")) <= _MAXIMUM_COMPONENT_BYTES
        for part in path.split("/")
    )
