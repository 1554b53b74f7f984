"""The repository's own identity files, and what a deployment does with them when it starts."""

from pathlib import Path

import pytest

from agent_core.adapters.configuration.deployment import read_identity
from agent_core.application.inline import run_inline
from agent_core.bootstrap import build_pinned_runtime, load_identity, start_deployment
from agent_core.domain.deployment import ConfigurationRefused, DeploymentMode
from agent_core.domain.model_script import FinalTurn, ScriptedToolCall, ToolCallsTurn
from agent_core.domain.policy import Condition, PolicyEffect, Rule
from agent_core.domain.scopes import Scope
from agent_core.domain.tools import SideEffectClass
from agent_core.domain.trust import TrustLevel

CONFIG = "config/deployment.yaml"
EVALUATION = "evals/identity"
DEVELOPMENT = DeploymentMode.DEVELOPMENT
OUTSIDE = [mode for mode in DeploymentMode if mode is not DEVELOPMENT]

ALLOW, APPROVAL, DENY = (
    Rule(PolicyEffect(effect)) for effect in ("allow", "require_approval", "deny")
)
MATRIX = {
    "none": ALLOW,
    "workspace_read": Rule(PolicyEffect.ALLOW, Condition.PATH_INSIDE_WORKSPACE),
    "workspace_write": Rule(PolicyEffect.ALLOW, Condition.PATH_INSIDE_WORKSPACE),
    "network_read": Rule(PolicyEffect.ALLOW, Condition.HOST_ON_ALLOWLIST),
    "code_execution": Rule(PolicyEffect.ALLOW, Condition.TARGET_ISOLATED),
    "package_install": DENY,
    "sandbox_network": DENY,
    "external_message": APPROVAL,
    "external_write": APPROVAL,
    "external_delete": APPROVAL,
    "financial": APPROVAL,
    "publication": APPROVAL,
    "credential_access": DENY,
    "host_access": DENY,
    "privileged": DENY,
}
PROFILES = {
    "default": ("config/identity", MATRIX),
    "eval.default": (EVALUATION, MATRIX),
    "eval.permissive": (EVALUATION, MATRIX | {"external_write": ALLOW}),
}
TALKING = {"session.read", "session.write", "run.read", "run.write", "run.cancel"}
PRINCIPALS = {
    "eval.standard": set(Scope) - {"approval.resolve", "review.resolve"},
    "eval.restricted": TALKING,
    "eval.approver": {"approval.read", "approval.resolve"},
}


@pytest.mark.parametrize("name", PROFILES)
def test_each_profile_says_what_the_matrix_of_the_spec_says(name):
    root, matrix = PROFILES[name]
    profile = read_identity(root, DEVELOPMENT).profiles[name]
    assert dict(profile.rules) == matrix
    assert profile.allowed_hosts == frozenset()
    assert profile.overlay == (
        TrustLevel.EXTERNAL_UNTRUSTED,
        {SideEffectClass.NONE, SideEffectClass.WORKSPACE_READ, SideEffectClass.NETWORK_READ},
    )


def test_the_identity_of_evaluations_is_exactly_this():
    identity = load_identity(EVALUATION, DEVELOPMENT)
    assert set(identity.policies) == {"eval.default", "eval.permissive"}
    found = identity.principals
    assert {name: set(one.scopes) for name, one in found.items()} == PRINCIPALS
    assert {name: one.id for name, one in found.items()} == {name: name for name in PRINCIPALS}
    assert {one.tenant_id for one in found.values()} == {"tenant_eval"}


class Unused:
    """A model that nobody may so much as look at."""

    def __getattribute__(self, name):
        raise AssertionError(f"{name} of the model was used")


@pytest.mark.parametrize("mode", OUTSIDE)
def test_outside_development_a_start_on_the_evaluation_data_names_what_it_met(mode, tmp_path):
    file = tmp_path / "deployment.yaml"
    file.write_text(
        f"schema_version: 1\nmode: {mode}\nidentity: {EVALUATION}\nprofile: eval.permissive\n"
    )
    with pytest.raises(ConfigurationRefused) as caught:
        start_deployment(str(file), model=Unused())
    found = sorted(
        (problem.rule.removeprefix("deployment.evaluation_"), problem.message.split("'")[1])
        for problem in caught.value.problems
    )
    names = [("principal", name) for name in PRINCIPALS]
    names += [("profile", name) for name in PROFILES if name.startswith("eval.")]
    assert found == sorted(names + [("tenant", "tenant_eval")] * len(PRINCIPALS))
    for problem in caught.value.problems:
        assert problem.message.endswith(
            f"; allowed in the mode development only, and this is {mode}"
        )
        line = Path(problem.path).read_text().splitlines()[problem.line - 1]
        assert line[problem.column - 1 :].startswith(problem.message.split("'")[1])


@pytest.mark.parametrize("variable", ["AGENT_MODE", "MODE", "ENV", "PYTEST_CURRENT_TEST", "CI"])
def test_no_variable_makes_it_development(variable, monkeypatch):
    monkeypatch.setenv(variable, "development")
    with pytest.raises(ConfigurationRefused):
        load_identity(EVALUATION, DeploymentMode.PRODUCTION)


@pytest.mark.parametrize(
    ("principal", "profile", "reason", "started"),
    [
        ("eval.standard", "eval.default", "policy.approval.unavailable", False),
        ("eval.standard", "eval.permissive", "tool.succeeded", True),
        ("eval.restricted", "eval.permissive", "policy.scope.missing", False),
        ("eval.approver", "eval.permissive", "policy.scope.missing", False),
    ],
)
def test_profile_and_principal_decide_about_an_external_write(principal, profile, reason, started):
    identity = load_identity(EVALUATION, DEVELOPMENT)
    arguments = '{"destination": "somewhere", "content": "text"}'
    call = ScriptedToolCall("call_1", "demo.external_write", arguments)
    runtime = build_pinned_runtime(
        turns=[ToolCallsTurn((call,)), FinalTurn("Done.")],
        seed="deployment",
        policy=identity.policies[profile],
    ).runtime

    async def go():
        session = await runtime.open_session(identity.principals[principal])
        run = await runtime.run_until_terminal(await runtime.submit(session.id, "Please."))
        return await runtime.invocations(run.id)

    (row,) = run_inline(go())
    assert row.outcome.reason_code == reason
    assert (row.started_at is not None) is started


def test_the_shipped_deployment_starts_in_production():
    deployment = start_deployment(CONFIG, model=Unused())
    assert deployment.mode is DeploymentMode.PRODUCTION
    assert set(deployment.principals) == {"local.user"}
    assert deployment.principals["local.user"].tenant_id == "tenant_default"
