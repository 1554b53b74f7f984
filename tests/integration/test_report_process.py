"""The report command beside others: the Bazel that it starts, the terminal that it writes to."""

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.support.report_workspace import Workspace


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return Workspace(tmp_path / "workspace")


def test_bazel_s_output_and_progress_are_on_stderr(workspace):
    done = workspace.report("--json")
    assert json.loads(done.stdout)["ok"] is True
    assert "this is what a test prints" in done.stderr
    assert "this is progress" in done.stderr


def test_what_bazel_is_asked(workspace):
    workspace.report("--bazel-flag=--config=ci", "--bazel-flag=--jobs=2")
    query, test, info = workspace.calls()
    assert query.startswith('query attr(tags, "[\\[ ]gate[,\\]]", tests(//gates/...)) ')
    words = test.split()
    assert words[0] == "test"
    assert "--test_tag_filters=gate" in words
    assert "--remote_download_outputs=toplevel" in words
    assert words[-4:] == ["--config=ci", "--jobs=2", "--", "//gates/..."]
    assert info.startswith("info output_base")


def test_bazel_does_not_inherit_the_import_path(workspace):
    workspace.bazel.write_text(
        f"#!/bin/sh\nenv > {workspace.fake}/environment\nexit 1\n", encoding="utf-8"
    )
    workspace.report(RUNFILES_DIR="/x", JAVA_RUNFILES="/x", KEPT="yes")
    names = (workspace.fake / "environment").read_text(encoding="utf-8")
    assert "KEPT=yes" in names
    assert "PYTHONPATH" not in names
    assert "RUNFILES" not in names


@pytest.mark.parametrize(
    ("command", "code", "said"),
    [
        ("query", 7, "the query for gates ended with code 7; try: bazel query "),
        ("test", 2, "bazel test ended with code 2; try: bazel test --x //gates/..."),
        ("test", 8, "bazel test ended with code 8; try: bazel test --x //gates/..."),
        ("test", 37, "bazel test ended with code 37; try: bazel test --x //gates/..."),
        ("info", 36, "bazel info ended with code 36; try: bazel info output_base"),
    ],
)
def test_bazel_could_not_do_it(workspace, command, code, said):
    workspace.ends(command, code)
    done = workspace.report("--bazel-flag=--x", "--json")
    assert done.returncode == 4
    assert said in done.stderr
    (problem,) = json.loads(done.stdout)["problems"]
    assert problem["rule"] == "bazel_failed"
    assert problem["message"].startswith(said)


def test_a_build_that_failed_before_it_spoke_of_a_target(workspace):
    workspace.events()
    workspace.ends("test", 1)
    done = workspace.report()
    assert done.returncode == 4
    assert "bazel test ended with code 1" in done.stderr


def test_no_bazel(workspace):
    done = workspace.report("--bazel", "/no/such/bazel", "--json")
    assert done.returncode == 5
    assert "report: --bazel: found no program /no/such/bazel" in done.stderr
    assert json.loads(done.stdout)["problems"][0]["rule"] == "no_bazel"


def test_a_named_bazel_is_found_from_the_folder_of_the_caller(workspace):
    def report(bazel, caller):
        command = [bazel if word == str(workspace.bazel) else word for word in workspace.command()]
        environment = workspace.environment(BUILD_WORKING_DIRECTORY=str(caller))
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)

    assert report("./bazel", workspace.fake).returncode == 0
    assert report("../fake/bazel", workspace.folder / "gates").returncode == 0
    missed = report("./bazel", workspace.folder)
    assert missed.returncode == 5
    assert "report: --bazel: found no program ./bazel" in missed.stderr


def test_the_workspace_s_own_bazelw_comes_first(workspace):
    workspace.bazel.rename(workspace.folder / "bazelw")
    command = [
        word for word in workspace.command() if word not in ("--bazel", str(workspace.bazel))
    ]
    done = subprocess.run(
        command,
        env=workspace.environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0
    (workspace.folder / "bazelw").unlink()
    done = subprocess.run(
        command,
        env=workspace.environment(PATH="/none"),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 5
    assert f"found no Bazel: no {workspace.folder}/bazelw, and neither bazel" in done.stderr


@pytest.mark.parametrize(("no_color", "coloured"), [("", True), ("1", False)])
def test_colour_on_a_terminal_only(workspace, no_color, coloured):
    leader, follower = os.openpty()
    environment = workspace.environment(NO_COLOR=no_color)
    subprocess.run(
        workspace.command(),
        env=environment,
        stdout=follower,
        stderr=subprocess.DEVNULL,
        check=True,
    )
    os.close(follower)
    shown = os.read(leader, 65536).decode()
    os.close(leader)
    assert ("\x1b[32mpass\x1b[0m" in shown) is coloured


def test_a_reader_that_has_had_enough(workspace):
    process = subprocess.Popen(
        workspace.command(),
        env=workspace.environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout and process.stderr
    process.stdout.close()
    errors = process.stderr.read()
    process.stderr.close()
    assert process.wait() == 0
    assert "Traceback" not in errors
    assert "BrokenPipe" not in errors


def test_an_interrupt_waits_for_bazel_and_leaves_no_traceback(workspace):
    (workspace.fake / "wait").touch()
    process = subprocess.Popen(
        workspace.command(),
        env=workspace.environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    while not (workspace.fake / "started").exists():
        assert process.poll() is None
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGINT)
    out, errors = process.communicate(timeout=50)
    assert (process.returncode, out) == (130, "")
    assert errors.endswith("report: interrupted\n")
    assert "Traceback" not in errors
    assert (workspace.fake / "stopped").exists()
