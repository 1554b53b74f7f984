"""The checks of the area tool; docs/specs/tool_system.md declares the gates."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hardgate.kinds.property import PropertyContext

if TYPE_CHECKING:
    from hardgate.kinds.corpus import CorpusContext


def registration_valid(context: PropertyContext) -> None:
    """Starts a runtime with sound tools, and with tools that have one fault."""
    from gates.checks import tool_registration

    tool_registration.check(context)


def reserved_domains(context: PropertyContext) -> None:
    """Starts a runtime with builtins under the names of remote tools."""
    from gates.checks import tool_registration

    tool_registration.check_reserved(context)


def forced_trust(context: PropertyContext) -> None:
    """Registers and runs tools from everywhere that ask for every label."""
    from gates.checks import tool_trust

    tool_trust.check(context)


def watermark_first(context: PropertyContext) -> None:
    """Runs tools that act on the world before, after and without setting the watermark."""
    from gates.checks import tool_watermark

    tool_watermark.check(context)


def outcome_shape(context: PropertyContext) -> None:
    """Brings calls to every ending and looks at what the model is told."""
    from gates.checks import tool_outcome

    tool_outcome.check(context)


def no_external_text(context: CorpusContext) -> None:
    """Brings texts from outside to every place where a call can fail, and looks for them."""
    from gates.checks import tool_external_text

    tool_external_text.check(context)


def normalization_stable(context: PropertyContext) -> None:
    """Spells generated arguments in other ways, and changes them slightly."""
    from gates.checks import tool_canonical

    tool_canonical.check(context)


def crash_recovery(context: PropertyContext) -> None:
    """Kills workers everywhere on a call's way, and lets others take it up."""
    from gates.checks import tool_crashes

    tool_crashes.check(context)


def dedup_concurrent(context: PropertyContext) -> None:
    """Submits a call several times at once, and calls that are nearly the same."""
    from gates.checks import tool_submissions

    tool_submissions.check(context)
