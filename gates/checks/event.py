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


def exactly_once(context: PropertyContext) -> None:
    """Lets two workers race for a run, in generated orders, while leases run out."""
    from gates.checks import event_workers

    event_workers.check_exactly_once(context)


def crash_recovery(context: PropertyContext) -> None:
    """Kills a worker behind a checkpoint, and lets another one go on."""
    from gates.checks import event_workers

    event_workers.check_crash_recovery(context)


def checkpoint_dispensable(context: PropertyContext) -> None:
    """Kills workers, and deletes every checkpoint before another one goes on."""
    from gates.checks import event_workers

    event_workers.check_dispensable(context)
