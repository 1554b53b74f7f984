"""Every way from the runtime to what evaluates it."""

import pytest

from gates.checks.harness_isolation import isolation_findings
from tests.unit.gates.sources import parsed

SOUND = {
    "src/agent_core/__init__.py": "",
    "src/agent_core/evals/__init__.py": "from hardgate.subjects import port\nimport agent_core",
    "src/agent_core/evals/subject.py": "import importlib\nimportlib.import_module('agent_core')",
    "src/agent_cli/main.py": "from agent_core.evals import subject",
    "src/hardgate/subjects/port.py": "import importlib",
}
PATH = "src/agent_core/application/loop.py"


def findings(files, path=PATH):
    found = isolation_findings(parsed({**SOUND, **files}))
    return sorted({(finding.line, finding.rule) for finding in found if finding.path == path})


def test_a_sound_tree_has_no_finding():
    assert list(isolation_findings(parsed(SOUND))) == []


@pytest.mark.parametrize(
    ("text", "line", "rule"),
    [
        ("import agent_core.evals", 1, "imports_evals"),
        ("import agent_core.evals.subject as s", 1, "imports_evals"),
        ("from agent_core import evals", 1, "imports_evals"),
        ("from agent_core.evals import *", 1, "imports_evals"),
        ("from agent_core.evals.subject import Subject", 1, "imports_evals"),
        ("from .. import evals", 1, "imports_evals"),
        ("from ..evals import subject", 1, "imports_evals"),
        ("def f():\n    from ..evals.subject import x", 2, "imports_evals"),
        ("if False:\n    import agent_core.evals", 2, "imports_evals"),
        (
            "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import agent_core.evals",
            3,
            "imports_evals",
        ),
        (
            "try:\n    from agent_core import evals\nexcept ImportError:\n    evals = None",
            2,
            "imports_evals",
        ),
        ("import agent_core as core\ncore.evals.subject.run()", 2, "imports_evals"),
        ("import agent_cli.main", 1, "imports_evals"),
        ("import hardgate", 1, "imports_hardgate"),
        ("from hardgate.verdicts import verdict", 1, "imports_hardgate"),
        ("import importlib\nimportlib.import_module('x')", 2, "dynamic_import"),
        ("from importlib import import_module as load\nload('x' + 'y')", 2, "dynamic_import"),
        ("load = __import__\nload('json')", 1, "dynamic_import"),
        ("import builtins\nbuiltins.__import__('json')", 2, "dynamic_import"),
        ("import importlib.util", 1, "dynamic_import"),
        ("from pkgutil import resolve_name\nresolve_name('a')", 2, "dynamic_import"),
        ("import runpy\nrunpy.run_module('a')", 2, "dynamic_import"),
        ("import sys\nsys.modules['agent_core' + '.evals']", 2, "dynamic_import"),
        ("exec('import json')", 1, "dynamic_import"),
        ("PLUGIN = 'agent_core.evals.subject'", 1, "dynamic_import"),
        ("PLUGIN = '.'.join(['agent_core', 'evals'])", 1, "dynamic_import"),
        ("NAME = f\"agent_core.{'evals'}\"", 1, "dynamic_import"),
    ],
)
def test_each_way_is_found(text, line, rule):
    assert (line, rule) in findings({PATH: text})


@pytest.mark.parametrize(
    "text",
    [
        "import agent_core.evaluation",
        "from agent_core import domain",
        "import hardgates",
        "import re\nre.compile('a')",
        "from importlib import resources\nfrom importlib.metadata import version",
        "'''agent_core.evals is not imported here.'''",
        "TEXT = 'see agent_core.evals for more'",
        "import sys\nsys.exit(1)",
    ],
)
def test_what_leads_elsewhere_is_left_alone(text):
    assert findings({PATH: text}) == []


def test_a_package_that_exports_evals_by_a_star_is_followed():
    files = {
        "src/shared/__init__.py": "from agent_core import *",
        "src/agent_core/__init__.py": "__all__ = ['domain', 'evals']",
        PATH: "import shared",
    }
    assert findings(files) == [(1, "imports_evals")]


def test_a_way_over_several_modules_is_told_in_full():
    files = {
        "src/shared/a.py": "import shared.b",
        "src/shared/b.py": "from agent_core.evals import subject",
        PATH: "from shared import a",
    }
    (finding,) = isolation_findings(parsed({**SOUND, **files}))
    way = (
        "shared.a, which imports shared.b (src/shared/a.py:1), "
        "which imports agent_core.evals.subject (src/shared/b.py:1)"
    )
    assert finding.message.startswith(f"agent_core.application.loop imports {way}; ")


def test_a_package_that_is_gone_is_a_finding():
    files = {path: text for path, text in SOUND.items() if "/evals/" not in path}
    assert next(isolation_findings(parsed(files))).rule == "evals_missing"
