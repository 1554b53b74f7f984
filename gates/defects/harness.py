"""The counterexamples of the area harness."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable

# The registry finds a counterexample by its name in this module, wherever it is written.
from gates.defects.harness_cases import (  # noqa: F401
    case_key_misspelt,
    case_name_reused,
    case_number_reused,
    event_misspelt,
    fixture_broken,
    fixture_renamed,
    principal_removed,
    profile_misspelt,
    reason_misspelt,
    tool_misspelt,
)
from gates.defects.harness_deployment import (  # noqa: F401
    built_before_read,
    name_left_out,
    prefix_without_dot,
    principal_let_through,
    profile_let_through,
    staging_counts_as_development,
    tenant_let_through,
)
from gates.defects.harness_edits import change
from gates.defects.harness_messages import (  # noqa: F401
    maker_adds_action,
    message_replaced_in_rows,
    message_with_format,
    outcome_made_in_pipeline,
    reason_doubled,
    reason_dropped,
    table_moved,
    tool_adds_reason,
)
from gates.defects.harness_network import (  # noqa: F401
    case_published_unproven,
    connections_tried_first,
    datagrams_not_tried,
    every_answer_a_refusal,
    ipv6_required,
    network_without_consequence,
    proof_kept_short,
    routes_ignored,
    timeout_taken_for_refusal,
    unreadable_taken_for_off,
)
from hardgate.documents.tree import DefectError
from hardgate.kinds.bench import Bench
from hardgate.kinds.python_edits import (
    add_import,
    add_to_function,
    append,
    dotted,
    first_module,
    rename,
)

_REGISTRY = "gates/harness.yaml"
_CHECKS = "gates/checks/harness.py"
_SPEC = "docs/specs/evaluation_harness.md"
_ENTRY = re.compile(r"(?m)^- id: (\S+)\n(?:(?!- id: ).*\n?)*")
_ITEM = re.compile(r"(?m)^(\d+)\. \*\*`([^`]+)`\*\* — (?:(?!\d+\. ).*\n?)*")


def _match(bench: Bench, pattern: re.Pattern[str], path: str, wanted: str = "") -> re.Match[str]:
    """The last match in a file that holds a text."""
    found = [
        match
        for match in pattern.finditer(bench.tree.read(path).decode("utf-8"))
        if wanted in match.group()
    ]
    if not found:
        raise DefectError(f"{path} has no entry with {wanted!r}")
    return found[-1]


def _in_last_entry(bench: Bench, wanted: str, old: str, new: str) -> None:
    """Replaces a pattern once in the last registry entry that holds a text."""
    entry = _match(bench, _ENTRY, _REGISTRY, wanted).group()
    changed = re.sub(old, new, entry, count=1)
    change(bench, _REGISTRY, lambda text: text.replace(entry, changed))


# registry_complete


def entry_dropped(bench: Bench) -> None:
    """A gate is lost from the registry in a merge, its spec still promises it."""
    entry = _match(bench, _ENTRY, _REGISTRY).group()
    change(bench, _REGISTRY, lambda text: text.replace(entry, ""))


def declaration_dropped(bench: Bench) -> None:
    """A spec loses the promise that a registered gate keeps."""
    item = _match(bench, _ITEM, _SPEC).group()
    change(bench, _SPEC, lambda text: text.replace(item, ""))


def declared_twice(bench: Bench) -> None:
    """A second spec declares a gate in full instead of as an alias."""
    item = _match(bench, _ITEM, _SPEC)
    other = "docs/specs/structure.md"
    number = int(_match(bench, _ITEM, other).group(1)) + 1
    append(bench.tree, other, re.sub(r"^\d+", str(number), item.group()))


def milestone_moved(bench: Bench) -> None:
    """A gate is put off by a milestone in the registry, the spec says the old one."""
    _in_last_entry(bench, "milestone: 1\n", "milestone: 1\n", "milestone: 2\n")


def statement_softened(bench: Bench) -> None:
    """What a gate has to hold gets weaker in the registry than the spec promises."""
    _in_last_entry(bench, "Every ", "Every ", "Almost every ")


def check_renamed(bench: Bench) -> None:
    """The function behind a gate gets a better name, the registry keeps the old one."""
    rename(bench.tree, _CHECKS, "id_grammar", "ids_follow_grammar")


def check_dropped(bench: Bench) -> None:
    """An active gate no longer says what checks it."""
    _in_last_entry(bench, "  check: ", r"  check: .*\n", "")


def counterexample_renamed(bench: Bench) -> None:
    """A defect is renamed, the registry keeps the old name."""
    rename(bench.tree, "gates/defects/structure.py", "upward_import", "domain_imports_application")


def counterexamples_dropped(bench: Bench) -> None:
    """An active gate is left without anything that proves that it can fail."""
    _in_last_entry(bench, "  counterexamples:\n", r"  counterexamples:\n(    .*\n?)+", "")


def number_typed(bench: Bench) -> None:
    """A number of gates in the docs is changed by hand."""
    number = re.compile(r"(<!-- derived: gates\.total -->)\d+")
    change(bench, "docs/specs/README.md", lambda text: number.sub(r"\g<1>999", text, count=1))


# no_stale_skip


def _first_test(bench: Bench) -> tuple[str, ast.FunctionDef]:
    """The path and the first plain test function of the first test module that has one."""
    for path in bench.tree.glob("tests/unit/**/test_*.py"):
        for node in ast.parse(bench.tree.read(path)).body:
            asserts = any(isinstance(one, ast.Assert) for one in ast.walk(node))
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_") and asserts:
                return path, node
    raise DefectError("there is no test function below tests/unit")


def _decorate(bench: Bench, decorator: str) -> None:
    path, node = _first_test(bench)
    bench.tree.edit(path, f"\ndef {node.name}(", f"\n{decorator}\ndef {node.name}(")


def skip_marked(bench: Bench) -> None:
    """A failing test is skipped for the moment, under a shorter name of the mark."""
    _decorate(bench, "@mark.skip(reason='fails since the update')")
    add_import(bench.tree, _first_test(bench)[0], "from pytest import mark")


def skip_called(bench: Bench) -> None:
    """A check gives up by a skip where it cannot find its input."""
    add_import(bench.tree, _CHECKS, "import pytest as framework")
    add_to_function(bench.tree, _CHECKS, "framework.skip('no input here')")


def expected_failure(bench: Bench) -> None:
    """A failing test is expected to fail, so that the build is green again."""
    _decorate(bench, "@pytest.mark.xfail(strict=False)")
    add_import(bench.tree, _first_test(bench)[0], "import pytest")


def retry_marked(bench: Bench) -> None:
    """A test that fails now and then is tried until it passes."""
    _decorate(bench, "@pytest.mark.flaky(reruns=3)")
    add_import(bench.tree, _first_test(bench)[0], "import pytest")


def test_misnamed(bench: Bench) -> None:
    """A test loses the beginning of its name, and pytest no longer finds it."""
    path, node = _first_test(bench)
    name = node.name.removeprefix("test_")
    bench.tree.edit(path, f"\ndef {node.name}(", f"\ndef {name}_is_checked(")


def test_hidden(bench: Bench) -> None:
    """A copied test keeps the name of the first one, which then never runs."""
    path, node = _first_test(bench)
    append(bench.tree, path, f"\n\ndef {node.name}():\n    assert True")


def gate_quarantined(bench: Bench) -> None:
    """A failing gate is put into the quarantine like any other test."""
    gate = _match(bench, _ENTRY, _REGISTRY).group(1)
    bench.tree.write("evals/quarantine.yaml", f"- test: {gate}\n  since: '2026-01-01'\n")


def case_quarantined(bench: Bench) -> None:
    """A case is put into the quarantine although an active gate is proven by it."""
    entry = _match(bench, _ENTRY, _REGISTRY, "  milestone: 0\n").group()
    gate = re.sub(r"- id: .*\n", "- id: gate.harness.answered_directly\n", entry)
    gate = re.sub(r"  kind: .*\n", "  kind: case\n", gate)
    gate = re.sub(r"  check: .*\n", "  check: case:direct_response\n", gate)
    append(bench.tree, _REGISTRY, re.sub(r"  sources:\n(    - .*\n)+", "", gate))
    bench.tree.write("evals/quarantine.yaml", "- case: direct_response\n  since: '2026-01-01'\n")


def target_made_manual(bench: Bench) -> None:
    """Tests are tagged so that //... no longer builds or runs them."""
    append(bench.tree, "tests/BUILD.bazel", 'test_suite(name = "later", tags = ["manual"])')


def gates_filtered_out(bench: Bench) -> None:
    """The options for every call of Bazel leave the structural gates out."""
    append(bench.tree, ".bazelrc", "test --test_tag_filters=-kind:structural")


def failures_retried(bench: Bench) -> None:
    """Bazel is told to try failing tests again."""
    append(bench.tree, ".bazelrc", "test --flaky_test_attempts=3")


# contract_coverage


def _contract(bench: Bench) -> str:
    for path in bench.tree.glob("tests/contract/**/test_*_contract.py"):
        return path
    raise DefectError("there is no contract module below tests/contract")


def contract_removed(bench: Bench) -> None:
    """The contract module of a port is deleted."""
    bench.tree.remove(_contract(bench))


def contract_doubled(bench: Bench) -> None:
    """A second contract module for a port is started in another folder."""
    path = _contract(bench)
    text = bench.tree.read(path)
    bench.tree.write(path.replace("tests/contract/", "tests/contract/extended/"), text)


def port_removed(bench: Bench) -> None:
    """A port gets another name, its contract module keeps the old one."""
    path = first_module(bench.tree, "src/agent_core/ports")
    port = re.compile(r"\bclass (\w+)\(Protocol\)")
    change(bench, path, lambda text: port.sub(r"class New\1(Protocol)", text))


def contract_emptied(bench: Bench) -> None:
    """The tests of a contract are renamed, so that its list of implementations tests nothing."""
    change(bench, _contract(bench), lambda text: re.sub(r"\bdef test_", "def later_test_", text))


def _port(bench: Bench) -> tuple[str, ast.ClassDef]:
    """The module and the first class of the ports."""
    path = first_module(bench.tree, "src/agent_core/ports")
    for node in ast.parse(bench.tree.read(path)).body:
        if isinstance(node, ast.ClassDef):
            return path, node
    raise DefectError(f"{path} has no class")


def implementation_unlisted(bench: Bench) -> None:
    """A new adapter names its port, and no contract runs over it."""
    path, port = _port(bench)
    text = f"from {dotted(path)} import {port.name}\n\n\nclass Remote{port.name}({port.name}):\n"
    bench.tree.write("src/agent_core/adapters/remote.py", f"{text}    pass\n")


def implementation_unnamed(bench: Bench) -> None:
    """A new adapter has every method of a port, does not name it, and no contract runs over it."""
    _, port = _port(bench)
    methods = [ast.unparse(node) for node in port.body if isinstance(node, _FUNCTIONS)]
    body = "\n\n".join(methods).replace("\n", "\n    ")
    bench.tree.write("src/agent_core/adapters/remote.py", f"class Remote:\n    {body}\n")


_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


# evals_isolation


def _runtime_module(bench: Bench) -> str:
    return first_module(bench.tree, "src/agent_core/application")


def direct_import(bench: Bench) -> None:
    """A service of the runtime uses a helper of the evals package."""
    add_import(bench.tree, _runtime_module(bench), "from agent_core import evals")


def import_in_function(bench: Bench) -> None:
    """The same, hidden in a function and relative."""
    add_to_function(bench.tree, _runtime_module(bench), "from ..evals import subject")


def import_by_detour(bench: Bench) -> None:
    """The runtime imports a helper outside of it, which imports the evals package."""
    bench.tree.write("src/shared_helpers.py", "from agent_core.evals import *\n")
    add_import(bench.tree, _runtime_module(bench), "import shared_helpers")


def harness_imported(bench: Bench) -> None:
    """The runtime imports a type of the harness for an annotation."""
    statement = "from hardgate.subjects.port import Record"
    add_import(bench.tree, _runtime_module(bench), statement)


def import_by_name(bench: Bench) -> None:
    """The runtime loads the evals package by a name that is put together."""
    path = _runtime_module(bench)
    add_import(bench.tree, path, "from importlib import import_module as load_module")
    add_to_function(bench.tree, path, "load_module('.'.join(['agent_core', 'eval' + 's']))")


def name_handed_on(bench: Bench) -> None:
    """The name of the evals package is left for something else to import."""
    add_import(bench.tree, _runtime_module(bench), "PLUGINS = ('agent_core.evals.subject',)")


def evals_renamed(bench: Bench) -> None:
    """The evals package gets another name, and what guards it guards nothing."""
    for path in bench.tree.glob("src/agent_core/evals/**"):
        content = bench.tree.read(path)
        bench.tree.remove(path)
        bench.tree.write(path.replace("/evals/", "/evaluation/"), content)


# id_grammar


def _rename_last_id(bench: Bench, rename_id: Callable[[str], str]) -> None:
    gate = _match(bench, _ENTRY, _REGISTRY).group(1)
    new = f"- id: {rename_id(gate)}"
    change(bench, _REGISTRY, lambda text: text.replace(f"- id: {gate}", new))


def id_capitalised(bench: Bench) -> None:
    """An id is written like the name of a class."""
    _rename_last_id(bench, lambda gate: gate.title().replace("Gate.", "gate."))


def id_in_spec_malformed(bench: Bench) -> None:
    """A spec writes an id with hyphens."""
    gate = _match(bench, _ITEM, _SPEC).group(2)
    change(bench, _SPEC, lambda text: text.replace(f"`{gate}`", f"`{gate.replace('_', '-')}`"))


def id_mentioned_malformed(bench: Bench) -> None:
    """A page that only mentions a gate gets its id wrong."""
    append(bench.tree, "docs/specs/README.md", "See also `gate.harness.No_Egress`.")


def id_in_other_file(bench: Bench) -> None:
    """An entry is moved to the file of another area, its id stays."""
    entry = _match(bench, _ENTRY, _REGISTRY).group()
    change(bench, _REGISTRY, lambda text: text.replace(entry, ""))
    append(bench.tree, "gates/structure.yaml", entry)


def id_repeated(bench: Bench) -> None:
    """An entry is copied as a start for a new one, its id is not changed."""
    append(bench.tree, _REGISTRY, _match(bench, _ENTRY, _REGISTRY).group())


def id_lookalike(bench: Bench) -> None:
    """A new entry has an id that a reader takes for another one."""
    entry = _match(bench, _ENTRY, _REGISTRY)
    look_alike = entry.group().replace(entry.group(1), entry.group(1).replace("_", "__", 1), 1)
    append(bench.tree, _REGISTRY, look_alike)


def id_reused(bench: Bench) -> None:
    """The id of a retired gate is given to a new one."""
    gate = _match(bench, _ENTRY, _REGISTRY).group(1)
    bench.tree.write("gates/retired.yaml", f"- id: {gate}\n  reason: It was replaced by another.\n")


# anchor_resolves


def spec_file_renamed(bench: Bench) -> None:
    """A spec is renamed, its gates still name the old file."""
    content = bench.tree.read(_SPEC)
    bench.tree.remove(_SPEC)
    bench.tree.write("docs/specs/harness.md", content)


def heading_renamed(bench: Bench) -> None:
    """The heading that gates name gets another text."""
    bench.tree.edit(_SPEC, "\n## Hard gates\n", "\n## Gates that block\n")


def gate_in_other_spec(bench: Bench) -> None:
    """An entry names the section of a spec that does not declare its gate."""
    _in_last_entry(bench, "spec: ", r"spec: \S+", "spec: docs/specs/policy.md#hard-gates")


def link_broken(bench: Bench) -> None:
    """A page links to a heading that is not there."""
    append(bench.tree, "docs/specs/README.md", "[Details](structure.md#no-such-heading)")
