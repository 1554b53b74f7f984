"""Callables that are not to be used, in every form in which Python can name them."""

import pytest

from tests.unit.hardgate.structural_checks.examining import PLACE, examine, said

PATH = "src/app/work.py"
CALL = {"names": ["subprocess.run", "os.system", "eval"], "reason": "It runs what it is given."}


def found(files, call=CALL, **options):
    return examine("forbidden_calls", files, {"roots": ["src"], "calls": [call], **options})


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("import subprocess\nsubprocess.run('a')", 2),
        ("import subprocess as s\ns.run('a')", 2),
        ("from subprocess import run as go\n\ngo('a')", 3),
        ("from subprocess import *", 1),
        ("def f():\n    import os\n    os.system('a')", 3),
        ("import os\nlater = os.system", 2),
        ("import os\nx = os\nx.system('a')", 3),
        ("import os\ngetattr(os, 'sys' + 'tem')('a')", 2),
        ("__import__('os').system('a')", 1),
        ("from importlib import import_module as i\ni('os').system('a')", 2),
        ("eval('1')", 1),
        ("import builtins\nbuiltins.eval('1')", 2),
        ("run = eval\nrun('1')", 1),
        ("def f(text, run=eval):\n    run(text)", 1),
        ("import os, functools\nfunctools.partial(os.system, 'a')", 2),
    ],
)
def test_every_form_of_a_use_counts(text, line):
    assert f"{PATH}:{line}: forbidden_call" in said(found({PATH: text}))


@pytest.mark.parametrize(
    "text",
    [
        "import subprocess\nsubprocess.Popen",
        "import os\nos.path.join('a')",
        "def f(eval):\n    eval('1')",
        "model.eval()",
        "def run(text):\n    return text\nrun('a')",
        "import other\nother.system('a')",
        "'os.system'",
    ],
)
def test_what_is_called_alike_is_left_alone(text):
    assert said(found({PATH: text})) == []


def test_a_name_that_another_module_hands_on_is_followed():
    files = {
        "src/app/shell.py": "from subprocess import run as go",
        "src/app/__init__.py": "from .shell import go",
        PATH: "from app import go as start\nstart('a')",
    }
    call = {**CALL, "allowed_in": ["app.shell"]}
    assert f"{PATH}:2: forbidden_call" in said(found(files, call))


def test_a_name_that_comes_with_a_star_is_followed():
    files = {
        "src/app/shell.py": "import subprocess",
        "src/app/all.py": "from app.shell import *",
        PATH: "from app.all import *\nsubprocess.run('a')",
    }
    assert said(found(files)) == [f"{PATH}:2: forbidden_call"]


def test_names_that_are_handed_on_in_a_circle_end():
    files = {
        "src/app/one.py": "from app.two import go",
        "src/app/two.py": "from app.one import go",
        PATH: "from app.one import go\ngo('a')",
    }
    assert said(found(files)) == []


def test_a_module_stands_for_all_that_is_below_it():
    call = {"names": ["subprocess"], "reason": "It starts another program."}
    assert said(found({PATH: "from subprocess import Popen"}, call)) == [
        f"{PATH}:1: forbidden_call"
    ]


@pytest.mark.parametrize(
    ("allowed", "expected"),
    [
        ([], [f"{PATH}:2: forbidden_call"]),
        (["app.work"], []),
        (["app.*"], []),
        (["app.work", "app.other"], [f"{PLACE}: unused_exception"]),
        (["app.nothing"], [f"{PATH}:2: forbidden_call", f"{PLACE}: unused_exception"]),
    ],
)
def test_who_may_is_named_and_has_to_need_it(allowed, expected):
    files = {PATH: "import os\nos.system('a')", "src/app/other.py": ""}
    assert said(found(files, {**CALL, "allowed_in": allowed})) == sorted(expected)


def test_each_root_holds_something():
    examination = found({PATH: ""}, roots=["src", "library"])
    assert said(examination) == [f"{PLACE}: unknown_root"]


def test_only_the_bound_modules_are_looked_at_and_there_has_to_be_one():
    files = {PATH: "import os\nos.system('a')", "src/app/other.py": ""}
    bound = found(files, modules=["app.other"])
    assert (said(bound), bound.examined) == ([], 1)
    nothing = found(files, modules=["apps"])
    assert (said(nothing), nothing.examined) == ([f"{PLACE}: unknown_module"], 0)
