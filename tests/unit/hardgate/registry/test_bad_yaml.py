"""Bad registry files: bytes, characters, YAML syntax and what the strict loader refuses.

Each row is one kind of bad file: what is wrong, where exactly, and what a stranger is told.
"""

import pytest

from hardgate.documents.problems import DefinitionError
from hardgate.documents.tree import ManifestTree, OverlayTree
from hardgate.registry.loader import load_registry

PATH = "gates/tool.yaml"
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


def good(old: str = "", new: str = "") -> str:
    """The good file with one text, which stands in it once, replaced by another."""
    assert not old or GOOD.count(old) == 1, old
    return GOOD.replace(old, new) if old else GOOD


def complaints(content: str | bytes) -> str:
    """What loading a registry complains about whose one file of gates has this content."""
    tree = OverlayTree(ManifestTree({}))
    tree.write("gates/MILESTONE", "1\n")
    tree.write(PATH, content)
    with pytest.raises(DefinitionError) as refused:
        load_registry(tree)
    return str(refused.value)


ROWS: dict[str, tuple[str | bytes, str]] = {
    "empty file": (
        b"",
        "1:1: yaml.empty_file: found an empty file; allowed: a value",
    ),
    "only blank lines": (
        b"\n\n",
        "1:1: yaml.empty_file: found an empty file; allowed: a value",
    ),
    "only comments": (
        b"# gates of the tool system\n",
        "1:1: yaml.empty_file: found only comments or blank lines; allowed: a value",
    ),
    "tab as indentation": (
        b"- id: x\n\tmilestone: 1\n",
        "2:1: yaml.tab: found a tab; allowed: spaces (inside double quotes, \\t)",
    ),
    "tab after a colon": (
        good("kind: structural", "kind:\tstructural"),
        "3:8: yaml.tab: found a tab; allowed: spaces (inside double quotes, \\t)",
    ),
    "not UTF-8": (
        good("No remote", "N\xf3 remote").encode("latin-1"),
        "5:15: yaml.encoding: found the byte 0xF3; allowed: text encoded as UTF-8",
    ),
    "UTF-16": (
        good().encode("utf-16"),
        "1:1: yaml.encoding: found the byte 0xFF; allowed: text encoded as UTF-8",
    ),
    "byte order mark": (
        "\ufeff" + good(),
        "1:1: yaml.byte_order_mark: found a byte order mark; allowed: UTF-8 without one",
    ),
    "NUL": (
        good("No remote", "No\0remote"),
        "5:16: yaml.character: found U+0000 (control character); allowed: an escape inside "
        "double quotes",
    ),
    "control character": (
        good("No remote", "No\x07remote"),
        "5:16: yaml.character: found U+0007 (control character); allowed: an escape inside "
        "double quotes",
    ),
    "zero width space": (
        good("No remote", "No\u200bremote"),
        "5:16: yaml.character: found U+200B (ZERO WIDTH SPACE); allowed: an escape inside "
        "double quotes",
    ),
    "direction override": (
        good("No remote", "No \u202eremote"),
        "5:17: yaml.character: found U+202E (RIGHT-TO-LEFT OVERRIDE); allowed: an escape "
        "inside double quotes",
    ),
    "line separator": (
        good("No remote", "No \u2028remote"),
        "5:17: yaml.character: found U+2028 (LINE SEPARATOR); allowed: an escape inside "
        "double quotes",
    ),
    "lone carriage return": (
        good("1\n", "1\r"),
        "2:15: yaml.line_break: found a lone carriage return; allowed: LF or CR LF line ends",
    ),
    "file of 10 MB": (
        b"- statement: " + b"x" * 10_485_760,
        "1:1: yaml.file_too_large: found a file of 10485773 bytes; allowed: at most 1048576",
    ),
    "scalar of 64 KiB and one": (
        good("No remote", "x" * 65_536 + " remote"),
        "5:14: yaml.scalar_too_long: found a text of 65588 characters; allowed: at most 65536",
    ),
    "two documents": (
        good() + "---\n" + good(),
        "12:1: yaml.second_document: found a second document after '---'; allowed: one "
        "document in a file",
    ),
    "directive": (
        "%YAML 1.2\n---\n" + good(),
        "1:1: yaml.directive: found a directive (a line that starts with '%'); allowed: none",
    ),
    "anchor": (
        good("name: label_kept", "name: &name label_kept"),
        "10:13: yaml.anchor: found the anchor '&name'; allowed: the value itself, written out",
    ),
    "alias": (
        good("id: gate", "id: &id gate") + "- *id\n",
        "1:7: yaml.anchor: found the anchor '&id'; allowed: the value itself, written out\n"
        "12:3: yaml.alias: found the alias '*id'; allowed: the value itself, written out",
    ),
    "tag": (
        good("milestone: 1", "milestone: !!int 1"),
        "2:14: yaml.tag: found the tag 'tag:yaml.org,2002:int'; allowed: values without a tag",
    ),
    "custom tag": (
        good("- id:", "- !gate\n  id:"),
        "1:3: yaml.tag: found the tag '!gate'; allowed: values without a tag",
    ),
    "merge key": (
        good("  kind:", "  <<: {milestone: 1}\n  kind:"),
        "3:3: yaml.merge_key: found the merge key '<<'; allowed: the keys themselves, written out",
    ),
    "duplicate key": (
        good("  kind:", "  milestone: 2\n  kind:"),
        "3:3: yaml.duplicate_key: found the key 'milestone' again (first at 2:3); allowed: "
        "each key once",
    ),
    "duplicate key in quotes": (
        good("  kind:", '  "milestone": 2\n  kind:'),
        "3:3: yaml.duplicate_key: found the key 'milestone' again (first at 2:3); allowed: "
        "each key once",
    ),
    "confusable key": (
        good("  kind:", "  mil\u0435stone: 2\n  kind:"),
        "3:3: yaml.confusable_key: found the key 'mil\u0435stone', which reads like "
        "'milestone' (character 4 is U+0435 CYRILLIC SMALL LETTER IE, which looks like 'e'); "
        "allowed: each key once",
    ),
    "full-width key": (
        good("  kind:", "  \uff4bind: case\n  kind:"),
        "4:3: yaml.confusable_key: found the key 'kind', which reads like '\uff4bind' "
        "(character 1 is U+FF4B FULLWIDTH LATIN SMALL LETTER K, which looks like 'k'); "
        "allowed: each key once",
    ),
    "number as key": (
        good("  kind:", "  1: 2\n  kind:"),
        "3:3: yaml.key_type: found the key 1, which is not a text; allowed: a text, '1' in quotes",
    ),
    "boolean as key": (
        good("  kind:", "  true: 2\n  kind:"),
        "3:3: yaml.key_type: found the key true, which is not a text; allowed: a text, "
        "'true' in quotes",
    ),
    "map as key": (
        good("  kind:", "  ? {a: 1}\n  : 2\n  kind:"),
        "3:5: yaml.key_type: found a map or a list as a key; allowed: a text",
    ),
    "empty key": (
        good("  kind:", "  : 2\n  kind:"),
        "3:3: yaml.syntax: found what is not YAML (while parsing a block mapping did not "
        "find expected key); allowed: keys of one map aligned, quotes closed",
    ),
    "key without a value": (
        good("kind: structural", "kind:"),
        "3:8: yaml.empty_value: found a key or list item without a value; allowed: a value, "
        "or no key",
    ),
    "list item without a value": (
        good("- //src:sources", "- "),
        "8:6: yaml.empty_value: found a key or list item without a value; allowed: a value, "
        "or no key",
    ),
    "not a number": (
        good("milestone: 1", "milestone: .nan"),
        "2:14: yaml.not_finite: found '.nan', which is no finite number; allowed: a finite "
        "number, or a text in quotes",
    ),
    "infinity": (
        good("milestone: 1", "milestone: -Infinity"),
        "2:14: yaml.not_finite: found '-Infinity', which is no finite number; allowed: a "
        "finite number, or a text in quotes",
    ),
    "overflowing fraction": (
        good("milestone: 1", "milestone: 1e400"),
        "2:14: yaml.not_finite: found '1e400', which is no finite number; allowed: a finite "
        "number, or a text in quotes",
    ),
    "number of 301 digits": (
        good("milestone: 1", "milestone: 1" + "0" * 300),
        "2:14: yaml.number_too_large: found a number of 301 digits; allowed: at most 300, or "
        "a text in quotes",
    ),
    "nested too deep": (
        "- " * 40 + "x\n",
        "1:65: yaml.too_deep: found maps and lists nested deeper than 32; allowed: at most that",
    ),
    "too many values": (
        "- 1\n" * 50_001,
        "50000:3: yaml.too_many_nodes: found more than 50000 keys and values; allowed: at "
        "most that",
    ),
    "unquoted colon": (
        good("No remote", "Rule: no remote"),
        "5:18: yaml.syntax: found what is not YAML (mapping values are not allowed in this "
        "context); allowed: keys of one map aligned, a text that holds ': ' in quotes",
    ),
    "quote not closed": (
        good("kind: structural", "kind: 'structural"),
        "12:1: yaml.syntax: found what is not YAML (while scanning a quoted scalar found "
        "unexpected end of stream); allowed: a quote that is closed",
    ),
    "bracket not closed": (
        good(
            "    - name: label_kept\n      reason: trust_too_high\n", "    [{name: a, reason: b}\n"
        ),
        "11:1: yaml.syntax: found what is not YAML (while parsing a flow sequence did not "
        "find expected ',' or ']'); allowed: a closing ']', and a comma between the items",
    ),
    "text starts with at": (
        good("kind: structural", "kind: @structural"),
        "3:9: yaml.syntax: found what is not YAML (while scanning for the next token found "
        "character that cannot start any token); allowed: a text that starts with this "
        "character in quotes",
    ),
    "keys not aligned": (
        good("  kind:", "   kind:"),
        "3:8: yaml.syntax: found what is not YAML (mapping values are not allowed in this "
        "context); allowed: keys of one map aligned, a text that holds ': ' in quotes",
    ),
    "line without a colon": (
        good("kind: structural", "kind structural"),
        "4:3: yaml.syntax: found what is not YAML (while scanning a simple key could not "
        "find expected ':'); allowed: 'key: value' on each line of a map",
    ),
    "list on the line of its key": (
        good("sources:\n    - //src:sources", "sources: - //src:sources"),
        "7:12: yaml.syntax: found what is not YAML (block sequence entries are not allowed "
        "in this context); allowed: a list that starts on its own line",
    ),
}


@pytest.mark.parametrize("kind", ROWS)
def test_bad_form_is_refused(kind):
    content, expected = ROWS[kind]
    assert complaints(content) == "\n".join(f"{PATH}:{line}" for line in expected.split("\n"))


def test_the_good_file_is_accepted():
    tree = OverlayTree(ManifestTree({}))
    tree.write("gates/MILESTONE", "1\n")
    tree.write(PATH, GOOD)
    assert [gate.id for gate in load_registry(tree).gates] == ["gate.tool.forced_trust"]
