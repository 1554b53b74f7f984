"""The test process of a structural gate: what it publishes for which file."""

import json
import subprocess
import sys

import pytest

from hardgate.kinds.verdict_test import EXIT_NO_VERDICT, main
from hardgate.verdicts.verdict import Finding, conclude

FOUND = Finding("src/a.py", 3, "layers", "agent_core.domain imports agent_core.ports")


class Off:
    def ways_out(self):
        return ()

    def attempt(self, name):
        return "ENETUNREACH"


class On(Off):
    def ways_out(self):
        return ("interface eth0 is up",)

    def attempt(self, name):
        raise AssertionError("nothing may be attempted on a live network")


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.setenv("TEST_UNDECLARED_OUTPUTS_DIR", str(tmp_path))
    monkeypatch.setenv("XML_OUTPUT_FILE", str(tmp_path / "test.xml"))

    def run(text, probe):
        file = tmp_path / "given.json"
        file.write_text(text)
        return main([str(file), "--repeat", "bazel test //gates:x/y"], probe)

    return run


def verdict_text(**values):
    return conclude(id="gate.x.y", kind="structural", milestone=0, unit="files", **values).to_json()


def test_a_passing_verdict_gets_the_proof(run, tmp_path, capsys):
    assert run(verdict_text(examined=3), Off()) == 0
    written = json.loads((tmp_path / "verdict.json").read_text())
    assert written["network"]["off"] is True
    assert written["outcome"] == "pass"
    assert capsys.readouterr().out == "PASS gate.x.y: 3 files\n"
    assert (tmp_path / "test.xml").exists()


def test_a_failing_verdict_prints_its_findings(run, capsys):
    assert run(verdict_text(examined=3, findings=(FOUND,)), Off()) == 1
    printed = capsys.readouterr().out
    assert "src/a.py:3: layers: agent_core.domain imports agent_core.ports" in printed
    assert "repeat: bazel test //gates:x/y" in printed


def test_a_live_network_fails_a_passing_verdict(run, tmp_path, capsys):
    assert run(verdict_text(examined=3), On()) == 1
    assert "network_on" in capsys.readouterr().out
    assert json.loads((tmp_path / "verdict.json").read_text())["outcome"] == "fail"


@pytest.mark.parametrize("text", ["", "{}", verdict_text(examined=3).replace('"pass"', '"maybe"')])
def test_what_is_no_verdict_is_a_definition_error(run, text, tmp_path, capsys):
    assert run(text, Off()) == EXIT_NO_VERDICT
    assert "given.json: " in capsys.readouterr().err
    assert not (tmp_path / "verdict.json").exists()


def test_a_missing_file_is_a_definition_error(tmp_path, capsys):
    assert main([str(tmp_path / "none"), "--repeat", "x"], Off()) == EXIT_NO_VERDICT
    assert "cannot be read" in capsys.readouterr().err


def test_the_process_imports_the_standard_library_only(tmp_path):
    """Hundreds of these processes run: a heavy import would be paid by each of them."""
    program = "import sys, hardgate.kinds.verdict_test; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-S", "-c", program],
        env={"PYTHONPATH": ":".join(path for path in sys.path if path)},
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    roots = {name.partition(".")[0] for name in loaded}
    assert "hardgate" in roots
    assert not roots & {"pydantic", "yaml", "asyncio", "email", "http", "urllib"}
