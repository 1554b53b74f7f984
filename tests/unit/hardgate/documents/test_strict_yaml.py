"""What the strict loader accepts, what it makes of it, and where it says things stand."""

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from hardgate.documents import strict_yaml
from hardgate.documents.problems import DefinitionError
from hardgate.documents.strict_yaml import LIMITS, Limits, load

DOCUMENT = """\
# a comment
name: Größe und 𝄞 mehr
list:
  - one
  - {two: 2, "drei ü": [3.5]}
block: |
  first
  second
"""


def value(text: str, limits: Limits = LIMITS):
    return load("x.yaml", text.encode(), limits).value


def complaints(text: str | bytes, limits: Limits = LIMITS) -> list[str]:
    data = text if isinstance(text, bytes) else text.encode()
    with pytest.raises(DefinitionError) as refused:
        load("x.yaml", data, limits)
    return str(refused.value).split("\n")


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("true", True),
        ("false", False),
        ("null", None),
        ("~", None),
        ("0", 0),
        ("-12", -12),
        ("1.50", 1.5),
        ("1e3", 1000.0),
        ("-2.5E-1", -0.25),
        ("yes", "yes"),
        ("Off", "Off"),
        ("True", "True"),
        ("NULL", "NULL"),
        ("012", "012"),
        ("0o17", "0o17"),
        ("0x1F", "0x1F"),
        ("1_000", "1_000"),
        ("+5", "+5"),
        (".5", ".5"),
        ("12:30:45", "12:30:45"),
        ("2026-07-24", "2026-07-24"),
        ("1.2.3", "1.2.3"),
        ("-", None),
        ("'12'", "12"),
        ('"true"', "true"),
        ('""', ""),
        ('"a\\tb\\u0000"', "a\tb\0"),
        ("=", "="),
        ("Infinity war", "Infinity war"),
    ],
)
def test_what_a_plain_value_stands_for(written, meant):
    if meant is None and written == "-":
        assert "yaml.syntax" in complaints(f"key: {written}\n")[0]
    else:
        found = value(f"key: {written}\n")["key"]
        assert (found, type(found)) == (meant, type(meant))


def test_positions_of_keys_and_values():
    document = load("x.yaml", DOCUMENT.encode())
    assert document.value == {
        "name": "Größe und 𝄞 mehr",
        "list": ["one", {"two": 2, "drei ü": [3.5]}],
        "block": "first\nsecond\n",
    }
    assert document.position() == (2, 1)
    assert document.position(("name",)) == (2, 7)
    assert document.key_position(("list",)) == (3, 1)
    assert document.position(("list", 0)) == (4, 5)
    assert document.position(("list", 1)) == (5, 5)
    assert document.key_position(("list", 1, "drei ü")) == (5, 14)
    assert document.position(("list", 1, "drei ü", 0)) == (5, 25)
    assert document.position(("block",)) == (6, 8)


def test_a_place_that_is_not_there_falls_back_to_what_is_around_it():
    document = load("x.yaml", DOCUMENT.encode())
    assert document.position(("list", 1, "three")) == (5, 5)
    assert document.position(("list", 1, "three", "four")) == (5, 5)
    assert document.key_position(("list", 0)) == document.position(("list", 0))
    assert document.position(("nothing",)) == (2, 1)


def test_problems_at_a_key_and_at_its_value():
    document = load("x.yaml", DOCUMENT.encode())
    assert document.problem(("name",), "r", "m").render() == "x.yaml:2:7: r: m"
    assert document.problem(("name",), "r", "m", at_key=True).render() == "x.yaml:2:1: r: m"


def test_carriage_returns_before_line_feeds_are_no_problem():
    document = load("x.yaml", DOCUMENT.replace("\n", "\r\n").encode())
    assert document.value == value(DOCUMENT)
    assert document.position(("block",)) == (6, 8)


def test_all_problems_are_found_together():
    text = "a: &x 1\na: *x\n1: !t 2\nb:\nc: .inf\n"
    assert [line.split(": ")[:2] for line in complaints(text)] == [
        ["x.yaml:1:4", "yaml.anchor"],
        ["x.yaml:2:1", "yaml.duplicate_key"],
        ["x.yaml:2:4", "yaml.alias"],
        ["x.yaml:3:1", "yaml.key_type"],
        ["x.yaml:3:4", "yaml.tag"],
        ["x.yaml:4:3", "yaml.empty_value"],
        ["x.yaml:5:4", "yaml.not_finite"],
    ]


def test_problems_before_a_syntax_error_are_kept():
    assert [line.split(": ")[1] for line in complaints("a: 1\na: 2\nb: [\n")] == [
        "yaml.duplicate_key",
        "yaml.syntax",
    ]


def test_the_second_of_two_equal_keys_is_not_kept():
    document_problems = complaints("a: {x: 1}\na: {x: 2}\nb: 1\nb: 2\n")
    assert len(document_problems) == 2


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("?\n: 1", "x.yaml:1:2: yaml.key_type: found an empty key; allowed: a text"),
        (
            "<<: 1",
            "x.yaml:1:1: yaml.merge_key: found the merge key '<<'; "
            "allowed: the keys themselves, written out",
        ),
        (
            "null: 1",
            "x.yaml:1:1: yaml.key_type: found the key null, which is not a text; "
            "allowed: a text, 'null' in quotes",
        ),
    ],
)
def test_plain_keys_that_are_no_texts(text, said):
    assert complaints(text) == [said]


def test_the_same_keys_in_quotes_are_texts():
    assert value('{"": 1, "<<": 2, "null": 3, "1": 4}') == {"": 1, "<<": 2, "null": 3, "1": 4}


ALIAS = "x.yaml:1:1: yaml.alias: found the alias '*name'; allowed: the value itself, written out"


@pytest.mark.parametrize("text", ["*name", "*name : 1\n", '*name : 1\n"*name": 2\n'])
def test_an_alias_as_the_whole_file_and_as_a_key(text):
    assert complaints(text) == [ALIAS]


MARK = yaml.Mark("x.yaml", 9, 2, 4, None, None)


@pytest.mark.parametrize(
    ("error", "place", "said"),
    [
        (yaml.YAMLError("broken"), "1:1", "broken"),
        (yaml.MarkedYAMLError(None, MARK, "broken"), "3:5", "broken"),
        (yaml.MarkedYAMLError("in a list", MARK, "broken", MARK), "3:5", "in a list broken"),
    ],
)
def test_a_parser_that_complains_about_less_than_usual(monkeypatch, error, place, said):
    def parse(text, Loader):
        raise error

    monkeypatch.setattr(strict_yaml.yaml, "parse", parse)
    assert complaints("a") == [
        f"x.yaml:{place}: yaml.syntax: found what is not YAML ({said}); allowed: well-formed YAML"
    ]


@pytest.mark.parametrize(
    ("limits", "text", "rule"),
    [
        (Limits(file_bytes=4), "abcde", "yaml.file_too_large"),
        (Limits(scalar_characters=4), "abcde", "yaml.scalar_too_long"),
        (Limits(depth=1), "[[]]", "yaml.too_deep"),
        (Limits(nodes=2), "[1, 2]", "yaml.too_many_nodes"),
        (Limits(integer_digits=4), "12345", "yaml.number_too_large"),
    ],
)
def test_each_limit_holds_exactly(limits, text, rule):
    assert [line.split(": ")[1] for line in complaints(text, limits)] == [rule]
    (name,) = [key for key in limits._fields if getattr(limits, key) != getattr(LIMITS, key)]
    load("x.yaml", text.encode(), Limits(**{name: getattr(limits, name) + 1}))


def test_a_file_that_multiplies_itself_is_refused_at_once():
    pairs = ("ab", "bc", "cd", "de", "ef")
    bomb = "a: &a [x, x]\n" + "".join(f"{b}: &{b} [*{a}, *{a}]\n" for a, b in pairs)
    assert {line.split(": ")[1] for line in complaints(bomb)} == {"yaml.anchor", "yaml.alias"}


def test_only_the_first_twenty_forbidden_characters_are_named():
    said = complaints(b"\x01" * 25)
    assert len(said) == 21
    assert said[-1] == (
        "x.yaml:1:21: yaml.character: found 5 more characters of this sort; allowed: none"
    )


@pytest.mark.parametrize("data", [b"\xff", b"a: \xc3", b"a: b\n\xe2\x82", b"\xed\xa0\x80"])
def test_bytes_that_are_no_utf8(data):
    assert complaints(data)[0].split(": ")[1] == "yaml.encoding"


def test_both_parsers_of_the_yaml_library_agree(monkeypatch):
    fast = load("x.yaml", DOCUMENT.encode())
    monkeypatch.setattr(strict_yaml, "_LOADER", yaml.SafeLoader)
    assert load("x.yaml", DOCUMENT.encode()) == fast
    assert complaints("a: &x 1\na: *x\nb: [\n")[-1].split(": ")[1] == "yaml.syntax"


BEFORE_ANY_TARGET = (
    "__init__",
    "confusable",
    "problems",
    "raw_text",
    "safe_path",
    "strict_yaml",
    "tree",
    "wording",
)
DERANDOMIZED = settings(derandomize=True, database=None, deadline=None)
PLAIN = st.text(st.characters(codec="utf-8", exclude_categories=("C", "Z")), max_size=8)
FLOATS = st.floats(allow_nan=False, allow_infinity=False)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | FLOATS | PLAIN,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(PLAIN, inner, max_size=4),
    max_leaves=12,
)


@DERANDOMIZED
@given(VALUES)
def test_what_json_can_say_is_read_as_json_reads_it(anything):
    text = json.dumps(anything, ensure_ascii=False)
    try:
        assert value(text) == json.loads(text)
    except DefinitionError as error:
        assert {problem.rule for problem in error.problems} == {"yaml.confusable_key"}


@DERANDOMIZED
@given(st.binary(max_size=60) | st.text(max_size=60).map(str.encode))
def test_any_bytes_load_or_are_refused_with_places(data):
    try:
        load("x.yaml", data)
    except DefinitionError as error:
        assert all(problem.line >= 1 and problem.column >= 1 for problem in error.problems)
        assert all("\n" not in problem.message for problem in error.problems)


@pytest.mark.parametrize("name", BEFORE_ANY_TARGET)
def test_what_generates_the_targets_is_python_3_9(name):
    """The machine's own interpreter reads the registry before any target exists."""
    source = Path("src/hardgate/documents", f"{name}.py").read_text()
    module = ast.parse(source, feature_version=(3, 9))
    imports = {node.module for node in module.body if isinstance(node, ast.ImportFrom)}
    assert "__future__" in imports
    assert not {one for one in imports if one.split(".")[0] == "pydantic"}


def test_loading_needs_no_heavy_import():
    program = (
        "import sys, hardgate.documents, hardgate.documents.strict_yaml, hardgate.documents.tree\n"
        "print([name for name in ('pydantic', 'asyncio', 'hypothesis') if name in sys.modules])"
    )
    environment = {"PYTHONPATH": ":".join(filter(None, sys.path))}
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, env=environment, check=True
    )
    assert done.stdout == "[]\n"
