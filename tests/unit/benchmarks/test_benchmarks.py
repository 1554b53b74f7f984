"""What the benchmark programs make of a Bazel profile, and how they print."""

import gzip
import json
from pathlib import Path

import pytest
import yaml

from benchmarks.bench import show
from benchmarks.cold_target import actions
from benchmarks.load_gates import write_gates


def event(category: str, name: str, start: int, duration: int, mnemonic: str = "") -> object:
    arguments = {"args": {"mnemonic": mnemonic}} if mnemonic else {}
    return {"ph": "X", "cat": category, "name": name, "ts": start, "dur": duration, **arguments}


def test_actions_are_read_with_the_processes_inside_them(tmp_path: Path) -> None:
    profile = tmp_path / "profile.gz"
    events = [
        event("action processing", "Testing //a:b", 1000, 500_000, "TestRunner"),
        event("general information", "subprocess.run", 2000, 300_000),
        event("general information", "subprocess.run", 400_000, 100_000),
        event("action processing", "Compiling //c:d", 600_000, 9, "PyArchive"),
        event("action processing", "Checking //e:f.verdict", 700_000, 250_000, "GateCheck"),
        event("general information", "subprocess.run", 700_001, 200_000),
        {"ph": "M", "name": "thread_name"},
    ]
    with gzip.open(profile, "wt", encoding="utf-8") as file:
        json.dump({"traceEvents": events}, file)
    assert list(actions(profile)) == [
        ("TestRunner", "//a:b", 0.5, 0.4),
        ("GateCheck", "//e:f.verdict", 0.25, 0.2),
    ]


def test_generated_gates_have_ids_of_their_own(tmp_path: Path) -> None:
    (tmp_path / "gates").mkdir()
    write_gates(tmp_path, 250)
    files = sorted(tmp_path.glob("gates/*.yaml"))
    entries = [entry for file in files for entry in yaml.safe_load(file.read_text("utf-8"))]
    assert len(files) == 3
    assert len({entry["id"] for entry in entries}) == 250


def test_rows_are_shown_as_a_table_and_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    rows = [{"target": "case", "seconds": 0.12345, "growth": None}, {"target": "x", "s": 1, "g": 2}]
    show(rows, as_json=False)
    assert capsys.readouterr().out.splitlines() == [
        "target  seconds  growth",
        "case      0.123       -",
        "x             1       2",
    ]
    show(rows, as_json=True)
    assert json.loads(capsys.readouterr().out) == rows
