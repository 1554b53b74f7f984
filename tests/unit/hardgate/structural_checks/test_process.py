"""Ready checks as a process of their own: both kinds of counterexamples, and what it loads."""

import json
import os
import subprocess
import sys

import pytest

from hardgate.verdicts.verdict import from_json

LAYERS = {"roots": ["src"], "layers": [["app.low"], ["app.high"]]}
CALLS = {"roots": ["src"], "calls": [{"names": ["os.system"], "reason": "It starts a shell."}]}
SOURCES = {"src/app/low.py": "import json\n", "src/app/high.py": "from app import low\n"}
OVERLAY = {"gates/defects/app/upward/src/app/low.py": "def f():\n    from app import high\n"}
DEFECTS = '''
def upward(bench):
    """The lower layer looks up."""
    bench.tree.write("src/app/low.py", "import app.high")


def harmless(bench):
    """The lower layer uses the standard library."""
    bench.tree.write("src/app/low.py", "import math")


def elsewhere(bench):
    """Something changes that the check does not read."""
    bench.tree.write("docs/page.md", "text")


def shell(bench):
    """A module starts a shell under another name."""
    bench.tree.write("src/app/low.py", "from os import system as go\\n\\n\\ngo('true')\\n")
'''
LOADED = (
    "import sys; from hardgate.kinds import structural; code = structural.main(); "
    "print([one for one in ('grimp', 'detect_secrets') if one in sys.modules]); sys.exit(code)"
)


class Workspace:
    """Files of a workspace, and a process that judges them."""

    def __init__(self, root):
        self.root = root

    def run(self, check, options, *, sources=SOURCES, twins=(), counterexample=None, program=()):
        """Runs the check; returns the process and its verdict, which is None where there is none."""
        for path, text in {**sources, "gates/defects/app.py": DEFECTS}.items():
            (self.root / path).parent.mkdir(parents=True, exist_ok=True)
            (self.root / path).write_text(text, encoding="utf-8")
        entry = {
            "id": "gate.app.shape",
            "area": "app",
            "slug": "shape",
            "kind": "structural",
            "milestone": 0,
            "path": "gates/app.yaml",
            "line": 3,
            "check": f"hardgate:{check}",
            "options": options,
            "counterexamples": list(twins),
        }
        (self.root / "entry.json").write_text(json.dumps(entry), encoding="utf-8")
        lines = [f"{path}\t{path}\n" for path in sources]
        (self.root / "manifest").write_text("".join(lines), encoding="utf-8")
        (self.root / "made.json").unlink(missing_ok=True)
        words = ["--entry", "entry.json", "--manifest", "manifest", "--out", "made.json"]
        words += ["--counterexample", counterexample] if counterexample else []
        done = subprocess.run(
            [sys.executable, *(program or ("-m", "hardgate.kinds.structural")), *words],
            cwd=self.root,
            env={**os.environ, "PYTHONPATH": os.pathsep.join([".", *sys.path])},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        made = self.root / "made.json"
        return done, from_json(made.read_text(encoding="utf-8")) if made.exists() else None


@pytest.fixture
def workspace(tmp_path):
    return Workspace(tmp_path)


def test_a_sound_workspace_passes(workspace):
    done, verdict = workspace.run("import_layers", LAYERS)
    assert (done.returncode, done.stderr) == (0, "")
    assert (verdict.passed, verdict.examined, verdict.unit) == (True, 2, "imports")


@pytest.mark.parametrize(
    ("name", "reason", "tree", "why"),
    [
        ("upward", "layer_order", "gates/defects/app/upward", "rejected"),
        ("upward", "layer_order", None, "rejected"),
        ("upward", "unplaced_module", None, "other_reason"),
        ("harmless", "layer_order", None, "not_rejected"),
        ("elsewhere", "layer_order", None, "not_reached"),
        ("missing", "layer_order", None, "not_reached"),
        ("missing", "layer_order", "gates/defects/app/missing", "not_reached"),
    ],
)
def test_both_kinds_of_counterexamples(name, reason, tree, why, workspace):
    twin = {"name": name, "reason": reason, "tree": tree}
    done, verdict = workspace.run(
        "import_layers",
        LAYERS,
        sources={**SOURCES, **OVERLAY},
        twins=[twin],
        counterexample=name,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert (verdict.counterexample.why, verdict.passed) == (why, why == "rejected")


def test_a_function_as_counterexample_of_another_check(workspace):
    twin = {"name": "shell", "reason": "forbidden_call"}
    _, verdict = workspace.run("forbidden_calls", CALLS, twins=[twin], counterexample="shell")
    assert verdict.passed


@pytest.mark.parametrize(
    ("check", "options", "rules"),
    [
        ("import_layers", None, {"schema.missing_key"}),
        ("import_layers", {"roots": ["src"], "layers": []}, {"schema.length"}),
        ("import_layers", {**LAYERS, "layer": []}, {"schema.unknown_key"}),
        ("import_layer", LAYERS, {"check_missing"}),
    ],
)
def test_what_lint_would_refuse_fails_the_gate_and_crashes_nothing(
    check, options, rules, workspace
):
    done, verdict = workspace.run(check, options)
    assert (done.returncode, done.stderr) == (0, "")
    found = {one.rule for one in verdict.findings if one.rule != "nothing_examined"}
    assert (verdict.passed, found) == (False, rules)
    assert {(one.path, one.line) for one in verdict.findings if one.path} == {("gates/app.yaml", 3)}


@pytest.mark.parametrize(
    ("check", "options"),
    [
        ("import_layers", LAYERS),
        ("forbidden_calls", CALLS),
        ("no_ambient_time", {"roots": ["src"]}),
        ("committed_secrets", {}),
    ],
)
def test_no_file_is_a_failure(check, options, workspace):
    _, verdict = workspace.run(check, options, sources={})
    assert verdict.examined == 0
    assert not verdict.passed


@pytest.mark.parametrize(
    ("check", "options", "loaded"),
    [
        ("import_layers", LAYERS, ["grimp"]),
        ("forbidden_calls", CALLS, []),
        ("no_ambient_time", {"roots": ["src"]}, []),
        ("committed_secrets", {}, ["detect_secrets"]),
    ],
)
def test_a_process_loads_only_what_its_check_needs(check, options, loaded, workspace):
    done, _ = workspace.run(check, options, program=("-c", LOADED))
    assert (done.returncode, done.stdout.strip()) == (0, str(loaded))
