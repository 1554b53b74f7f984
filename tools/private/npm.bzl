"""Packages of npm for tests, installed by the machine's own Node."""

_NODE = """#!/bin/sh
# Starts the Node of the machine.
exec '{}' "$@"
"""

_NONE = """#!/bin/sh
echo "No Node to start: put node and npm on PATH, and build again." >&2
exit 1
"""

_BUILD = """exports_files([
    "node",
    "node_modules",
    "package-lock.json",
])
"""

_ENVIRON = ["NPM_CONFIG_REGISTRY", "PATH"]

def _npm_packages(repository_ctx):
    for attribute, name in [("package", "package.json"), ("lock", "package-lock.json")]:
        source = repository_ctx.path(getattr(repository_ctx.attr, attribute))
        repository_ctx.watch(source)
        repository_ctx.file(name, repository_ctx.read(source))
    repository_ctx.file("BUILD.bazel", _BUILD)
    node, npm = repository_ctx.which("node"), repository_ctx.which("npm")
    if not (node and npm):
        # What needs Node fails and says so; the rest of the build does without it.
        repository_ctx.file("node", _NONE, executable = True)
        repository_ctx.file("node_modules/README", "No Node was found.\n")
        return
    repository_ctx.file("node", _NODE.format(node), executable = True)
    repository_ctx.report_progress("installing " + str(repository_ctx.attr.lock))
    result = repository_ctx.execute(
        [npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--no-update-notifier"],
        timeout = 600,
    )
    if result.return_code:
        fail("Installing {} failed; is an npm registry reachable?\n{}".format(repository_ctx.attr.lock, result.stderr))

npm_packages = repository_rule(
    implementation = _npm_packages,
    doc = """The folder //:node_modules holds what a package-lock.json names; the program //:node starts Node.

Scripts of packages are not run. //:package-lock.json stands beside the folder in a target's data: Bazel does not look into a folder.
""",
    attrs = {
        "lock": attr.label(mandatory = True, doc = "the package-lock.json"),
        "package": attr.label(mandatory = True, doc = "its package.json"),
    },
    environ = _ENVIRON,
)
