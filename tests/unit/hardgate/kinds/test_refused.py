"""What cannot run fails, at the place to mend, and never passes."""

import json

from hardgate.kinds import refused

OPTIONS = {
    "id": "gate.x.y",
    "kind": "property",
    "milestone": "1",
    "path": "gates/x.yaml",
    "line": "3",
    "rule": "gate.cannot_run",
    "message": "no check is registered",
    "repeat": "bazel test //gates:x/y",
}


def test_it_fails_with_the_place_and_the_reason(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("TEST_UNDECLARED_OUTPUTS_DIR", str(tmp_path))
    monkeypatch.delenv("XML_OUTPUT_FILE", raising=False)
    assert refused.main([f"--{name}={value}" for name, value in OPTIONS.items()]) == 1
    out = capsys.readouterr().out
    assert "gates/x.yaml:3: gate.cannot_run: no check is registered" in out
    assert "repeat: bazel test //gates:x/y" in out
    verdict = json.loads((tmp_path / "verdict.json").read_text())
    assert (verdict["id"], verdict["outcome"]) == ("gate.x.y", "fail")
