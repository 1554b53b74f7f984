"""Installs a hash-locked requirements file and makes one library of each distribution."""

load(":host.bzl", "find_python")

_INSTALL = Label("//python/private:install.py")

def _pip_hub(repository_ctx):
    lock = repository_ctx.path(repository_ctx.attr.lock)
    repository_ctx.watch(lock)
    repository_ctx.watch(_INSTALL)
    python = find_python(repository_ctx, repository_ctx.attr.version)
    repository_ctx.report_progress("installing " + str(repository_ctx.attr.lock))
    result = repository_ctx.execute(
        [python.executable, "-I", str(repository_ctx.path(_INSTALL)), str(lock), repository_ctx.attr.hub_name],
        timeout = 900,
    )
    if result.return_code:
        fail("Installing {} failed; is a Python package index reachable?\n{}{}".format(
            repository_ctx.attr.lock,
            result.stdout,
            result.stderr,
        ))

pip_hub = repository_rule(
    implementation = _pip_hub,
    doc = "One repository with a py_library per distribution of a requirements lock.",
    attrs = {
        "hub_name": attr.string(mandatory = True, doc = "the repository's apparent name"),
        "lock": attr.label(mandatory = True, doc = "the hash-locked requirements file"),
        "version": attr.string(mandatory = True, doc = "Python minor version, such as 3.11"),
    },
    environ = [
        "HARDGATE_PYTHON",
        "PATH",
        "PIP_CERT",
        "PIP_CONFIG_FILE",
        "PIP_EXTRA_INDEX_URL",
        "PIP_FIND_LINKS",
        "PIP_INDEX_URL",
    ],
)
