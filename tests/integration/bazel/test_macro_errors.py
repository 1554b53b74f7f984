"""What the public rules and macros say when they are used wrongly, asked of a real Bazel."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.integration.bazel.nested import NestedBazel, copy_sources, make_consumer, write_files

LOAD = 'load("@my_gates//:index.bzl", "INDEX")\nload("@hardgate//tools:defs.bzl", "{}")\n'
GATES = LOAD.format("hardgate_gates")
CASES = LOAD.format("hardgate_cases")
PYTEST = 'load("@hardgate//tools:defs.bzl", "hardgate_pytest")\n'
GATE = """
- id: gate.demo.first
  milestone: 0
  kind: structural
  statement: Holds.
"""


@dataclass(frozen=True)
class Misuse:
    """A BUILD file in a package of its own, and the message that it must give."""

    package: str
    build: str
    message: str


MISUSES = [
    Misuse(
        "elsewhere",
        GATES + 'hardgate_gates(name = "gates", index = INDEX)',
        "hardgate_gates belongs in gates/BUILD.bazel, the folder that gates.declare names; "
        "found elsewhere",
    ),
    Misuse(
        "elsewhere_cases",
        CASES + 'hardgate_cases(name = "suite", index = INDEX, main = "x", deps = [])',
        "hardgate_cases belongs in evals/BUILD.bazel, the folder that gates.declare names; "
        "found elsewhere_cases",
    ),
    Misuse(
        "no_index",
        GATES + 'hardgate_gates(name = "gates", index = [])',
        "hardgate_gates needs index = INDEX, loaded from the index.bzl of the repository that "
        "gates.declare names; found a list",
    ),
    Misuse(
        "old_index",
        LOAD.format("hardgate_gates")
        + 'load(":old.bzl", "OLD")\nhardgate_gates(name = "gates", index = OLD)',
        "hardgate_gates needs index = INDEX, loaded from the index.bzl of the repository that "
        "gates.declare names; found a struct without corpora, evals_package, invalid",
    ),
    Misuse(
        "no_case_index",
        CASES + 'hardgate_cases(name = "suite", index = "INDEX", main = "x", deps = [])',
        "hardgate_cases needs index = INDEX, loaded from the index.bzl of the repository that "
        "gates.declare names; found a string",
    ),
    Misuse(
        "nothing_to_run",
        CASES + 'hardgate_cases(name = "suite", index = INDEX)',
        "hardgate_cases needs main, agent or agents: something that cases run against",
    ),
    Misuse(
        "gates",
        GATES + 'hardgate_gates(name = "gates", index = INDEX, check_deps = {"dem": []})',
        "check_deps names the area 'dem', which has no gates; found areas: demo",
    ),
    Misuse(
        "unit",
        PYTEST + 'hardgate_pytest(srcs = ["test_a.py"], deps = [], per_file = {"test_b.py": {}})',
        "per_file names 'test_b.py', which is not among the tests; found: test_a.py",
    ),
    Misuse(
        "unit_attribute",
        PYTEST
        + 'hardgate_pytest(srcs = ["test_a.py"], deps = [], per_file = {"test_a.py": {"dta": []}})',
        "per_file['test_a.py'] has the attribute 'dta'; allowed: data, deps, environment, size, "
        "tags",
    ),
]
DECLARATIONS = [
    pytest.param(
        'gates.declare(name = "one", root = "//:MODULE.bazel")\n'
        'gates.declare(name = "one", root = "//:MODULE.bazel")\nuse_repo(gates, "one")',
        'gates.declare(name = "one") of module consumer is taken by module consumer; choose '
        "another name",
        id="one name twice",
    ),
    pytest.param(
        'gates.declare(name = "one", gates = "gats", root = "//:MODULE.bazel")\n'
        'use_repo(gates, "one")',
        "gates.declare(name = \"one\") declares the folder 'gats', which does not exist below "
        "{workspace}. Make it, or correct the attribute.",
        id="missing folder of gates",
    ),
    pytest.param(
        'gates.declare(name = "one", evals = "evals/none", root = "//:MODULE.bazel")\n'
        'use_repo(gates, "one")',
        "gates.declare(name = \"one\") declares the folder 'evals/none', which does not exist "
        "below {workspace}. Make it, or correct the attribute.",
        id="missing folder of cases",
    ),
    *(
        pytest.param(
            f'gates.declare(name = "one", gates = "{folder}", root = "//:MODULE.bazel")\n'
            'use_repo(gates, "one")',
            f"gates.declare(name = \"one\") declares the folder '{folder}'; allowed: a path below "
            "the root, such as quality/gates, without empty parts, '.' and '..'",
            id=f"folder {folder!r}",
        )
        for folder in ("", "/gates", "gates/", "../gates", "./gates")
    ),
]


@pytest.fixture(scope="module")
def bazel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NestedBazel]:
    scratch = tmp_path_factory.mktemp("errors")
    files = {f"{misuse.package}/BUILD.bazel": misuse.build for misuse in MISUSES}
    files |= {
        "evals/BUILD.bazel": "",
        "gates/MILESTONE": "0\n",
        "gates/demo.yaml": GATE,
        "old_index/old.bzl": "OLD = struct(milestone=0, gates=[], cases=[], gates_package='g')\n",
        "sound/BUILD.bazel": 'filegroup(name = "sound")\n',
    }
    hardgate = copy_sources(scratch / "hardgate")
    with NestedBazel(make_consumer(scratch / "consumer", hardgate, files), hardgate) as bazel:
        yield bazel


def one_line(text: str) -> str:
    return re.sub(r"\s+", " ", text)


@pytest.fixture(scope="module")
def loading(bazel: NestedBazel) -> str:
    """What Bazel says about all the misuses; what is right beside them still loads."""
    done = bazel.run("query", "--keep_going", "//...")
    assert "//sound:sound" in done.lines
    assert done.code != 0
    return one_line(done.err)


@pytest.mark.parametrize("misuse", MISUSES, ids=lambda misuse: misuse.package)
def test_a_misuse_is_named_with_what_is_allowed(loading: str, misuse: Misuse) -> None:
    assert "Error in fail: " + misuse.message in loading


@pytest.mark.parametrize(("declarations", "message"), DECLARATIONS)
def test_a_wrong_declaration_names_the_tag(
    bazel: NestedBazel, declarations: str, message: str
) -> None:
    module = bazel.workspace / "MODULE.bazel"
    before = module.read_text(encoding="utf-8")
    kept = before[: before.index("gates.declare")]
    module.write_text(kept + declarations + "\n", encoding="utf-8")
    done = bazel.run("query", "@one//:all")
    module.write_text(before, encoding="utf-8")
    assert message.format(workspace=bazel.workspace) in one_line(done.err)


def test_a_negative_milestone_is_refused(bazel: NestedBazel) -> None:
    build = bazel.workspace / "gates/BUILD.bazel"
    build.write_text(GATES + 'hardgate_gates(name = "gates", index = INDEX)\n', encoding="utf-8")
    done = bazel.run("build", "--nobuild", "--//gates:milestone=-1", "//gates:demo/first")
    assert "gates:milestone is -1; a milestone is 0 or more" in done.err


def test_a_python_that_is_not_there_is_named(bazel: NestedBazel) -> None:
    done = bazel.run("query", "--repo_env=HARDGATE_PYTHON=/nowhere/python3", "@my_gates//:all")
    assert "HARDGATE_PYTHON is /nowhere/python3, which does not exist" in done.err


def test_no_python_says_how_to_name_one(bazel: NestedBazel) -> None:
    options = ("--repo_env=HARDGATE_PYTHON=", "--repo_env=PATH=/nowhere")
    done = bazel.run("query", *options, "@my_gates//:all")
    assert "No python3 on PATH" in done.err
    assert "set HARDGATE_PYTHON" in done.err


def test_a_missing_package_index_is_named(bazel: NestedBazel, tmp_path: Path) -> None:
    done = bazel.run("query", f"--repo_env=PIP_FIND_LINKS={tmp_path}", "@my_gates//:all")
    assert "Installing the PyYAML of" in done.err
    assert "is a Python package index reachable?" in done.err


def test_a_syntax_error_is_shown_with_its_place(bazel: NestedBazel) -> None:
    write_files(
        bazel.workspace,
        {
            "broken/BUILD.bazel": 'load("@rules_python//python:defs.bzl", "py_library")\n'
            'load("@hardgate//tools:defs.bzl", "python_program")\n'
            'py_library(name = "library", srcs = ["wrong.py"])\n'
            'python_program(name = "program", main = "broken.wrong", deps = [":library"])\n',
            "broken/wrong.py": "x = 1\nif x\n",
        },
    )
    done = bazel.run("build", "//broken:program")
    assert 'File "broken/wrong.py", line 2' in done.err
    assert "Traceback" not in done.err
