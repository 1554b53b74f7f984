"""That the tables tell: workers with a defect, killed after an effect that must not be repeated."""

from pathlib import Path

import pytest

from agent_core.domain.tools import IdempotencyClass
from tests.resilience.postgres.fleet import Fleet
from tests.resilience.postgres.worker_process import Kill
from tests.resilience.simulator.defects import DEFECTS
from tests.resilience.world import after_effect
from tests.support import postgres

POINT = after_effect(IdempotencyClass.NON_IDEMPOTENT)
KILLS = 16
SESSIONS = 10


@pytest.mark.parametrize(
    "name", ["a call with an unknown effect is executed again", "no review is opened"]
)
def test_a_defect_breaks_its_rule(name: str, tmp_path: Path) -> None:
    with DEFECTS[name].patch(), postgres.server() as server:
        fleet = Fleet(
            server.url("app", server.fresh_database()),
            name,
            tmp_path,
            sessions=SESSIONS,
            kill_for=lambda number: Kill(POINT, 1) if number < KILLS else None,
        )
        fleet.work()
        found = fleet.violations()
    assert DEFECTS[name].rule in {violation.rule for violation in found}
