"""The counterexamples of the area event."""

from __future__ import annotations

from agent_core.adapters.in_memory.repositories import InMemoryEventRepository
from agent_core.adapters.sql.event_log import SqlEventRepository
from agent_core.adapters.sql.projections import SqlProjectionRepository
from agent_core.adapters.sql.unit_of_work import SqlUnitOfWork
from agent_core.application import projector
from agent_core.application.projector import Projector
from agent_core.domain import upcasting
from gates.defects.event_workers import (  # noqa: F401
    answer_published_again,
    claimed_while_running,
    counters_not_restored,
    delta_read_alone,
    epoch_not_compared,
    every_checkpoint_full,
    expired_run_left_alone,
    fence_left_out,
    fenced_under_another_epoch,
    fencing_not_told,
    handled_calls_not_counted,
    log_not_cut_at_seed,
    proposals_logged_again,
    recorded_turns_not_read,
    results_out_of_order,
    resumed_without_checkpoint,
    start_recorded_each_time,
    unknown_call_repeated,
)
from hardgate.kinds.bench import Bench
from hardgate.kinds.code_edits import edited

# sequence_integrity


def sequence_not_counted_on(bench: Bench) -> None:
    """Every event of a session gets the sequence of the first."""
    edit = edited("self._next_sequence[event.session_id] = sequence + 1", "pass")
    bench.replace(InMemoryEventRepository, "append", edit)


def counter_not_raised(bench: Bench) -> None:
    """The counter in the database stays where it is."""
    bench.replace(SqlEventRepository, "_count", edited("last + events", "last"))


def undone_event_kept(bench: Bench) -> None:
    """A rollback leaves the event in the log."""
    bench.replace(InMemoryEventRepository, "append", edited("self._undo.record(log.pop)", "pass"))


def commit_left_out(bench: Bench) -> None:
    """A unit of work closes its connection without a commit."""
    bench.replace(SqlUnitOfWork, "__aexit__", edited("commit(connection)", "pass"))


def read_in_order_of_ids(bench: Bench) -> None:
    """The log is read in the order of the events' ids."""
    edit = edited("order_by(EVENTS.c.sequence)", "order_by(EVENTS.c.id)")
    bench.replace(SqlEventRepository, "list_for_session", edit)


def position_one_too_far(bench: Bench) -> None:
    """A state says that it is one event further than it is."""
    edit = edited("position = event.sequence", "position = event.sequence + 1")
    bench.replace(projector, "folded", edit)


def sessions_with_a_state_passed_over(bench: Bench) -> None:
    """Only sessions without a state count as behind."""
    edit = edited("        beyond,\n", "")
    bench.replace(SqlProjectionRepository, "list_behind", edit)


# projection_determ


def event_after_state_skipped(bench: Bench) -> None:
    """Bringing a state forward leaves out the first event that follows it."""
    edit = edited("event.sequence > after", "event.sequence > after + (after > 0)")
    bench.replace(InMemoryEventRepository, "list_for_session", edit)


def position_not_kept(bench: Bench) -> None:
    """A state is stored without its position, so its events are taken again."""
    bench.replace(projector, "folded", edited(", position=position)", ")"))


def older_version_kept(bench: Bench) -> None:
    """A state that an earlier version of the projection built is continued."""
    edit = edited(
        "found is None or found.builder_version != projection.builder_version", "found is None"
    )
    bench.replace(Projector, "_catch_up", edit)


def state_forgotten_between(bench: Bench) -> None:
    """What was built before is dropped when events are added to it."""
    bench.replace(projector, "folded", edited("= start.state, start", "= {}, start"))


def events_taken_again(bench: Bench) -> None:
    """Bringing a state forward starts from the first event every time."""
    bench.replace(Projector, "_catch_up", edited("after=found.position", "after=0"))


# upcaster_totality


def upcaster_result_dropped(bench: Bench) -> None:
    """What the upcaster returns is thrown away."""
    bench.replace(upcasting, "decoded", edited("payload = one.upcast", "one.upcast"))


def first_upcaster_left_out(bench: Bench) -> None:
    """The chain starts one version too late."""
    bench.replace(upcasting, "decoded", edited("past[version - 1 :]", "past[version:]"))


def newer_version_guessed(bench: Bench) -> None:
    """A version from the future is read as if it were the present one."""
    edit = edited("if version == current:", "if version >= current:")
    bench.replace(upcasting, "decoded", edit)


def version_not_raised(bench: Bench) -> None:
    """A payload in today's shape still carries its old version."""
    edit = edited(", payload_schema_version=current)", ")")
    bench.replace(upcasting, "decoded", edit)


def old_version_refused(bench: Bench) -> None:
    """Only the present version is read."""
    bench.replace(upcasting, "decoded", edited("1 <= version < current", "version == current"))
