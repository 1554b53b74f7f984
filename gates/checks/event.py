"""The checks of the area event; docs/specs/event_log.md declares the gates."""

from __future__ import annotations

from hardgate.kinds.property import PropertyContext


def sequence_integrity(context: PropertyContext) -> None:
    """Appends to some sessions from several sides, and takes a part of it back."""
    from gates.checks import event_sequences

    event_sequences.check(context)


def projection_determ(context: PropertyContext) -> None:
    """Brings projections forward over recorded logs, cut anywhere, and builds them anew."""
    from gates.checks import event_projections

    event_projections.check(context)


def upcaster_totality(context: PropertyContext) -> None:
    """Reads recorded and generated payloads of every past version, and of versions to come."""
    from gates.checks import event_payloads

    event_payloads.check(context)
