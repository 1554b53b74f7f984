"""The counterexamples of the area event."""

from __future__ import annotations

from agent_core.adapters.in_memory.repositories import InMemoryEventRepository
from agent_core.application import projector
from agent_core.application.projector import Projector
from agent_core.domain import upcasting
from hardgate.kinds.bench import Bench
from hardgate.kinds.code_edits import edited

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
