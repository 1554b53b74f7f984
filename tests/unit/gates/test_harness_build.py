"""What in the build files leaves a test out or repeats it."""

import pytest

from gates.checks.harness_build import build_findings, build_paths
from tests.unit.gates.sources import tree_of


def rules(path, text):
    found = build_findings(tree_of({path: text}), path)
    return [(finding.line, finding.rule) for finding in found]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("gate_test(\n    name = 'a',\n    flaky = True,\n)", [(3, "test_flaky")]),
        ("gate_test(flaky = FLAKY)", [(1, "test_flaky")]),
        ("gate_test(flaky = False)", []),
        ("gate_test(tags = ['manual'])", [(1, "run_filtered")]),
        ("gate_test(tags = [\n'x'] + ['manual'])", [(1, "run_filtered")]),
        ("gate_test(tags = ['no-remote'])", []),
        ("gate_test(target_compatible_with = [])", [(1, "run_filtered")]),
        ("tests(per_file = {'a.py': {'flaky': True}})", [(1, "test_flaky")]),
        ("tests(per_file = {'a.py': {'tags': ['manual']}})", [(1, "run_filtered")]),
        ("gate_test(name = ", [(1, "syntax_error")]),
    ],
)
def test_build_file(text, expected):
    assert rules("gates/BUILD.bazel", text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("test --flaky_test_attempts=2", [(1, "test_flaky")]),
        ("test:ci --flaky_test_attempts=default", [(1, "test_flaky")]),
        ("test --flaky_test_attempts=1", []),
        ("build --color=no\ntest --test_tag_filters=-kind:case", [(2, "run_filtered")]),
        ("common --test_tag_filters -pending", [(1, "run_filtered")]),
        ("test:linux --build_tag_filters=-gate", [(1, "run_filtered")]),
        ("test --test_filter=test_a", [(1, "run_filtered")]),
        ("common --deleted_packages=examples/a,examples/a/gates", []),
        ("common --deleted_packages=examples/a,gates", [(1, "run_filtered")]),
        ("common --deleted_packages=examples", [(1, "run_filtered")]),
        ("test:m0 --test_tag_filters=milestone:0", []),
        ("# test --test_tag_filters=-gate", []),
        ("", []),
    ],
)
def test_options_of_every_call(text, expected):
    assert rules(".bazelrc", text) == expected


def test_every_build_file_and_the_options_are_judged():
    files = {".bazelrc": "", "BUILD": "", "gates/BUILD.bazel": "", "gates/build.py": ""}
    assert sorted(build_paths(tree_of(files))) == [".bazelrc", "BUILD", "gates/BUILD.bazel"]
