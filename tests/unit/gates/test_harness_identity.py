"""What of a deployment's start counts as a refusal of everything that belongs to evaluations."""

import pytest

from agent_core.domain.deployment import ConfigurationProblem
from gates.checks import harness_identity
from gates.checks.harness_identity import (
    Identity,
    evaluations_start_in_development_only,
    start_root,
)
from hardgate.kinds.checking import Violation

EVALUATIONS = Identity((("eval.a", "tenant_eval"),), ("eval.b",))
ORDINARY = Identity((("evaluator", "tenant_eval_2"),), ("evals.b",))
NAMES = {"principal": "eval.a", "tenant": "tenant_eval", "profile": "eval.b"}


def problem(kind, name):
    return ConfigurationProblem("a.yaml", 1, 1, f"deployment.evaluation_{kind}", f"found {name}")


ALL = [problem(kind, name) for kind, name in NAMES.items()]


def rule_of(monkeypatch, problems, built, mode="production", identity=EVALUATIONS):
    monkeypatch.setattr(harness_identity, "_start", lambda *_: (tuple(problems), built))
    with pytest.raises(Violation) as violation:
        evaluations_start_in_development_only(mode, identity, 0)
    return violation.value.rule


@pytest.mark.parametrize("mode", ["development", "staging", "production", "prod"])
@pytest.mark.parametrize("identity", [EVALUATIONS, ORDINARY])
def test_the_real_start_up_holds(mode, identity):
    evaluations_start_in_development_only(mode, identity, 0)


@pytest.mark.parametrize("kind", NAMES)
@pytest.mark.parametrize("mode", ["staging", "production"])
def test_what_is_let_through_has_its_own_rule(monkeypatch, kind, mode):
    others = [one for one in ALL if not one.rule.endswith(kind)]
    assert rule_of(monkeypatch, others, 0, mode) == f"eval_{kind}_loaded"


def test_a_refusal_that_names_nothing_is_found(monkeypatch):
    told = [one._replace(message="found a name") for one in ALL]
    assert rule_of(monkeypatch, told, 0) == "name_not_told"


def test_a_start_in_part_is_found(monkeypatch):
    assert rule_of(monkeypatch, ALL, 1) == "started_in_part"
    assert rule_of(monkeypatch, (), 0, "development") == "started_in_part"


def test_an_ordinary_identity_that_is_refused_is_found(monkeypatch):
    refused = [problem("profile", "evals.b")]
    assert rule_of(monkeypatch, refused, 0, identity=ORDINARY) == "ordinary_identity_refused"


def test_an_unknown_mode_that_starts_is_found(monkeypatch):
    assert rule_of(monkeypatch, (), 1, "prod") == "unknown_mode_started"


ROOTS = [("profiles/eval.default.yaml", harness_identity._profile("eval.default").encode())]


@pytest.mark.parametrize(
    ("mode", "problems", "built", "rule"),
    [
        ("production", (), 1, "evaluation_root_started"),
        ("staging", ALL, 1, "evaluation_root_started"),
        ("production", ALL, 0, "name_not_told"),
        ("development", ALL, 0, "ordinary_identity_refused"),
    ],
)
def test_the_root_of_evaluations_starts_nothing(monkeypatch, mode, problems, built, rule):
    monkeypatch.setattr(harness_identity, "_start", lambda *_: (tuple(problems), built))
    with pytest.raises(Violation) as violation:
        start_root(ROOTS, mode, ORDINARY)
    assert violation.value.rule == rule
