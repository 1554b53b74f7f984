"""The counterexamples of gate.harness.no_eval_in_prod."""

from __future__ import annotations

from types import ModuleType

from hardgate.kinds.bench import Bench
from hardgate.kinds.code_edits import edited


def _deployment() -> ModuleType:
    # Imported here: the other counterexamples of the area must not pay for the runtime.
    from agent_core.adapters.configuration import deployment

    return deployment


def staging_counts_as_development(bench: Bench) -> None:
    """Only production is strict."""
    from agent_core.domain.deployment import DeploymentMode

    edit = edited("self is DeploymentMode.DEVELOPMENT", "self is not DeploymentMode.PRODUCTION")
    bench.replace(DeploymentMode, "has_evaluation", edit)


def profile_let_through(bench: Bench) -> None:
    """A profile is looked at in production only."""
    edit = edited("not mode.has_evaluation", "mode is DeploymentMode.PRODUCTION")
    bench.replace(_deployment(), "_read_profile", edit)


def principal_let_through(bench: Bench) -> None:
    """The prefix of evaluations is compared with the whole name."""
    edit = edited("one.id.startswith(EVALUATION_PREFIX)", "one.id == EVALUATION_PREFIX")
    bench.replace(_deployment(), "_read_principals", edit)


def tenant_let_through(bench: Bench) -> None:
    """The tenant of evaluations is refused to principals of evaluations only."""
    edit = edited(
        "if one.tenant_id == EVALUATION_TENANT:",
        "if one.tenant_id == EVALUATION_TENANT and one.id.startswith(EVALUATION_PREFIX):",
    )
    bench.replace(_deployment(), "_read_principals", edit)


def prefix_without_dot(bench: Bench) -> None:
    """Every name that begins with "eval" is refused."""
    edit = edited("profile.name.startswith(EVALUATION_PREFIX)", 'profile.name.startswith("eval")')
    bench.replace(_deployment(), "_read_profile", edit)


def name_left_out(bench: Bench) -> None:
    """The refusal says what kind of thing it met, and not which."""
    bench.replace(_deployment(), "_evaluation", edited("the {what} {name!r}", "a {what}"))


def built_before_read(bench: Bench) -> None:
    """The runtime is built, and then the files are read."""
    from agent_core import bootstrap

    edit = edited(
        "rules = load_deployment(path)",
        "runtime = build_runtime(model=model)\n    rules = load_deployment(path)",
    )
    bench.replace(bootstrap, "start_deployment", edit)
