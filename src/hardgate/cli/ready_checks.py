"""What a new gate with a ready check begins with: options to fill in, and a reason to expect."""

from __future__ import annotations

from typing import NamedTuple


class Beginning(NamedTuple):
    """`options` are the lines below `options:`; `reason` is a rule of the check's findings.

    The options are accepted as they stand, but name modules that no workspace has: until they are
    filled in, the gate fails with `unknown_module`, `callable_missing` or `unused_exception`.
    """

    options: tuple[str, ...]
    reason: str


BEGINNINGS = {
    "committed_secrets": Beginning(
        ("allowances: gates/allowances/secrets.yaml",), "assigned_secret"
    ),
    "forbidden_calls": Beginning(
        (
            "roots: [src]",
            "modules: [fill_in]",
            "calls:",
            "  - names: [subprocess, os.system]",
            "    reason: Say in a sentence why not.",
        ),
        "forbidden_call",
    ),
    "forbidden_imports": Beginning(
        (
            "roots: [src]",
            "imports:",
            "  - importers: [fill_in.domain]",
            "    forbidden: [fill_in.adapters]",
            "    reason: Say in a sentence why not.",
        ),
        "forbidden_import",
    ),
    "import_layers": Beginning(
        ("roots: [src]", "layers: [[fill_in.domain], [fill_in.adapters]]"), "layer_order"
    ),
    "no_ambient_time": Beginning(
        ("roots: [src]", "modules: [fill_in]", "allowed_in: [fill_in.clocks]"), "ambient_time"
    ),
    "one_caller_only": Beginning(
        (
            "roots: [src]",
            "callables:",
            "  - name: fill_in.runs.finish",
            "    callers: [fill_in.loop]",
        ),
        "other_caller",
    ),
}
