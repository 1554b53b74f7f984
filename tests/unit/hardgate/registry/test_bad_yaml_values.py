"""Bad registry entries: keys, values, and what has to fit together.

Each row is one kind of bad file: what is wrong, where exactly, and what a stranger is told.
"""

import pytest

from hardgate.documents.problems import DefinitionError
from hardgate.documents.tree import ManifestTree, OverlayTree
from hardgate.registry.loader import load_registry

PATH = "gates/tool.yaml"
KEYS = (
    "check, corpus, counterexamples, id, kind, lowered, milestone, minimum_members, "
    "options, sources, spec, statement or trials"
)
GOOD = """\
- id: gate.tool.forced_trust
  milestone: 1
  kind: structural
  spec: docs/specs/tool_system.md#hard-gates
  statement: No remote tool is trusted more than text from outside.
  check: gates/checks/tool.py::forced_trust
  sources:
    - //src:sources
  counterexamples:
    - name: label_kept
      reason: trust_too_high
"""


CASE_GATE = """\
- id: gate.tool.forced_trust
  milestone: 1
  kind: case
  spec: docs/specs/tool_system.md#hard-gates
  statement: No remote tool is trusted more than text from outside.
  check: case:trust
  counterexamples:
    - {name: x, reason: workspace, agent: broken}
"""


def good(old: str = "", new: str = "") -> str:
    """The good file with one text, which stands in it once, replaced by another."""
    assert not old or GOOD.count(old) == 1, old
    return GOOD.replace(old, new) if old else GOOD


def edited(*target: str, old: str = "one", new: str = "two", tree: str = "") -> str:
    """The good file with a counterexample that is an edit of `target`."""
    members = ", ".join([*target, f"old: {old}", f"new: {new}"])
    line = f"      edit: {{{members}}}\n"
    return GOOD + (f"      tree: {tree}\n" if tree else "") + line


def complaints(content: str | bytes) -> str:
    """What loading a registry complains about whose one file of gates has this content."""
    tree = OverlayTree(ManifestTree({}))
    tree.write("gates/MILESTONE", "1\n")
    tree.write(PATH, content)
    with pytest.raises(DefinitionError) as refused:
        load_registry(tree)
    return str(refused.value)


STATEMENT = "No remote tool is trusted more than text from outside."
SOURCES = "sources:\n    - //src:sources"

ROWS: dict[str, tuple[str | bytes, str]] = {
    "top level is a map": (
        b"gates: []\n",
        "1:1: schema.type: found a map; allowed: a list",
    ),
    "top level is a text": (
        b"gates\n",
        "1:1: schema.type: found 'gates'; allowed: a list",
    ),
    "empty list": (
        b"[]\n",
        "1:1: registry_empty: found an empty list; allowed: a list of gate entries",
    ),
    "entry is a text": (
        good() + "- gate.tool.other\n",
        "12:3: schema.type: found 'gate.tool.other'; allowed: a map",
    ),
    "entry is a list": (
        good() + "- - gate.tool.other\n",
        "12:3: schema.type: found a list; allowed: a map",
    ),
    "misspelled key": (
        good("statement:", "statment:"),
        "1:3: schema.missing_key: found a map without 'statement'; allowed: one that has it\n"
        f"5:3: schema.unknown_key: found the unknown key 'statment'; allowed: {KEYS}; did "
        "you mean 'statement'?",
    ),
    "key in Cyrillic": (
        good("statement:", "st\u0430tement:"),
        "1:3: schema.missing_key: found a map without 'statement'; allowed: one that has it\n"
        "5:3: schema.unknown_key: found the unknown key 'st\u0430tement' (character 3 is "
        f"U+0430 CYRILLIC SMALL LETTER A, which looks like 'a'); allowed: {KEYS}; did you "
        "mean 'statement'?",
    ),
    "key in capitals": (
        good("kind:", "Kind:"),
        "1:3: schema.missing_key: found a map without 'kind'; allowed: one that has it\n"
        f"3:3: schema.unknown_key: found the unknown key 'Kind'; allowed: {KEYS}; did you "
        "mean 'kind'?",
    ),
    "key far from any": (
        good("  kind:", "  owner: me\n  kind:"),
        f"3:3: schema.unknown_key: found the unknown key 'owner'; allowed: {KEYS}",
    ),
    "optional gate": (
        good("  kind:", "  optional: true\n  kind:"),
        f"3:3: schema.unknown_key: found the unknown key 'optional'; allowed: {KEYS}; "
        "did you mean 'options'?",
    ),
    "missing keys": (
        b"- id: gate.tool.forced_trust\n",
        "1:3: schema.missing_key: found a map without 'kind'; allowed: one that has it\n"
        "1:3: schema.missing_key: found a map without 'milestone'; allowed: one that has it\n"
        "1:3: schema.missing_key: found a map without 'spec'; allowed: one that has it\n"
        "1:3: schema.missing_key: found a map without 'statement'; allowed: one that has it",
    ),
    "unknown kind": (
        good("structural", "structual"),
        "3:9: schema.value: found 'structual'; allowed: case, property, corpus or "
        "structural; did you mean 'structural'?",
    ),
    "kind of another word": (
        good("structural", "unit"),
        "3:9: schema.value: found 'unit'; allowed: case, property, corpus or structural",
    ),
    "kind is a number": (
        good("structural", "7"),
        "3:9: schema.value: found 7; allowed: case, property, corpus or structural",
    ),
    "kind is a list": (
        good("kind: structural", "kind: [structural]"),
        "3:9: schema.value: found a list; allowed: case, property, corpus or structural",
    ),
    "negative milestone": (
        good("milestone: 1", "milestone: -1"),
        "2:14: schema.range: found -1; allowed: at least 0",
    ),
    "fractional milestone": (
        good("milestone: 1", "milestone: 1.5"),
        "2:14: schema.type: found 1.5; allowed: a whole number",
    ),
    "milestone in quotes": (
        good("milestone: 1", "milestone: '1'"),
        "2:14: schema.type: found '1'; allowed: a whole number",
    ),
    "milestone is a boolean": (
        good("milestone: 1", "milestone: true"),
        "2:14: schema.type: found true; allowed: a whole number",
    ),
    "milestone is null": (
        good("milestone: 1", "milestone: null"),
        "2:14: schema.type: found null; allowed: a whole number",
    ),
    "milestone is a date": (
        good("milestone: 1", "milestone: 2026-07-24"),
        "2:14: schema.type: found '2026-07-24'; allowed: a whole number",
    ),
    "milestone is a token": (
        good("milestone: 1", "milestone: M1"),
        "2:14: schema.type: found 'M1'; allowed: a whole number",
    ),
    "milestone is octal": (
        good("milestone: 1", "milestone: 01"),
        "2:14: schema.type: found '01'; allowed: a whole number",
    ),
    "huge milestone": (
        good("milestone: 1", "milestone: 100000000000000000000"),
        "2:14: schema.range: found 100000000000000000000; allowed: at most 99",
    ),
    "milestone a hundred": (
        good("milestone: 1", "milestone: 100"),
        "2:14: schema.range: found 100; allowed: at most 99",
    ),
    "id without an area": (
        good("gate.tool.forced_trust", "gate.forced_trust"),
        "1:7: id_malformed: found 'gate.forced_trust'; allowed: gate.<area>.<slug>, each of "
        "lower-case letters, digits and underscores",
    ),
    "id in capitals": (
        good("gate.tool.forced_trust", "gate.tool.Forced_Trust"),
        "1:7: id_malformed: found 'gate.tool.Forced_Trust'; allowed: gate.<area>.<slug>, "
        "each of lower-case letters, digits and underscores",
    ),
    "id with a hyphen": (
        good("gate.tool.forced_trust", "gate.tool.forced-trust"),
        "1:7: id_malformed: found 'gate.tool.forced-trust'; allowed: gate.<area>.<slug>, "
        "each of lower-case letters, digits and underscores",
    ),
    "id in Cyrillic": (
        good("gate.tool.forced_trust", "gate.tool.f\u043erced_trust"),
        "1:7: id_malformed: found 'gate.tool.f\u043erced_trust' (character 12 is U+043E "
        "CYRILLIC SMALL LETTER O, which looks like 'o'); allowed: gate.<area>.<slug>, each "
        "of lower-case letters, digits and underscores",
    ),
    "id is a number": (
        good("gate.tool.forced_trust", "3"),
        "1:7: schema.type: found 3; allowed: a text",
    ),
    "id of another area": (
        good("gate.tool.forced_trust", "gate.model.forced_trust"),
        "1:7: id_area_mismatch: found 'gate.model.forced_trust' in gates/tool.yaml; allowed: "
        "gate.tool.<slug>, the area being the stem of the file\n"
        "6:10: check_mismatch: found 'gates/checks/tool.py::forced_trust' on a gate of kind "
        "structural and area model; allowed: gates/checks/model.py::<function> or "
        "hardgate:<name>",
    ),
    "spec outside docs/specs": (
        good("docs/specs/tool_system.md", "docs/guide/tool_system.md"),
        "4:9: spec_malformed: found 'docs/guide/tool_system.md', which is outside; allowed: "
        "a path inside docs/specs/",
    ),
    "spec escapes": (
        good("docs/specs/tool_system.md", "docs/specs/../../secret.md"),
        "4:9: spec_malformed: found 'docs/specs/../../secret.md', which has the part '..'; "
        "allowed: a path inside docs/specs/",
    ),
    "spec is absolute": (
        good("docs/specs/tool_system.md", "/docs/specs/tool_system.md"),
        "4:9: spec_malformed: found '/docs/specs/tool_system.md', which is absolute; "
        "allowed: a path inside docs/specs/",
    ),
    "spec without an anchor": (
        good("tool_system.md#hard-gates", "tool_system.md"),
        "4:9: spec_malformed: found 'docs/specs/tool_system.md'; allowed: "
        "docs/specs/<spec>.md#<heading anchor>",
    ),
    "statement is a placeholder": (
        good(STATEMENT, "TODO"),
        "5:14: statement_placeholder: found 'TODO'; allowed: a sentence of at least 3 words, "
        "no placeholder",
    ),
    "statement to be written": (
        good(STATEMENT, "tbd, see the issue"),
        "5:14: statement_placeholder: found 'tbd, see the issue'; allowed: a sentence of at "
        "least 3 words, no placeholder",
    ),
    "statement of dots": (
        good(STATEMENT, "'...'"),
        "5:14: statement_placeholder: found '...'; allowed: a sentence of at least 3 words, "
        "no placeholder",
    ),
    "statement of two words": (
        good(STATEMENT, "Works fine"),
        "5:14: statement_placeholder: found 'Works fine'; allowed: a sentence of at least 3 "
        "words, no placeholder",
    ),
    "statement is empty": (
        good(STATEMENT, "''"),
        "5:14: statement_placeholder: found an empty text; allowed: a sentence of at least 3 "
        "words, no placeholder",
    ),
    "statement too long": (
        good("No remote", "No " + "very " * 500 + "remote"),
        "5:14: schema.length: found a text of 2554 characters; allowed: at most 2000",
    ),
    "check missing on an active gate": (
        good("  check: gates/checks/tool.py::forced_trust\n", ""),
        "1:3: check_missing: found the gate gate.tool.forced_trust, active at milestone 1, "
        "without 'check'; allowed: one that has it",
    ),
    "check escapes": (
        good("gates/checks/tool.py", "gates/checks/../../tool.py"),
        "6:10: check_malformed: found 'gates/checks/../../tool.py::forced_trust'; allowed: "
        "gates/checks/<area>.py::<function>, case:<case name> or hardgate:<name>",
    ),
    "check is a pytest node of the tests": (
        good("gates/checks/tool.py", "tests/unit/test_tool.py"),
        "6:10: check_malformed: found 'tests/unit/test_tool.py::forced_trust'; allowed: "
        "gates/checks/<area>.py::<function>, case:<case name> or hardgate:<name>",
    ),
    "check without a function": (
        good("tool.py::forced_trust", "tool.py"),
        "6:10: check_malformed: found 'gates/checks/tool.py'; allowed: "
        "gates/checks/<area>.py::<function>, case:<case name> or hardgate:<name>",
    ),
    "check in another area": (
        good("gates/checks/tool.py", "gates/checks/model.py"),
        "6:10: check_mismatch: found 'gates/checks/model.py::forced_trust' on a gate of kind "
        "structural and area tool; allowed: gates/checks/tool.py::<function> or "
        "hardgate:<name>",
    ),
    "case check on a structural gate": (
        good("gates/checks/tool.py::forced_trust", "case:forced_trust"),
        "6:10: check_mismatch: found 'case:forced_trust' on a gate of kind structural and "
        "area tool; allowed: gates/checks/tool.py::<function> or "
        "hardgate:<name>",
    ),
    "sources missing on an active gate": (
        good(f"  {SOURCES}\n", ""),
        "1:3: sources_missing: found the gate gate.tool.forced_trust, active at milestone 1, "
        "without 'sources'; allowed: the Bazel labels of the files it reads",
    ),
    "source is a path": (
        good("//src:sources", "src/sources"),
        "8:7: label_malformed: found 'src/sources'; allowed: a Bazel label such as //src:sources",
    ),
    "source twice": (
        good("    - //src:sources\n", "    - //src:sources\n    - //src:sources\n"),
        "9:7: source_duplicate: found '//src:sources' again; allowed: each label once",
    ),
    "sources is a text": (
        good(SOURCES, "sources: //src:sources"),
        "7:12: schema.type: found '//src:sources'; allowed: a list",
    ),
    "counterexamples missing on an active gate": (
        good("  counterexamples:\n    - name: label_kept\n      reason: trust_too_high\n", ""),
        "1:3: counterexample_missing: found the gate gate.tool.forced_trust, active at "
        "milestone 1, without 'counterexamples'; allowed: at least one defect that it rejects",
    ),
    "unknown counterexample key": (
        good("reason:", "reasons:"),
        "10:7: schema.missing_key: found a map without 'reason'; allowed: one that has it\n"
        "11:7: schema.unknown_key: found the unknown key 'reasons'; allowed: agent, edit, "
        "name, reason or tree; did you mean 'reason'?",
    ),
    "counterexample name is a sentence": (
        good("label_kept", "The label is kept"),
        "10:13: name_malformed: found 'The label is kept'; allowed: a name such as "
        "missing_await (a-z, 0-9 and _, a letter first)",
    ),
    "counterexample reason is a sentence": (
        good("trust_too_high", "Trust is too high."),
        "11:15: reason_malformed: found 'Trust is too high.'; allowed: the name of a rule or "
        "check, such as layer_order or fixture.unconsumed",
    ),
    "counterexample twice": (
        good() + "    - name: label_kept\n      reason: trust_missing\n",
        "12:13: counterexample_duplicate: found the counterexample 'label_kept' again; "
        "allowed: each name once in a gate",
    ),
    "counterexample tree escapes": (
        good("      reason:", "      tree: gates/defects/../../etc\n      reason:"),
        "11:13: tree_malformed: found 'gates/defects/../../etc', which has the part '..'; "
        "allowed: a path inside gates/defects/",
    ),
    "counterexample tree of another gate": (
        good("      reason:", "      tree: gates/defects/model/label_kept\n      reason:"),
        "11:13: tree_mismatch: found 'gates/defects/model/label_kept'; allowed: "
        "gates/defects/tool/label_kept, after the area and the name",
    ),
    "property without trials": (
        good("structural", "property").replace(f"  {SOURCES}\n", ""),
        "1:3: kind_key_missing: found a gate of kind property without 'trials'; allowed: one "
        "that has it",
    ),
    "no trials at all": (
        good("structural", "property").replace(SOURCES, "trials: 0"),
        "7:11: schema.range: found 0; allowed: at least 1",
    ),
    "trials on a structural gate": (
        good("  kind:", "  trials: 100\n  kind:"),
        "3:11: kind_key_unexpected: found 'trials' on a gate of kind structural; allowed: "
        "with kind property only",
    ),
    "sources on a case gate": (
        good("structural", "case").replace("gates/checks/tool.py::forced_trust", "case:trust"),
        "8:5: kind_key_unexpected: found 'sources' on a gate of kind case; allowed: with "
        "kind property or corpus or structural only",
    ),
    "corpus without its keys": (
        good("structural", "corpus").replace(f"  {SOURCES}\n", ""),
        "1:3: kind_key_missing: found a gate of kind corpus without 'corpus'; allowed: one "
        "that has it\n"
        "1:3: kind_key_missing: found a gate of kind corpus without 'minimum_members'; "
        "allowed: one that has it",
    ),
    "corpus escapes": (
        good("structural", "corpus").replace(
            SOURCES, "corpus: evals/corpora/../identity\n  minimum_members: 1"
        ),
        "7:11: corpus_malformed: found 'evals/corpora/../identity', which has the part '..'; "
        "allowed: a path inside evals/corpora/",
    ),
    "corpus in another folder": (
        good("structural", "corpus").replace(SOURCES, "corpus: evals/cases\n  minimum_members: 1"),
        "7:11: corpus_malformed: found 'evals/cases', which is outside; allowed: a path "
        "inside evals/corpora/",
    ),
    "corpus of no members": (
        good("structural", "corpus").replace(
            SOURCES, "corpus: evals/corpora/injection\n  minimum_members: 0"
        ),
        "8:20: schema.range: found 0; allowed: at least 1",
    ),
    "agent of a gate that starts none": (
        good("reason: trust_too_high", "reason: trust_too_high\n      agent: broken"),
        "12:14: agent_unexpected: found 'agent' on a gate of kind structural; allowed: with kind "
        "case only",
    ),
    "agent beside a tree": (
        CASE_GATE.replace("agent: broken", "agent: broken, tree: gates/defects/tool/x"),
        "8:43: agent_unexpected: found 'agent' beside 'tree'; allowed: one of them",
    ),
    "agent that is no name": (
        CASE_GATE.replace("agent: broken", "agent: //a:b"),
        "8:43: name_malformed: found '//a:b'; allowed: a name such as missing_await (a-z, 0-9 "
        "and _, a letter first)",
    ),
    "edit beside a tree": (
        edited("path: src/a.py", tree="gates/defects/tool/label_kept"),
        "13:13: edit_beside_tree: found 'edit' beside 'tree'; allowed: one of them",
    ),
    "edit of nothing": (
        edited(),
        "12:13: edit_target: found neither 'path' nor 'function'; allowed: one of them",
    ),
    "edit of two things": (
        edited("path: src/a.py", "function: a.b"),
        "12:13: edit_target: found 'path' and 'function'; allowed: one of them",
    ),
    "edit of a function that no process runs": (
        edited("function: a.b"),
        "12:24: edit_target: found 'function' on a gate of kind structural, whose check reads "
        "files; allowed: 'path'",
    ),
    "edit that changes nothing": (
        edited("path: src/a.py", new="one"),
        "12:45: edit_same: found the same text in 'old' and 'new'; allowed: a new text that "
        "differs",
    ),
    "edit outside the workspace": (
        edited("path: ../a.py"),
        "12:20: path_malformed: found '../a.py', which has the part '..'; allowed: a path in the "
        "workspace",
    ),
    "edit of a function without a module": (
        edited("function: greeting"),
        "12:24: function_malformed: found 'greeting'; allowed: <module>.<function>, dotted",
    ),
    "edit of an empty text": (
        edited("path: src/a.py", old="''"),
        "12:35: schema.length: found ''; allowed: at least 1 character",
    ),
    "lowered without a reason": (
        good("  kind:", "  lowered: yes\n  kind:"),
        "3:12: reason_placeholder: found 'yes'; allowed: a sentence of at least 3 words, no "
        "placeholder",
    ),
    "id twice in a file": (
        good() + good(),
        "12:7: id_duplicate: found 'gate.tool.forced_trust' again, first at "
        "gates/tool.yaml:1:7; allowed: each id once",
    ),
    "ids alike": (
        good() + good("gate.tool.forced_trust", "gate.tool.forcedtrust"),
        "12:7: id_confusable: found 'gate.tool.forcedtrust', easily taken for "
        "'gate.tool.forced_trust' at gates/tool.yaml:1:7; allowed: ids that read differently",
    ),
}


@pytest.mark.parametrize("kind", ROWS)
def test_bad_entry_is_refused(kind):
    content, expected = ROWS[kind]
    assert complaints(content) == "\n".join(f"{PATH}:{line}" for line in expected.split("\n"))


def test_the_good_file_is_accepted():
    tree = OverlayTree(ManifestTree({}))
    tree.write("gates/MILESTONE", "1\n")
    tree.write(PATH, GOOD)
    assert [gate.id for gate in load_registry(tree).gates] == ["gate.tool.forced_trust"]


def test_a_case_may_have_a_broken_agent_as_counterexample():
    tree = OverlayTree(ManifestTree({}))
    tree.write("gates/MILESTONE", "1\n")
    tree.write(PATH, CASE_GATE)
    registry = load_registry(tree)
    assert [one.agent for one in registry.gates[0].counterexamples] == ["broken"]
