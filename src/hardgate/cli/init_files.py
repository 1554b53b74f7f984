"""What `hardgate init` writes: the smallest workspace with gates, as examples/hello_gate has it."""

from __future__ import annotations

import shlex
from collections.abc import Mapping

from hardgate.verdicts.verdict import HARNESS_VERSION

BAZEL_VERSION = "7.7.1"
MODULE = "MODULE.bazel"

_MODULE = '''"""{title}"""

module(name = "{name}")

bazel_dep(name = "hardgate", version = "{version}")
{override}'''
_OVERRIDE = '''
{comment}local_path_override(
    module_name = "hardgate",
    path = "{path}",
)
'''
_DECLARATION = '''
gates = use_extension("@hardgate//tools:extensions.bzl", "gates")
gates.declare(
    name = "{repository}",
    root = "//gates:BUILD.bazel",
)
use_repo(gates, "{repository}")
'''
_BUILD = """load("@hardgate//tools:defs.bzl", "hardgate_gates")
load("@{repository}//:index.bzl", "INDEX")

hardgate_gates(
    name = "gates",
    index = INDEX,
)
"""
_REGISTRY = """- id: gate.hello.same_every_day
  milestone: 0
  kind: structural
  spec: docs/specs/hello.md#hard-gates
  statement: The code of the greeting reads no clock.
  check: hardgate:no_ambient_time
  options:
    roots: [.]
    of: [time]
  sources:
    - //gates:checks/hello.py
  counterexamples:
    - name: dated
      reason: ambient_time
      edit:
        path: gates/checks/hello.py
        old: return f"Hello, {name}!"
        new: import time; return f"Hello, {name}, it is {time.ctime()}!"

- id: gate.hello.named
  milestone: 0
  kind: property
  spec: docs/specs/hello.md#hard-gates
  statement: Everybody is greeted with their own name.
  check: gates/checks/hello.py::named
  trials: 100
  counterexamples:
    - name: everybody_alike
      reason: name_missing
      edit:
        function: gates.checks.hello.greeting
        old: "{name}"
        new: you
"""
_CHECKS = '''"""A greeting, and the check of the gate `gate.hello.named`."""

from hypothesis import strategies

from hardgate.kinds.checking import require
from hardgate.kinds.property import PropertyContext


def greeting(name: str) -> str:
    return f"Hello, {name}!"


def named(context: PropertyContext) -> None:
    """Greets generated people."""

    def holds(name: str) -> None:
        said = greeting(name)
        require(name in said, "name_missing", f"{said!r} does not hold {name!r}")

    context.for_all(holds, name=strategies.text(min_size=1))
'''
_SPEC = """# A greeting

Whoever comes in is greeted, on every day alike.

## Hard gates

1. **`gate.hello.same_every_day`** — The code of the greeting reads no clock. **M0.**
2. **`gate.hello.named`** — Everybody is greeted with their own name. **M0.**
"""
_SETTINGS = """# No variables of the calling shell and no network. The gates prove that it is off in any case.
build --incompatible_strict_action_env
build --sandbox_default_allow_network=false
build --nobuild_runfile_links
test --test_output=errors
test --keep_going
# The report reads verdicts as plain files.
test --nozip_undeclared_test_outputs

common --enable_platform_specific_config
test:linux --strategy=TestRunner=linux-sandbox

# Yours, not checked in.
try-import %workspace%/user.bazelrc
"""


_IGNORED = """/bazel-*
/user.bazelrc
__pycache__/
"""
_BAZELW = """#!/bin/sh
# Starts Bazel as Hardgate's own sources do, where it is not installed.
here=$(dirname "$0")
exec "$here"/{sources}/bazelw "$@"
"""


def index_repository(name: str) -> str:
    """The repository with the index of the gates of the module `name`."""
    return f"{name}_index"


def declaration(name: str) -> str:
    """The lines of MODULE.bazel that declare the gates of the module `name`."""
    return _DECLARATION.format(repository=index_repository(name))


def module_file(name: str, title: str, override: str | None, comment: str = "") -> str:
    """The text of MODULE.bazel. `override`: the folder of Hardgate's own sources, None where it
    comes from a registry; `comment` says why, as lines of comment."""
    place = "" if override is None else _OVERRIDE.format(path=override, comment=comment)
    head = _MODULE.format(name=name, title=title, version=HARNESS_VERSION, override=place)
    return head + declaration(name)


def gate_files(name: str) -> Mapping[str, str]:
    """The gates of the module `name` with all that they need, by path; MODULE.bazel is not in it."""
    return {
        "docs/specs/hello.md": _SPEC,
        "gates/BUILD.bazel": _BUILD.format(repository=index_repository(name)),
        "gates/checks/hello.py": _CHECKS,
        "gates/hello.yaml": _REGISTRY,
    }


def settings_files(sources: str | None) -> Mapping[str, str]:
    """What a workspace has besides its gates: Bazel's version and settings, what git leaves out,
    and, where Hardgate comes from a folder of `sources`, a way to its program that starts Bazel."""
    files = {
        ".bazelrc": _SETTINGS,
        ".bazelversion": f"{BAZEL_VERSION}\n",
        ".gitignore": _IGNORED,
    }
    if sources is not None:
        files["bazelw"] = _BAZELW.format(sources=shlex.quote(sources))
    return files
