"""The guide's examples are good files, and the reference says what the schemas say."""

import re
from pathlib import Path

import pytest

from hardgate.cases import reference
from hardgate.cases.loader import load_case
from hardgate.cases.schemas import schemas
from hardgate.documents.strict_yaml import load
from hardgate.fixtures.judge import load_judge
from hardgate.fixtures.model_script import load_script
from hardgate.fixtures.tool_results import load_tool_results

GUIDE = Path("docs/guide/cases.md")
SCHEMA = re.compile(r"# yaml-language-server: \$schema=((?:\.\./)+)docs/reference/schemas/(\S+)\n")
# By the key at the top: where such a file stands, and what reads it.
KINDS = {
    "turns": ("evals/fixtures/models/x.yaml", load_script),
    "results": ("evals/fixtures/tools/x.yaml", load_tool_results),
    "rubric": ("evals/fixtures/judges/x.yaml", load_judge),
}


def examples():
    return re.findall(r"^```yaml\n(.*?)^```$", GUIDE.read_text(encoding="utf-8"), re.S | re.M)


def read(text):
    """The path that the file would have."""
    value = load("x.yaml", text.encode()).value
    for key, (path, read_one) in KINDS.items():
        if key in value:
            read_one(path, text.encode())
            return path
    path = f"evals/cases/01_{value['name']}.yaml"
    load_case(path, text.encode())
    return path


def test_the_guide_has_an_example_of_each_kind():
    kinds = {read(text).rsplit("/", 1)[0] for text in examples()}
    assert kinds == {"evals/cases", *(path.rsplit("/", 1)[0] for path, _ in KINDS.values())}


@pytest.mark.parametrize("text", examples())
def test_an_example_is_a_good_file(text):
    path = read(text)
    found = SCHEMA.match(text)
    if found:
        assert found[1] == "../" * path.count("/")
        assert found[2] in schemas()


def test_the_keys_that_the_guide_names_exist():
    """Names in code type that look like keys: each is a key of some file, or a value of one."""
    named = set(re.findall(r"`([a-z]+_[a-z_]+)`", GUIDE.read_text(encoding="utf-8")))
    known = "\n".join(schemas().values())
    unknown = {name for name in named if f'"{name}"' not in known}
    assert unknown == set()


def test_the_reference_is_fresh():
    page = Path(reference.PAGE).read_text(encoding="utf-8")
    assert page == reference.reference(), f"run {reference.PROGRAM} --write {reference.PAGE}"


def test_the_reference_has_every_key_with_its_meaning():
    keys_part = reference.reference().split("\n## What comes with later")[0]
    rows = re.findall(r"^\| `(\w+)`(?:, also `(\w+)`)? \| (.+?) \| (.*?) \|$", keys_part, re.M)
    assert len(rows) > 120
    assert all(value and len(meaning.split()) >= 2 for _, _, value, meaning in rows)
    names = {name for key, alias, *_ in rows for name in (key, alias)}
    keys = set(
        re.findall(
            r'"(\w+)": \{',
            "\n".join(text for name, text in schemas().items() if not name.startswith("verdict")),
        )
    )
    structure = {"properties", "items", "mapping", "discriminator"}
    assert {key for key in keys if key.islower()} - structure <= names


def test_the_command_writes_what_it_prints(tmp_path, capsys):
    assert reference.main([]) == 0
    assert reference.main(["--write", str(tmp_path / "page.md")]) == 0
    assert (tmp_path / "page.md").read_text(encoding="utf-8") == capsys.readouterr().out
