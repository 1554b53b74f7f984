"""What tests need to run Bazel inside a test: a Bazel to start, and wheels, since the network is off there."""

load(":interpreter.bzl", "PIP_ENVIRON", "find_python")

_SCRIPT = """#!/bin/sh
# Starts the Bazel that runs the build around this test.
{start}
"""

_NONE = """echo "No Bazel to start inside a test: start the build with ./bazelw, or put bazel on PATH." >&2
exit 1"""

def _carries_its_modules(repository_ctx, launch):
    settings = repository_ctx.path(launch).dirname.get_child("bazelrc")
    return settings.exists and "--override_module=rules_java=" in repository_ctx.read(settings)

def _nested_bazel(repository_ctx):
    launch = repository_ctx.os.environ.get("HARDGATE_BAZEL_LAUNCH")
    found = repository_ctx.which("bazel") or repository_ctx.which("bazelisk")
    start = _NONE
    tags = ["requires-network"]
    if launch:
        start = ". '{}'\nlaunch \"$@\"".format(launch)
        if _carries_its_modules(repository_ctx, launch):
            tags = []
    elif found:
        start = "exec '{}' \"$@\"".format(found)
    repository_ctx.file("bazel", _SCRIPT.format(start = start), executable = True)
    repository_ctx.file("tags.bzl", "NESTED_TAGS = {}\n".format(tags))
    repository_ctx.file("BUILD.bazel", "exports_files([\"bazel\"])\n")

nested_bazel = repository_rule(
    implementation = _nested_bazel,
    doc = """The program //:bazel starts the Bazel of the build that is running.

NESTED_TAGS of //:tags.bzl are the tags of its tests. A Bazel that gets its modules from a registry needs the network for that, also
inside a test; the tests that it starts then have their own sandboxes, without it.
""",
    environ = ["HARDGATE_BAZEL_LAUNCH", "PATH"],
    local = True,
)

def _wheelhouse(repository_ctx):
    lock = repository_ctx.path(repository_ctx.attr.lock)
    repository_ctx.watch(lock)
    result = repository_ctx.execute(
        [find_python(repository_ctx, repository_ctx.attr.python_version), "-I", "-m", "pip", "download", "--quiet", "--no-deps", "--require-hashes"] +
        ["--only-binary=:all:", "--disable-pip-version-check", "--dest", "wheels", "--requirement", str(lock)],
        timeout = 900,
    )
    if result.return_code:
        fail("Downloading the wheels of {} failed:\n{}".format(repository_ctx.attr.lock, result.stderr))
    repository_ctx.file("BUILD.bazel", "exports_files([\"wheels\"])\n")

wheelhouse = repository_rule(
    implementation = _wheelhouse,
    doc = "The folder //:wheels holds the wheels of a requirements lock.",
    attrs = {
        "lock": attr.label(mandatory = True, doc = "the hash-locked requirements file"),
        "python_version": attr.string(default = "3.11", doc = "the minor version that the tests run on"),
    },
    environ = PIP_ENVIRON,
)
