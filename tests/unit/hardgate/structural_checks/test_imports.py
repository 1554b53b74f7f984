"""The two checks of imports: every form of an import, ways over others, and what is not needed."""

import pytest

from tests.unit.hardgate.structural_checks.examining import PLACE, examine, said

LOW, HIGH, HELP = "src/app/low/a.py", "src/app/high/b.py", "src/app/help.py"
FILES = {
    "src/app/__init__.py": "",
    "src/app/low/__init__.py": "",
    "src/app/high/__init__.py": "",
    LOW: "import json",
    HIGH: "from app.low import a",
    HELP: "",
}
LAYERS = {"roots": ["src"], "layers": [["app.low"], ["app.high"]]}


def layers(files, **options):
    return examine("import_layers", {**FILES, **files}, {**LAYERS, **options})


def forbidden(files, imports, **options):
    rules = [{"reason": "It has to stay apart.", **rule} for rule in imports]
    given = {"roots": ["src"], "imports": rules, **options}
    return examine("forbidden_imports", {**FILES, **files}, given)


def test_imports_that_run_downwards_are_no_finding():
    found = layers({})
    assert (said(found), found.examined, found.unit) == ([], 2, "imports")


DETOURS = {
    "plain": ("import app.high.b", 1),
    "alias": ("import app.high.b as other", 1),
    "from the package": ("from app import high", 1),
    "from the module": ("from app.high.b import thing as other", 1),
    "relative": ("from ..high import b", 1),
    "star": ("from app.high import *", 1),
    "in a function": ("def f():\n    from app.high import b", 2),
    "in a method": ("class A:\n    def f(self):\n        import app.high", 3),
    "for annotations": (
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import app.high.b",
        3,
    ),
    "guarded": ("try:\n    import app.high\nexcept ImportError:\n    pass", 2),
    "by a name": ("import importlib\nimportlib.import_module('app.high.b')", 2),
    "by a name under an alias": ("from importlib import import_module as i\ni('app.high')", 2),
    "by a name that is put together": (
        "import importlib\nimportlib.import_module('app.' + 'high')",
        2,
    ),
    "by a keyword": ("import importlib\nimportlib.import_module(name='app.high')", 2),
    "by a relative name": (
        "import importlib\nimportlib.import_module('..high', 'app.low')",
        2,
    ),
    "by a relative name of this package": (
        "import importlib\nimportlib.import_module('..high', package=__package__)",
        2,
    ),
    "by __import__": ("__import__('app.high.b')", 1),
    "by getattr": ("import importlib\ngetattr(importlib, 'import_module')('app.high')", 2),
    "by sys.modules": ("import sys\nsys.modules['app.high.b']", 2),
    "by runpy": ("import runpy\nrunpy.run_module('app.high.b')", 2),
    "by pkgutil": ("import pkgutil\npkgutil.resolve_name('app.high.b:thing')", 2),
    "through the package": ("import app\napp.high.b.thing()", 2),
    "through the package by getattr": ("import app\ngetattr(app, 'high').b", 2),
    "through an alias of the package": ("import app as a\nx = a\nx.high.b.thing()", 3),
}


@pytest.mark.parametrize("kind", DETOURS)
def test_every_form_of_an_import_counts(kind):
    text, line = DETOURS[kind]
    assert said(layers({LOW: text})) == [f"{LOW}:{line}: layer_order"]
    rule = {"importers": ["app.low"], "forbidden": ["app.high"]}
    assert said(forbidden({LOW: text}, [rule])) == [f"{LOW}:{line}: forbidden_import"]


@pytest.mark.parametrize(
    "text",
    [
        "import app",
        "import app.highest",
        "from app import low",
        "from . import other",
        "'app.high'",
        "high = 3\nhigh.b",
        "import importlib\nimportlib.import_module(name)",
        "import sys\nsys.path",
    ],
)
def test_what_leads_elsewhere_is_no_finding(text):
    assert said(layers({LOW: text})) == []


def test_a_way_over_others_is_told_in_full_where_it_begins():
    found = layers({LOW: "\nfrom app import help", HELP: "\n\nimport app.high.b"})
    assert said(found) == [f"{LOW}:2: layer_order"]
    (finding,) = found.findings
    assert f"app.help, which imports app.high.b ({HELP}:3)" in finding.message


def test_a_way_that_begins_with_an_import_by_name_counts():
    text = "import importlib\nimportlib.import_module('app.help')"
    assert said(layers({LOW: text, HELP: "import app.high"})) == [f"{LOW}:2: layer_order"]


def test_a_star_takes_the_submodules_that_its_package_names():
    files = {"src/app/__init__.py": "__all__ = ['high']", LOW: "from app import *"}
    assert said(layers(files)) == [f"{LOW}:1: layer_order"]


def test_folders_without_init_and_single_files_are_modules_too():
    files = {"src/tool.py": "import bare.deep.x", "src/bare/deep/x.py": "import other"}
    options = {"roots": ["src"], "layers": [["tool"], ["bare"]]}
    found = examine("import_layers", files, options)
    assert said(found) == ["src/tool.py:1: layer_order"]


def test_a_part_of_a_layer_may_be_another_layer():
    files = {LOW: "from app import help", HELP: "from app.low import a"}
    deep = [["app.low"], ["app"]]
    assert said(layers(files, layers=deep)) == [f"{LOW}:1: layer_order"]
    assert said(layers({}, layers=[["app"], ["app.high"]])) == []


@pytest.mark.parametrize(
    ("files", "options", "expected"),
    [
        ({}, {"complete": ["app"]}, [f"{HELP}:1: unplaced_module"]),
        ({}, {"complete": ["app"], "layers": [["app.low", "app.help"], ["app.high"]]}, []),
        ({}, {"complete": ["ap"]}, [f"{PLACE}: unknown_module"]),
        ({}, {"layers": [["app.lo"], ["app.high"]]}, [f"{PLACE}: unknown_module"]),
        ({}, {"roots": ["src", "lib"]}, [f"{PLACE}: unknown_root"]),
        ({LOW: "def ("}, {}, [f"{LOW}:1: syntax_error"]),
        (
            {"lib/app/low/a.py": ""},
            {"roots": ["src", "lib"]},
            [f"{LOW}:1: module_twice"],
        ),
    ],
)
def test_what_keeps_a_module_from_being_judged_is_a_finding(files, options, expected):
    assert said(layers(files, **options)) == expected


def test_no_file_is_nothing_examined():
    found = examine("import_layers", {"docs/a.md": ""}, LAYERS)
    assert found.examined == 0


EXCEPTION = {"importer": "app.low.a", "imported": "app.high.b", "reason": "It is on its way out."}


@pytest.mark.parametrize(
    ("text", "exception", "expected"),
    [
        ("import app.high.b", EXCEPTION, []),
        ("import json", EXCEPTION, [f"{PLACE}: unused_exception"]),
        (
            "import app.high",
            EXCEPTION,
            [f"{PLACE}: unused_exception", f"{LOW}:1: layer_order"],
        ),
    ],
)
def test_an_exception_is_one_pair_and_has_to_be_used(text, exception, expected):
    assert said(layers({LOW: text}, exceptions=[exception])) == expected


@pytest.mark.parametrize(
    ("text", "rule", "expected"),
    [
        ("import requests", {"forbidden": ["(third-party)"]}, 1),
        ("import json, app.high", {"forbidden": ["(third-party)"]}, None),
        ("str.maketrans('a', 'b')", {"forbidden": ["(third-party)"]}, None),
        (
            "import requests",
            {"forbidden": ["(third-party)"], "forbidden_except": ["requests"]},
            None,
        ),
        ("import urllib.request", {"forbidden": ["urllib.request"]}, 1),
        ("from urllib import request as r", {"forbidden": ["urllib.request"]}, 1),
        ("import urllib\nurllib.request.urlopen('a')", {"forbidden": ["urllib.request"]}, 2),
        ("import urllib.parse", {"forbidden": ["urllib.request"]}, None),
        ("from google import genai", {"forbidden": ["google.genai"]}, 1),
        (
            "from google.protobuf.message import Message",
            {"forbidden": ["google"], "forbidden_except": ["google.protobuf"]},
            None,
        ),
        ("import app.high.b", {"forbidden": ["app.*.b"]}, 1),
        ("import app.high", {"forbidden": ["app.*.b"]}, None),
        (
            "import app.high.b",
            {"forbidden": ["app.high"], "importers_except": ["app.low.a"]},
            None,
        ),
    ],
)
def test_what_a_rule_forbids(text, rule, expected):
    found = said(forbidden({LOW: text}, [{"importers": ["app.low"], **rule}]))
    assert found == ([] if expected is None else [f"{LOW}:{expected}: forbidden_import"])


def test_a_library_that_is_imported_by_another_module_is_reached():
    files = {LOW: "import app.help", HELP: "from openai import OpenAI"}
    rule = {"importers": ["app.low"], "forbidden": ["openai"], "rule": "no_provider"}
    assert said(forbidden(files, [rule])) == [f"{LOW}:1: no_provider"]
    assert said(forbidden(files, [{**rule, "through_others": False}])) == []


def test_an_import_is_reported_under_the_first_rule_that_it_breaks():
    rules = [
        {"importers": ["app.low"], "forbidden": ["app.high.b"], "rule": "first"},
        {"importers": ["app"], "forbidden": ["app.high"], "rule": "second"},
    ]
    found = said(forbidden({LOW: "import app.high.b", HIGH: ""}, rules))
    assert found == [f"{LOW}:1: first"]


@pytest.mark.parametrize("key", ["importers", "importers_except", "forbidden"])
def test_a_pattern_that_stands_for_nothing_is_a_finding(key):
    rule = {"importers": ["app.low"], "forbidden": ["app.high"], key: ["app.nowhere"]}
    assert said(forbidden({}, [rule])) == [f"{PLACE}: unknown_module"]


@pytest.mark.parametrize(
    "text",
    [
        "import importlib\nimportlib.import_module(name)",
        "load = __import__\nload(name)",
        "exec(text)",
        "import sys\nsys.path.append('x')",
        "PLUGIN = 'app.high.b'",
    ],
)
def test_imports_that_nobody_can_follow_are_refused_on_request(text):
    rule = {"importers": ["app.low"], "forbidden": ["app.high"]}
    assert said(forbidden({LOW: text}, [rule])) == []
    found = said(forbidden({LOW: text}, [{**rule, "dynamic_imports": True}]))
    assert found and {one.split(": ")[1] for one in found} == {"dynamic_import"}


def test_what_a_counterexample_lays_over_the_sources_is_no_module_where_it_lies():
    files = {
        **FILES,
        "gates/defects/app/upward/src/app/low/a.py": "import app.high",
        "gates/checks/app.py": "import json",
    }
    found = examine("import_layers", files, {**LAYERS, "roots": ["src", "."]})
    assert said(found) == []
