"""What tests need to run Bazel inside a test: a Bazel to start, and wheels, since the network is off there."""

load(":interpreter.bzl", "PIP_ENVIRON", "find_python")

_LOCK = Label("//third_party:requirements.lock")

_SCRIPT = """#!/bin/sh
# Starts the Bazel that runs the build around this test.
{start}
"""

def _nested_bazel(repository_ctx):
    launch = repository_ctx.os.environ.get("HARDGATE_BAZEL_LAUNCH")
    if launch:
        start = ". '{}'\nlaunch \"$@\"".format(launch)
    else:
        found = repository_ctx.which("bazel") or repository_ctx.which("bazelisk")
        if not found:
            fail("No Bazel for tests that start one: start the build with ./bazelw, or put bazel on PATH.")
        start = "exec '{}' \"$@\"".format(found)
    repository_ctx.file("bazel", _SCRIPT.format(start = start), executable = True)
    repository_ctx.file("BUILD.bazel", "exports_files([\"bazel\"])\n")

nested_bazel = repository_rule(
    implementation = _nested_bazel,
    doc = "The program //:bazel starts the Bazel of the build that is running.",
    environ = ["HARDGATE_BAZEL_LAUNCH", "PATH"],
    local = True,
)

def _wheelhouse(repository_ctx):
    lock = repository_ctx.path(_LOCK)
    repository_ctx.watch(lock)
    result = repository_ctx.execute(
        [find_python(repository_ctx, repository_ctx.attr.python_version), "-I", "-m", "pip", "download", "--quiet", "--no-deps", "--require-hashes"] +
        ["--only-binary=:all:", "--disable-pip-version-check", "--dest", "wheels", "--requirement", str(lock)],
        timeout = 900,
    )
    if result.return_code:
        fail("Downloading the wheels of {} failed:\n{}".format(_LOCK, result.stderr))
    repository_ctx.file("BUILD.bazel", "exports_files([\"wheels\"])\n")

wheelhouse = repository_rule(
    implementation = _wheelhouse,
    doc = "The folder //:wheels holds the wheels of the requirements lock.",
    attrs = {"python_version": attr.string(default = "3.11", doc = "the minor version that the tests run on")},
    environ = PIP_ENVIRON,
)
