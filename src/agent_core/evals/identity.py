"""Who runs a case, and under which policy: data, not a mode of the runtime."""

from __future__ import annotations

from agent_core.domain.sessions import Principal

# No builtin tool requires a scope yet, so the standard principal needs none.
PRINCIPALS = {"eval.standard": Principal("eval.standard")}

# The one policy that the bootstrap composes: allow what has no side effect, deny everything else.
POLICY_PROFILES = frozenset({"eval.default"})
