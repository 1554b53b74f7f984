"""Repositories that only this project's own tests need."""

load("//tools/private:docker.bzl", _docker_engine = "docker_engine")
load("//tools/private:nested.bzl", _nested_bazel = "nested_bazel", _wheelhouse = "wheelhouse")
load("//tools/private:npm.bzl", "npm_packages")

docker_engine = _docker_engine
nested_bazel = _nested_bazel

def wire_npm(name):
    """The agent SDK for Node that the scripted provider is tested with.

    Args:
      name: string, the repository's name.
    """
    npm_packages(
        name = name,
        lock = Label("//third_party:wire_npm/package-lock.json"),
        package = Label("//third_party:wire_npm/package.json"),
    )

def wheelhouses():
    """The wheels that nested builds install: Hardgate's own, those of an example's agents, and PostgreSQL's."""
    _wheelhouse(
        name = "hardgate_wheelhouse",
        lock = Label("//third_party:requirements.lock"),
    )
    _wheelhouse(
        name = "hardgate_example_wheelhouse",
        lock = Label("//examples:your_agent/requirements.lock"),
    )
    _wheelhouse(
        name = "hardgate_postgres_wheelhouse",
        lock = Label("//third_party:postgres_tests.lock"),
    )

def _development(_module_ctx):
    _docker_engine(name = "hardgate_docker")
    _nested_bazel(name = "hardgate_nested_bazel")
    wheelhouses()
    wire_npm(name = "hardgate_wire_npm")

development = module_extension(
    implementation = _development,
    doc = "Makes hardgate_docker, hardgate_nested_bazel, three wheelhouses and hardgate_wire_npm.",
)
