"""Whether a Docker engine answers: tests that need one are skipped by Bazel, which says so, where none does."""

_NONE = ["@platforms//:incompatible"]

def _docker_engine(repository_ctx):
    docker = repository_ctx.which("docker")
    answers = docker and not repository_ctx.execute(
        [docker, "version", "--format", "{{.Server.Version}}"],
        timeout = 20,
    ).return_code
    repository_ctx.file("engine.bzl", "DOCKER_ENGINE = {}\n".format([] if answers else _NONE))
    repository_ctx.file("BUILD.bazel", "")

docker_engine = repository_rule(
    implementation = _docker_engine,
    doc = "DOCKER_ENGINE of //:engine.bzl is the target_compatible_with of tests that need the engine of this machine.",
    environ = ["DOCKER_HOST", "PATH"],
    local = True,
)
