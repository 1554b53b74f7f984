"""PyYAML for the rule that reads the registry, installed once and not at each edit."""

load(":interpreter.bzl", "PIP_ENVIRON", "find_python")

_LOCK = Label("//third_party:requirements.lock")
_SCRIPT = Label("//tools/private:install_yaml.py")

def _yaml_library(repository_ctx):
    lock = repository_ctx.path(_LOCK)
    repository_ctx.watch(lock)
    repository_ctx.watch(_SCRIPT)
    result = repository_ctx.execute(
        [find_python(repository_ctx), "-I", "-B", repository_ctx.path(_SCRIPT), lock, "site"],
        timeout = 600,
    )
    if result.return_code:
        fail("Installing the PyYAML of {} failed; is a Python package index reachable?\n{}".format(
            _LOCK,
            result.stderr,
        ))
    repository_ctx.file("BUILD.bazel", "")

yaml_library = repository_rule(
    implementation = _yaml_library,
    doc = "The folder site holds the PyYAML of the requirements lock.",
    environ = PIP_ENVIRON,
)
