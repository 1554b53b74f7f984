"""The results that are kept for a report that runs nothing."""

import json
import re

import pytest

from hardgate.report.kept import Run, file_in, load, save
from tests.unit.hardgate.report.samples import gate, good_results

GATES = (gate(), gate("gate.tool.later", milestone=3))


def test_a_run_is_read_back_as_it_was(tmp_path):
    run = Run.ended_now(good_results(*GATES), 3)
    path = file_in(tmp_path, "team/gates")
    save(path, run)
    assert load(path) == run
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", run.ended_at)
    assert [one.name for one in path.parent.iterdir()] == ["last_run.json"]


def test_a_run_takes_the_place_of_the_one_before(tmp_path):
    path = file_in(tmp_path, "gates")
    save(path, Run.ended_now(good_results(*GATES), 0))
    save(path, Run.ended_now({}, 3))
    assert load(path).results == {}


def test_each_package_has_its_own(tmp_path):
    packages = ("gates", "team/gates", "team_gates")
    assert len({file_in(tmp_path, package) for package in packages}) == 3


def test_without_a_run(tmp_path):
    with pytest.raises(FileNotFoundError):
        load(file_in(tmp_path, "gates"))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "null",
        "{}",
        '{"format": 1}',
        '{"format": 1, "exit_code": 0, "ended_at": "", "results": [{"label": "//a"}]}',
        '{"format": 1, "exit_code": 0, "ended_at": "", "results": [{"surplus": 1}]}',
        '{"format": 1, "exit_code": "x", "ended_at": "", "results": []}',
    ],
)
def test_a_damaged_file_is_refused(tmp_path, text):
    path = tmp_path / "last_run.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match="."):
        load(path)


def test_a_file_of_another_version_is_refused(tmp_path):
    path = tmp_path / "last_run.json"
    path.write_text(json.dumps({"format": 2}), encoding="utf-8")
    with pytest.raises(ValueError, match=r"has the format 2; this version reads 1$"):
        load(path)
