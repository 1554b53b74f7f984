"""The import rules, each broken once, over a small tree of the packages that they speak about."""

import pytest

from gates.checks.structure import import_boundary
from tests.unit.gates.sources import examine, said

PACKAGES = (
    "agent_core",
    "agent_core/domain",
    "agent_core/ports",
    "agent_core/application",
    "agent_core/adapters",
    "agent_core/adapters/determinism",
    "agent_core/adapters/models",
    "agent_core/adapters/policy",
    "agent_core/evals",
    "agent_cli",
    "hardgate",
    "hardgate/documents",
    "hardgate/kinds",
    "hardgate/verdicts",
)
SOUND = {
    **{f"src/{package}/__init__.py": "" for package in PACKAGES},
    "src/agent_core/domain/runs.py": "import pydantic",
    "src/agent_core/ports/models.py": "from agent_core.domain import runs",
    "src/agent_core/application/loop.py": "from agent_core.ports.models import runs",
    "src/agent_core/adapters/models/vendor.py": "import openai\nimport agent_core.ports.models",
    "src/agent_core/adapters/policy/rules.py": "from agent_core.domain import runs",
    "src/agent_core/bootstrap.py": "from agent_core.adapters.models import vendor",
    "src/agent_core/evals/subject.py": "import hardgate.kinds\nfrom agent_core.ports import models",
    "src/agent_cli/main.py": "from agent_core import bootstrap, evals",
    "src/hardgate/documents/validation.py": "import pydantic",
    "src/hardgate/documents/tree.py": "import yaml",
    "src/hardgate/kinds/case.py": "from hardgate.documents import validation",
    "src/hardgate/verdicts/verdict.py": "import json",
    "tests/contract/test_model_contract.py": "import pytest\nfrom agent_core.ports import models",
}


def test_a_sound_tree_has_no_finding():
    examination = examine(import_boundary, SOUND)
    assert said(examination) == []
    assert (examination.examined > 15, examination.unit) == (True, "imports")


LOOP = "src/agent_core/application/loop.py"
RUNS = "src/agent_core/domain/runs.py"
TREE = "src/hardgate/documents/tree.py"


@pytest.mark.parametrize(
    ("path", "text", "rule"),
    [
        (RUNS, "from agent_core.ports import models", "layer_order"),
        (RUNS, "from ..application import loop", "layer_order"),
        (RUNS, "import requests", "external_import"),
        (RUNS, "from numpy.linalg import norm", "external_import"),
        ("src/agent_core/ports/models.py", "import pydantic", "external_import"),
        (LOOP, "import agent_core.adapters.models.vendor as v", "layer_order"),
        (LOOP, "from agent_core import adapters", "layer_order"),
        (LOOP, "import fastapi", "web_framework"),
        (LOOP, "import sqlite3", "database_library"),
        (LOOP, "from anthropic import Anthropic", "provider_sdk"),
        (LOOP, "import agent_core.bootstrap", "bootstrap_importer"),
        ("src/agent_core/evals/subject.py", "from .. import bootstrap", "bootstrap_importer"),
        ("src/agent_core/evals/subject.py", "from ..adapters import models", "adapter_import"),
        ("src/agent_core/adapters/models/vendor.py", "import agent_cli", "entry_point_import"),
        (
            "src/agent_core/adapters/policy/rules.py",
            "import agent_core.ports.models",
            "policy_import",
        ),
        ("src/hardgate/kinds/case.py", "from agent_core.domain import runs", "runtime_import"),
        (
            "src/hardgate/kinds/case.py",
            "from importlib import import_module as i\ni('agent_core.' + 'domain')",
            "runtime_import",
        ),
        ("src/hardgate/kinds/case.py", "import gates.checks", "test_import"),
        ("src/hardgate/kinds/case.py", "from tests import unit", "test_import"),
        (TREE, "from hardgate.kinds import case", "package_order"),
        (TREE, "import pydantic", "heavy_import"),
        (TREE, "from hardgate.documents.validation import x", "heavy_import"),
        ("src/hardgate/verdicts/verdict.py", "import yaml", "heavy_import"),
        ("src/hardgate/verdicts/verdict.py", "import hardgate.documents.tree", "heavy_import"),
        ("tests/contract/test_model_contract.py", "import agent_core.bootstrap", "contract_import"),
        ("src/agent_core/helpers.py", "", "unplaced_module"),
        ("src/hardgate/util/text.py", "", "unplaced_module"),
        ("src/hardgate/kinds/deep/text.py", "", "unplaced_module"),
        ("src/shared.py", "", "unplaced_module"),
        (LOOP, "def (", "syntax_error"),
    ],
)
def test_each_rule_can_be_broken(path, text, rule):
    assert {
        one.split(": ")[1] for one in said(examine(import_boundary, {**SOUND, path: text}))
    } == {rule}


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("def f():\n    from agent_core.adapters.models import vendor", 2),
        ("try:\n    import agent_core.adapters.models.vendor\nexcept ImportError:\n    pass", 2),
        (
            "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n"
            "    from agent_core.adapters import models",
            3,
        ),
        ("from ..adapters.models.vendor import Client as C", 1),
    ],
)
def test_a_breach_counts_wherever_it_stands(text, line):
    assert said(examine(import_boundary, {**SOUND, LOOP: text})) == [f"{LOOP}:{line}: layer_order"]


def test_a_way_over_other_modules_is_reported_where_it_begins():
    files = {
        **SOUND,
        "src/agent_core/helpers.py": "\nfrom agent_core.adapters.models import vendor",
        LOOP: "\n\nfrom agent_core import helpers",
    }
    findings = [
        one for one in examine(import_boundary, files).findings if one.rule == "layer_order"
    ]
    assert [(one.path, one.line) for one in findings] == [(LOOP, 3)]
    way = "agent_core.adapters.models.vendor (src/agent_core/helpers.py:2)"
    assert f"imports agent_core.helpers, which imports {way}" in findings[0].message


def test_an_import_of_evals_is_left_to_its_own_gate():
    text = "from agent_core.evals import subject\nimport hardgate.kinds"
    assert said(examine(import_boundary, {**SOUND, LOOP: text})) == []


def test_no_file_is_nothing_examined():
    assert examine(import_boundary, {"docs/a.md": ""}).examined == 0
