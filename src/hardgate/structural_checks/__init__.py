"""Structural checks that a workspace uses by configuration: `check: hardgate:<name>`.

Each check is a module with a function `check(context)`; its options are in
`hardgate.registry.check_options`. docs/reference/structural-checks.md says what each one finds.
"""
