"""What a test that needs PostgreSQL declares, and no other test has among its inputs."""

# Attributes of hardgate_pytest's per_file, or of python_module_test; POSTGRES | {...} adds or replaces some.
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
