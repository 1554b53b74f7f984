"""Functions and methods that only named callers use."""

import pytest

from tests.unit.hardgate.structural_checks.examining import PLACE, examine, said

RUNS, LOOP, OTHER = "src/app/runs.py", "src/app/loop.py", "src/app/other.py"
FILES = {
    RUNS: """\
        class Run:
            def finish(self):
                return 1

        def close(run):
            return run
        """,
    LOOP: """\
        from app.runs import close

        def main(run):
            close(run)
            run.finish()
        """,
    OTHER: "",
}
CLOSE = {"name": "app.runs.close", "callers": ["app.loop.main"]}
FINISH = {"name": "app.runs.Run.finish", "callers": ["app.loop.main"]}


def found(files, *callables):
    options = {"roots": ["src"], "callables": list(callables)}
    return examine("one_caller_only", {**FILES, **files}, options)


def test_the_named_callers_may():
    examination = found({}, CLOSE, FINISH)
    assert (said(examination), examination.examined) == ([], 3)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("from app.runs import close\nclose(1)", 2),
        ("from app.runs import close as end\nend(1)", 2),
        ("import app.runs\napp.runs.close(1)", 2),
        ("from app import runs as r\nr.close(1)", 2),
        ("def f():\n    from app.runs import close\n    close(1)", 3),
        ("from app.runs import close\nlater = close", 2),
        ("import app.runs\ngetattr(app.runs, 'close')(1)", 2),
        ("import importlib\nimportlib.import_module('app.runs').close(1)", 2),
        ("from app.loop import close\nclose(1)", 2),
        ("from app.runs import *\nclose(1)", 2),
        ("from app.loop import *\nclose(1)", 2),
    ],
)
def test_another_user_of_a_function_is_found(text, line):
    assert f"{OTHER}:{line}: other_caller" in said(found({OTHER: text}, CLOSE))


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("def f(run):\n    run.finish()", 2),
        ("later = run.finish", 1),
        ("getattr(run, 'finish')()", 1),
        ("import operator\noperator.methodcaller('finish')(run)", 2),
        ("from app.runs import Run\nRun.finish(1)", 2),
        ("class Mine:\n    def finish(self):\n        super().finish()", 3),
    ],
)
def test_another_user_of_a_method_is_found(text, line):
    assert said(found({OTHER: text}, FINISH)) == [f"{OTHER}:{line}: other_caller"]


@pytest.mark.parametrize(
    "text",
    [
        "from app.runs import close",
        "from app.runs import *\nother(1)",
        "def close(x):\n    return x\nclose(1)",
        "x.close()",
    ],
)
def test_what_uses_nothing_is_left_alone(text):
    assert said(found({OTHER: text}, CLOSE)) == []


def test_another_function_of_the_same_module_is_another_caller():
    text = FILES[RUNS] + "\n        def again(run):\n            close(run)\n"
    assert said(found({RUNS: text}, CLOSE)) == [f"{RUNS}:9: other_caller"]


def test_a_function_around_the_use_is_its_caller_and_a_module_stands_for_all_of_its_own():
    text = "from app.runs import close\ndef outer():\n    def inner():\n        close(1)\n"
    for caller in ("app.other", "app.other.outer", "app.other.outer.inner"):
        guarded = {**CLOSE, "callers": ["app.loop.main", caller]}
        assert said(found({OTHER: text}, guarded)) == []


@pytest.mark.parametrize(
    ("guarded", "expected"),
    [
        ({**CLOSE, "callers": ["app.loop.main", "app.other.f"]}, "unused_caller"),
        ({**CLOSE, "name": "app.runs.shut"}, "callable_missing"),
        ({**FINISH, "name": "app.runs.Run.end"}, "callable_missing"),
        ({**CLOSE, "name": "elsewhere.close"}, "callable_missing"),
    ],
)
def test_what_is_not_there_is_a_finding(guarded, expected):
    assert said(found({}, guarded)) == [f"{PLACE}: {expected}"]
