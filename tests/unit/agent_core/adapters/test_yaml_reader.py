"""The reader of configuration: plain values with their places, and nothing that reads two ways."""

import pytest
import yaml

from agent_core.adapters.configuration import yaml_reader
from agent_core.adapters.configuration.yaml_reader import MAXIMUM_BYTES, read_document
from agent_core.domain.deployment import ConfigurationRefused

LOADERS = [yaml.SafeLoader, getattr(yaml, "CSafeLoader", yaml.SafeLoader)]


@pytest.fixture(params=LOADERS, autouse=True)
def loader(request, monkeypatch):
    """Both parsers that PyYAML may have: what is refused does not depend on how it was built."""
    monkeypatch.setattr(yaml_reader, "_LOADER", request.param)


def refusals(text):
    data = text if isinstance(text, bytes) else text.encode()
    with pytest.raises(ConfigurationRefused) as caught:
        read_document("f.yaml", data)
    return str(caught.value).splitlines()


def test_values_and_their_places():
    document = read_document("f.yaml", b"a: [x, 'y z']\n# said\nb:\n  c: {d: 1}\n")
    assert document.value == {"a": ["x", "y z"], "b": {"c": {"d": 1}}}
    assert document.places == {
        (): (1, 1),
        ("a",): (1, 4),
        ("a", 0): (1, 5),
        ("a", 1): (1, 8),
        ("b",): (4, 3),
        ("b", "c"): (4, 6),
        ("b", "c", "d"): (4, 10),
    }
    assert document.key_places == {
        ("a",): (1, 1),
        ("b",): (3, 1),
        ("b", "c"): (4, 3),
        ("b", "c", "d"): (4, 7),
    }
    at_key = document.problem(("b", "c"), "rule", "message", at_key=True)
    assert at_key.render() == "f.yaml:4:3: rule: message"
    assert document.problem(("b", "c"), "rule", "message").render() == "f.yaml:4:6: rule: message"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("true", True),
        ("false", False),
        ("0", 0),
        ("-12", -12),
        ("none", "none"),
        ("no", "no"),
        ("off", "off"),
        ("True", "True"),
        ("1.5", "1.5"),
        ("012", "012"),
        ("0x10", "0x10"),
        ("1_000", "1_000"),
        ("12:30", "12:30"),
        ("2026-01-01", "2026-01-01"),
        ("9" * 19, "9" * 19),
        (".inf", ".inf"),
        ("'1'", "1"),
        ('"true"', "true"),
        ("''", ""),
        ("'null'", "null"),
        ("|\n  a\n  b", "a\nb"),
        ("ü", "ü"),
    ],
)
def test_a_scalar_has_one_reading(text, value):
    read = read_document("f.yaml", f"k: {text}".encode()).value["k"]
    assert (read, type(read)) == (value, type(value))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "1:1: yaml.empty_file: found nothing; allowed: a map"),
        ("# only this\n", "1:1: yaml.empty_file: found nothing; allowed: a map"),
        ("a: 1\nb: 2\na: 3\n", "3:1: yaml.duplicate_key: found the key 'a' again (first at 1:1)"),
        ("a: {b: 1, b: 2}\n", "1:11: yaml.duplicate_key: found the key 'b' again (first at 1:5)"),
        ("a: &x 1\n", "1:4: yaml.anchor: found the anchor &x; allowed: the value"),
        ("&x a: 1\n", "1:1: yaml.anchor: found the anchor &x; allowed: the value"),
        ("a: *x\n", "1:4: yaml.alias: found the alias *x; allowed: the value"),
        ("*x : 1\n", "1:1: yaml.alias: found the alias *x; allowed: the value"),
        ("a: !!str 1\n", "1:4: yaml.tag: found the tag 'tag:yaml.org,2002:str'"),
        ("a: !x {}\n", "1:4: yaml.tag: found the tag '!x'; allowed: values without one"),
        ("!x a: 1\n", "1:1: yaml.tag: found the tag '!x'; allowed: values without one"),
        ("<<: {a: 1}\n", "1:1: yaml.merge_key: found the merge key <<; allowed: the keys"),
        ("1: a\n", "1:1: yaml.key_type: found the key '1'; allowed: a text"),
        ("true: a\n", "1:1: yaml.key_type: found the key 'true'; allowed: a text"),
        ("null: a\n", "1:1: yaml.key_type: found the key 'null'; allowed: a text"),
        ("?\n: a\n", "1:2: yaml.key_type: found the key ''; allowed: a text"),
        ("{a: 1}: b\n", "1:1: yaml.key_type: found a map or a list as a key; allowed: a text"),
        ("? [a]\n: b\n", "1:3: yaml.key_type: found a map or a list as a key; allowed: a text"),
        ("a:\n", "1:3: yaml.no_value: found a key or an item without a value; allowed: one"),
        ("a: ~\n", "1:4: yaml.no_value: found a key or an item without a value; allowed: one"),
        ("a: [null]\n", "1:5: yaml.no_value: found a key or an item without a value"),
        ("a: 1\n---\nb: 2\n", "2:1: yaml.second_document: found a second document; allowed: one"),
        ("%YAML 1.2\n---\na: 1\n", "1:1: yaml.directive: found a directive (a line with %)"),
        ("a: 1\n  b: 2\n", "2:4: yaml.syntax: found what is not YAML (mapping values"),
        ("a: [1\n", "2:1: yaml.syntax: found what is not YAML ("),
        ("\ta: 1\n", "1:1: yaml.syntax: found what is not YAML (found character"),
        ("a: 'x\n", "2:1: yaml.syntax: found what is not YAML (found unexpected end of stream)"),
        (b"a: 1\nb: \xff\n", "2:4: yaml.not_utf8: found bytes that are not UTF-8"),
        ("a: 'ü\0'\n", "1:6: yaml.control_character: found the character U+0000; allowed: text"),
        ("\ufeffa: 1\n", "1:1: yaml.control_character: found the character U+FEFF"),
        ("a: 1\u2028b: 2\n", "1:5: yaml.control_character: found the character U+2028"),
        ("a: 1\rb: 2\n", "1:5: yaml.control_character: found the character U+000D"),
        ("a: " + "[" * 8 + "]" * 8, "1:11: yaml.too_deep: found maps and lists deeper than 8"),
        ("[" * 500, "1:9: yaml.too_deep: found maps and lists deeper than 8"),
        ("a: " + "x" * MAXIMUM_BYTES, "1:1: yaml.file_too_large: found more than 65536 bytes"),
    ],
)
def test_what_is_refused(text, expected):
    (said,) = refusals(text)
    assert said.startswith(f"f.yaml:{expected}")


def test_all_problems_are_told_up_to_the_one_that_ends_reading():
    said = refusals("a: *x\nb: !t 1\nb: &y 2\nc:\nd: [\n")
    assert [line.split(": ")[:2] for line in said] == [
        ["f.yaml:1:4", "yaml.alias"],
        ["f.yaml:2:4", "yaml.tag"],
        ["f.yaml:3:1", "yaml.duplicate_key"],
        ["f.yaml:3:4", "yaml.anchor"],
        ["f.yaml:4:3", "yaml.no_value"],
        ["f.yaml:6:1", "yaml.syntax"],
    ]


def test_a_third_of_one_key_also_names_the_first():
    assert [line.partition("(")[2] for line in refusals("a: 1\na: 2\na: 3\n")] == [
        "first at 1:1); allowed: once",
        "first at 1:1); allowed: once",
    ]


def test_no_depth_is_too_much_to_be_refused():
    (said,) = refusals("[" * 20_000)
    assert "yaml.too_deep" in said or "exceeded maximum nesting depth" in said


def test_the_limits_are_allowed():
    assert read_document("f.yaml", b"a: " + b"[" * 7 + b"]" * 7).value == {"a": [[[[[[[]]]]]]]}
    longest = read_document("f.yaml", b"a: ".ljust(MAXIMUM_BYTES, b"x")).value
    assert longest == {"a": "x" * (MAXIMUM_BYTES - 3)}


def test_lines_may_end_as_on_windows():
    assert read_document("f.yaml", b"a: 1\r\nb: 2\r\n").value == {"a": 1, "b": 2}
