"""The guide for newcomers, done as it says: its commands are run in order beside a copy of this
repository, its files are written, and what it says that is printed is compared."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.integration.bazel.nested import NestedBazel, copy_sources
from tests.support.pages import Command, matches, steps

PAGE = steps(Path("docs/guide/ten-minutes.md").read_text(encoding="utf-8"))
COMMANDS = [step for step in PAGE if isinstance(step, Command)]
_COMMAND_SECONDS = 300


class Printed(NamedTuple):
    """What a command printed on either stream, by lines, and its exit code."""

    lines: list[str]
    code: int


def reader_runs(line: str, folder: Path, scratch: Path) -> tuple[Printed, Path]:
    """Runs one command in a shell, and tells where the shell is then."""
    where = scratch / "where"
    done = subprocess.run(
        ["bash", "-c", f'{line}\ncode=$?\npwd > "$WHERE"\nexit $code'],
        cwd=folder,
        env={"PATH": os.environ["PATH"], "HOME": str(scratch), "WHERE": str(where)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=_COMMAND_SECONDS,
        check=False,
    )
    return Printed(done.stdout.splitlines(), done.returncode), Path(where.read_text().rstrip("\n"))


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Printed]]:
    """What each command of the page printed, once a reader has done everything that it says."""
    desk = tmp_path_factory.mktemp("desk")
    scratch = tmp_path_factory.mktemp("scratch")
    hardgate = copy_sources(desk / "hardgate")
    with NestedBazel(hardgate, hardgate) as bazel:
        bazel.write_launcher(hardgate / "bazelw")
        folder, all_printed = hardgate, []
        for step in PAGE:
            if isinstance(step, Command):
                one, folder = reader_runs(step.line, folder, scratch)
                all_printed.append(one)
            else:
                target = folder / step.path
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_text(step.text, encoding="utf-8")
        yield all_printed
        reader_runs("./bazelw shutdown", folder, scratch)


def test_the_reader_ends_with_gates_and_has_seen_red(printed: list[Printed]) -> None:
    codes = [one.code for one in printed]
    failed = [command.line for command, one in zip(COMMANDS, printed, strict=True) if one.code]
    assert failed and all(line.startswith("./bazelw test") for line in failed), codes
    assert printed[-1].code == 0
    assert len(COMMANDS) > 10


@pytest.mark.parametrize("number", range(len(COMMANDS)), ids=lambda at: COMMANDS[at].line[:60])
def test_a_command_prints_what_the_page_says(printed: list[Printed], number: int) -> None:
    command = COMMANDS[number]
    if command.line.startswith("./bazelw"):
        assert command.wanted
    shown = "\n".join(printed[number].lines)
    assert matches(command.wanted, printed[number].lines), f"{command.line} prints\n{shown}"
