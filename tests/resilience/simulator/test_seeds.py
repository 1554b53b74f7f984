"""The seeds that failed once; or the one that a variable names, if it does."""

import os
from pathlib import Path

import pytest
import yaml

from tests.resilience.simulator import campaign
from tests.resilience.simulator.defects import DEFECTS

KEPT = yaml.safe_load(Path("tests/resilience/seeds.yaml").read_text(encoding="utf-8"))
NAMED = os.environ.get(campaign.SEED)
CATCHING = [entry for entry in KEPT if "catches" in entry]
assert CATCHING, "no kept seed says what it catches"


@pytest.mark.parametrize("seed", [NAMED] if NAMED else [entry["seed"] for entry in KEPT])
def test_it_holds_now(seed: str) -> None:
    told, _ = campaign.play(seed)
    assert not told, told


@pytest.mark.parametrize("entry", CATCHING, ids=[entry["seed"] for entry in CATCHING])
def test_it_fails_with_what_was_wrong_then(entry: dict[str, str]) -> None:
    defect = DEFECTS[entry["catches"]]
    with defect.patch():
        told, _ = campaign.play(entry["seed"])
    assert f"  {defect.rule}: " in told
