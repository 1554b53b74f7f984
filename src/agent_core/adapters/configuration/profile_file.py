"""A policy profile as a file; docs/specs/policy.md, "Profiles", tells what it holds."""

from __future__ import annotations

import os
import re

from agent_core.adapters.configuration.checker import NAME, Checker, Form
from agent_core.adapters.configuration.yaml_reader import Document, Keys
from agent_core.domain.policy import Condition, PolicyEffect, Rule, RuleSet, TrustOverlay
from agent_core.domain.tools import SideEffectClass
from agent_core.domain.trust import TrustLevel

SUFFIX = ".yaml"

_LABEL = "[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?"
_HOST = Form(
    re.compile(rf"{_LABEL}(\.{_LABEL})+"), "a host name such as api.example.org, in lower case"
)
# A rule cannot say which modifications to make, so it cannot ask for them.
_DECISIONS = (PolicyEffect.ALLOW, PolicyEffect.REQUIRE_APPROVAL, PolicyEffect.DENY)


def parse_profile(document: Document) -> RuleSet:
    """The rule set that a file `<name>.yaml` describes.

    Raises `ConfigurationRefused` unless the file has every key, exactly one rule for each
    side-effect class, and nothing else.
    """
    checker = Checker(document)
    checker.keys((), ("schema_version", "name", "rules", "host_allowlist", "trust_overlay"))
    checker.schema_version()
    name = checker.text(("name",), NAME)
    stem = os.path.basename(document.path).removesuffix(SUFFIX)
    if name and name != stem:
        message = f"found {name!r}; allowed: {stem!r}, as the file is named"
        checker.complain(("name",), "profile.file_name", message)
    checker.keys(("rules",), tuple(SideEffectClass))
    rules = {one: _rule(checker, ("rules", one)) for one in SideEffectClass}
    hosts = checker.each(("host_allowlist",), lambda at: checker.text(at, _HOST))
    overlay = _overlay(checker, ("trust_overlay",))
    checker.finish()
    return RuleSet(name, rules, overlay, hosts)


def _rule(checker: Checker, at: Keys) -> Rule:
    found = checker.keys(at, ("decision",), ("condition", "otherwise"))
    decision = checker.choice((*at, "decision"), PolicyEffect, _DECISIONS)
    condition = checker.choice((*at, "condition"), Condition)
    otherwise = checker.choice((*at, "otherwise"), PolicyEffect, _DECISIONS)
    given = found & {"condition", "otherwise"}
    if len(given) == 1:
        message = f"found {min(given)} alone; allowed: condition and otherwise, or none of them"
        checker.complain(at, "profile.incomplete_rule", message)
    if "otherwise" in found and otherwise.rank <= decision.rank:
        message = f"found {decision}, otherwise {otherwise}; allowed: what is more restrictive"
        checker.complain((*at, "otherwise"), "profile.lenient_otherwise", message)
    return Rule(decision, condition, otherwise) if given else Rule(decision)


def _overlay(checker: Checker, at: Keys) -> TrustOverlay:
    checker.keys(at, ("at_or_below", "exempt"))
    return TrustOverlay(
        checker.choice((*at, "at_or_below"), TrustLevel),
        checker.each((*at, "exempt"), lambda item: checker.choice(item, SideEffectClass)),
    )
