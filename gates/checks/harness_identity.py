"""The identity of evaluations at start-up: who and what a deployment refuses outside development.

A trial writes the files of a deployment and starts it as an entry point does. A second property
starts deployments whose files are those of the suite itself.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple
from unittest import mock

from agent_core import bootstrap
from agent_core.adapters.determinism.clocks import PinnedClock
from agent_core.adapters.models.scripted import ScriptedModelProvider
from agent_core.domain.deployment import ConfigurationProblem, ConfigurationRefused
from agent_core.domain.tools import SideEffectClass
from hardgate.documents.tree import Tree
from hardgate.kinds.checking import require
from hardgate.kinds.property import PropertyContext

ROOT = "evals/identity"
MODES = ("development", "staging", "production")
_PREFIX, _TENANT = "eval.", "tenant_eval"
# Beginning like the names of evaluations and being none: a prefix is compared, not a likeness.
_NAMES = ("eval.standard", "eval.x", "eval", "evaluator", "evals.reader", "team.eval.reader", "ops")
_TENANTS = ("tenant_eval", "tenant_default", "tenant_evaluation", "tenant_eval_2", "eval")


class Identity(NamedTuple):
    """Principals with their tenants, and the names of profiles."""

    principals: tuple[tuple[str, str], ...]
    profiles: tuple[str, ...]

    def of_evaluations(self) -> list[tuple[str, str]]:
        """What belongs to evaluations: its kind and its name."""
        found = [("principal", one) for one, _ in self.principals if one.startswith(_PREFIX)]
        found += [("tenant", tenant) for _, tenant in self.principals if tenant == _TENANT]
        return found + [("profile", one) for one in self.profiles if one.startswith(_PREFIX)]

    def write(self, folder: Path) -> None:
        lines = [f"  {name}: {{tenant: {tenant}, scopes: []}}" for name, tenant in self.principals]
        text = "schema_version: 1\nprincipals:\n" + "\n".join(lines)
        _write(folder / "principals.yaml", text)
        for name in self.profiles:
            _write(folder / "profiles" / f"{name}.yaml", _profile(name))


def check(context: PropertyContext) -> None:
    from hypothesis import strategies as st

    names, tenants = st.sampled_from(_NAMES), st.sampled_from(_TENANTS)
    principals = st.lists(
        st.tuples(names, tenants), min_size=1, max_size=3, unique_by=lambda one: one[0]
    )
    identities = st.builds(
        Identity,
        principals.map(tuple),
        st.lists(names, min_size=1, max_size=3, unique=True).map(tuple),
    )
    unknown = st.sampled_from(["prod", "dev", "Development", "test", "development2"])
    modes = st.one_of(st.sampled_from(MODES), st.sampled_from(MODES), unknown)
    context.for_all(
        evaluations_start_in_development_only,
        mode=modes,
        identity=identities,
        pick=st.integers(0, 2),
    )
    roots = _roots(context.tree)

    def evaluation_root_is_refused(mode: str, more: Identity) -> None:
        start_root(roots, mode, more)

    context.for_all(evaluation_root_is_refused, mode=st.sampled_from(MODES), more=identities)


def evaluations_start_in_development_only(mode: str, identity: Identity, pick: int) -> None:
    """In no other mode does anything of evaluations load, and each such name is told."""
    profile = identity.profiles[pick % len(identity.profiles)]
    with tempfile.TemporaryDirectory(dir=os.environ.get("TEST_TMPDIR")) as scratch:
        identity.write(Path(scratch, "identity"))
        problems, built = _start(Path(scratch), "identity", mode, profile)
    if mode not in MODES:
        require(problems and not built, "unknown_mode_started", f"started in the mode {mode}")
        return
    forbidden = [] if mode == "development" else identity.of_evaluations()
    _require_refusal(problems, forbidden)
    require(
        bool(built) is not bool(problems),
        "started_in_part",
        f"built {built} beside {_told(problems)}",
    )
    if not forbidden:
        require(not problems, "ordinary_identity_refused", f"refused for {_told(problems)}")


def start_root(roots: Sequence[tuple[str, bytes]], mode: str, more: Identity) -> None:
    """The files of the suite's own identity, alone or among a deployment's own, start nothing."""
    with tempfile.TemporaryDirectory(dir=os.environ.get("TEST_TMPDIR")) as scratch:
        folder = Path(scratch, "identity")
        ordinary = [one for one in more.profiles if not one.startswith(_PREFIX)]
        Identity(more.principals, tuple(ordinary)).write(folder)
        for path, data in roots:
            place = folder / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(data)
        problems, built = _start(Path(scratch), "identity", mode, "eval.default")
    if mode == "development":
        require(not problems, "ordinary_identity_refused", f"refused for {_told(problems)}")
        return
    require(problems and not built, "evaluation_root_started", f"started in the mode {mode}")
    told = " ".join(problem.message for problem in problems)
    for name in ("eval.standard", "eval.default", _TENANT):
        require(name in told, "name_not_told", f"{name} is not told in: {told}")


def _told(problems: Sequence[ConfigurationProblem]) -> list[str]:
    """What problems say, without the folder of this trial."""
    return [f"{one.rule}: {one.message}" for one in problems]


def _require_refusal(
    problems: Sequence[ConfigurationProblem], forbidden: Sequence[tuple[str, str]]
) -> None:
    for kind, name in forbidden:
        of_kind = [one for one in problems if one.rule == f"deployment.evaluation_{kind}"]
        require(of_kind, f"eval_{kind}_loaded", f"the {kind} {name} is not refused")
        require(
            any(name in one.message for one in of_kind),
            "name_not_told",
            f"the {kind} {name} is told in none of {_told(of_kind)}",
        )


def _start(
    scratch: Path, root: str, mode: str, profile: str
) -> tuple[tuple[ConfigurationProblem, ...], int]:
    """Starts a deployment: why it is refused, and how many runtimes were built on the way."""
    text = f"schema_version: 1\nmode: {mode}\nidentity: {scratch / root}\nprofile: {profile}\n"
    _write(scratch / "deployment.yaml", text)
    model = ScriptedModelProvider([], PinnedClock(bootstrap.PINNED_START))
    with mock.patch.object(bootstrap, "build_runtime", wraps=bootstrap.build_runtime) as build:
        try:
            bootstrap.start_deployment(str(scratch / "deployment.yaml"), model=model)
        except ConfigurationRefused as refused:
            return refused.problems, build.call_count
    return (), build.call_count


def _roots(tree: Tree) -> list[tuple[str, bytes]]:
    """The files of the suite's identity, by their paths below it."""
    paths = tree.glob(f"{ROOT}/**")
    require(paths, "evaluation_root_missing", f"there is no file below {ROOT}")
    return [(path.removeprefix(f"{ROOT}/"), tree.read(path)) for path in paths]


def _profile(name: str) -> str:
    rules = "\n".join(f"  {one}: {{decision: deny}}" for one in SideEffectClass)
    overlay = "trust_overlay: {at_or_below: external_untrusted, exempt: []}"
    return f"schema_version: 1\nname: {name}\nrules:\n{rules}\nhost_allowlist: []\n{overlay}\n"


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
