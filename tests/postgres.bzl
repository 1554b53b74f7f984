"""What a test that needs PostgreSQL declares, and no other test has among its inputs."""

load("@hardgate_docker//:engine.bzl", "DOCKER_ENGINE")

# Attributes of hardgate_pytest's per_file; POSTGRES | {...} adds or replaces some.
POSTGRES = {
    "data": [
        # As files too: pytest looks for what a test imports from its own folders there and nowhere else.
        "//tests:postgres_support",
        "//tests:postgres_template",
    ],
    "deps": ["//tests:postgres"],
    "environment": {"HARDGATE_POSTGRES_TEMPLATE": "$(rootpath //tests:postgres_template)"},
    "tags": ["postgres"],
}

# The same for the server of a container. Such a test runs where a Docker engine answers, outside of the sandbox, which hides the
# engine's socket. Elsewhere Bazel says SKIPPED and CI names it: it is the only kind of test that a machine may leave out, so no
# gate may depend on one, and this is the only place that says so.
POSTGRES_IMAGE = POSTGRES | {
    "deps": POSTGRES["deps"] + ["@hardgate_postgres_pypi//testcontainers"],
    "tags": POSTGRES["tags"] + [
        "docker",
        "no-remote",
        "no-sandbox",
        "requires-network",
    ],
    "target_compatible_with": DOCKER_ENGINE,
}
