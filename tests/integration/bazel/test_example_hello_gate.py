"""The smallest workspace with gates, as an example and as `hardgate init` writes it."""

from pathlib import Path

import pytest

from hardgate.cli.app import main
from tests.integration.bazel.nested import NestedBazel, copy_sources

GATES = {"//gates:hello/named", "//gates:hello/same_every_day"}
TWINS = {
    "//gates:hello/named.counterexample.everybody_alike",
    "//gates:hello/same_every_day.counterexample.dated",
}


@pytest.fixture(scope="module")
def hardgate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return copy_sources(tmp_path_factory.mktemp("example") / "hardgate")


def test_the_example_passes_and_each_target_is_its_own(hardgate: Path) -> None:
    workspace = hardgate / "examples" / "hello_gate"
    with NestedBazel(workspace, hardgate) as bazel:
        first = bazel.build("test", "//...")
        assert first.statuses == dict.fromkeys(GATES | TWINS, "PASSED"), first.err[-4000:]
        assert first.code == 0


def test_a_workspace_that_init_wrote_passes_and_turns_red(
    hardgate: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("BUILD_WORKING_DIRECTORY", raising=False)
    workspace = tmp_path / "fresh_gates"
    assert main(["init", str(workspace), "--hardgate", str(hardgate)]) == 0
    with NestedBazel(workspace, hardgate) as bazel:
        first = bazel.build("test", "//...")
        assert first.statuses == dict.fromkeys(GATES | TWINS, "PASSED"), first.err[-4000:]
        code = workspace / "gates/checks/hello.py"
        text = code.read_text(encoding="utf-8")
        code.write_text(text.replace("Hello, {name}!", "Hello!"), encoding="utf-8")
        red = bazel.build("test", "//...")
        # The counterexamples edit a text that is gone, and so prove nothing any more.
        assert red.statuses["//gates:hello/named"] == "FAILED"
        assert red.statuses["//gates:hello/same_every_day"] == "PASSED"
        assert "name_missing" in red.logs["//gates:hello/named"]
        assert {red.statuses[twin] for twin in TWINS} == {"FAILED"}
        assert red.code == 3
