"""Finds this machine's Python and makes a toolchain of it."""

_DESCRIBE = "; ".join([
    "import sys",
    "print(sys.executable)",
    "print('%d.%d' % sys.version_info[:2])",
    "print(sys.version.replace(chr(10), ' '))",
])

_BUILD = """
load("@bazel_tools//tools/python:toolchain.bzl", "py_runtime_pair")
load("@rules_python//python:defs.bzl", "py_runtime")

package(default_visibility = ["//visibility:public"])

py_runtime(
    name = "runtime",
    interpreter_path = {executable},
    python_version = "PY3",
    # The second line makes the interpreter's build part of every target's inputs.
    stub_shebang = {shebang},
)

py_runtime_pair(
    name = "pair",
    py3_runtime = ":runtime",
)

toolchain(
    name = "toolchain",
    toolchain = ":pair",
    toolchain_type = "@bazel_tools//tools/python:toolchain_type",
)
"""

def find_python(repository_ctx, minor):
    """Finds the interpreter to build with.

    Args:
      repository_ctx: the context of the calling repository rule.
      minor: string, the version asked for, such as "3.11".

    Returns:
      A struct with executable (path), minor ("3.11") and full (sys.version), all strings.
    """
    wanted = repository_ctx.os.environ.get("HARDGATE_PYTHON")
    found = wanted or repository_ctx.which("python" + minor) or repository_ctx.which("python3")
    if not found:
        fail("No Python {} on PATH. Install it, or set HARDGATE_PYTHON to an interpreter.".format(minor))
    result = repository_ctx.execute([str(found), "-I", "-c", _DESCRIBE])
    if result.return_code:
        fail("{} did not start:\n{}".format(found, result.stderr))
    executable, version, full = result.stdout.strip().split("\n")
    if version != minor:
        fail("Python {} is needed and {} is {}. Set HARDGATE_PYTHON to a Python {}.".format(
            minor,
            executable,
            version,
            minor,
        ))
    return struct(executable = executable, minor = version, full = full)

def _host_python(repository_ctx):
    python = find_python(repository_ctx, repository_ctx.attr.version)
    repository_ctx.file("BUILD.bazel", _BUILD.format(
        executable = repr(python.executable),
        shebang = repr("#!{}\n# {}".format(python.executable, python.full)),
    ))

host_python = repository_rule(
    implementation = _host_python,
    doc = "A Python toolchain on the interpreter of this machine.",
    attrs = {"version": attr.string(mandatory = True, doc = "minor version, such as 3.11")},
    environ = ["HARDGATE_PYTHON", "PATH"],
    configure = True,
)
