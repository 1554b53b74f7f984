"""The checked-in JSON Schemas are what the models say, and say what the loader does."""

import json

import pytest

import hardgate.registry
from hardgate.documents.schema_files import FOLDER, run
from hardgate.documents.tree import DirectoryTree, OverlayTree
from hardgate.registry.models import Counterexample, Gate, Kind
from hardgate.registry.schemas import DOCUMENT_TYPES, PROGRAM, schemas, stale

REPAIR = f"`{PROGRAM} --write {FOLDER}`"


@pytest.fixture
def project():
    return OverlayTree(DirectoryTree(".", (FOLDER,), outside_links=True))


def test_the_checked_in_schemas_are_fresh(project):
    assert [problem.render() for problem in stale(project)] == []


def test_a_changed_schema_is_stale(project):
    project.edit(f"{FOLDER}/gates.schema.json", '"maximum": 99', '"maximum": 100')
    (problem,) = stale(project)
    text = schemas()["gates.schema.json"]
    line = text[: text.index('"maximum": 99')].count("\n") + 1
    assert problem.render() == (
        f"{FOLDER}/gates.schema.json:{line}:1: schema_file_stale: found another schema than the "
        f"models'; allowed: what {REPAIR} writes"
    )


def test_a_cut_schema_is_stale(project):
    path = f"{FOLDER}/gates.schema.json"
    project.write(path, project.read(path)[:-1])
    assert [problem.rule for problem in stale(project)] == ["schema_file_stale"]


def test_a_missing_schema(project):
    project.remove(f"{FOLDER}/retired.schema.json")
    assert [problem.render() for problem in stale(project)] == [
        f"{FOLDER}/retired.schema.json:1:1: schema_file_missing: found no such file; "
        f"allowed: the file that {REPAIR} writes"
    ]


def test_the_command_writes_and_compares(tmp_path, capsys):
    folder = tmp_path / FOLDER
    assert run(DOCUMENT_TYPES, PROGRAM, ["--root", str(tmp_path)]) == 1
    assert "gates.schema.json:1:1: schema_file_missing" in capsys.readouterr().err
    assert run(DOCUMENT_TYPES, PROGRAM, ["--write", str(folder)]) == 0
    assert sorted(file.name for file in folder.iterdir()) == sorted(schemas())
    assert run(DOCUMENT_TYPES, PROGRAM, ["--root", str(tmp_path)]) == 0


@pytest.mark.parametrize("model", [Gate, Counterexample])
def test_every_key_is_described(model):
    definition = json.loads(schemas()["gates.schema.json"])["$defs"][model.__name__]
    assert definition["additionalProperties"] is False
    assert set(definition["properties"]) == set(model.model_fields)
    for key, value in definition["properties"].items():
        assert len(value.get("description", "").split()) >= 3, key


def test_the_schema_knows_which_keys_go_with_which_kind():
    gate = json.loads(schemas()["gates.schema.json"])["$defs"]["Gate"]
    conditions = [rule for rule in gate["allOf"] if "kind" in rule["if"]["properties"]]
    rules = {rule["if"]["properties"]["kind"]["const"]: rule for rule in conditions}
    assert set(rules) == set(Kind)
    refused = {kind: set(rule["then"]["properties"]) for kind, rule in rules.items()}
    assert refused == {
        "case": {"trials", "corpus", "minimum_members", "sources", "options"},
        "property": {"corpus", "minimum_members", "options"},
        "corpus": {"trials", "options"},
        "structural": {"trials", "corpus", "minimum_members"},
    }
    required = {kind: rule["then"]["required"] for kind, rule in rules.items()}
    assert required == {
        "case": [],
        "property": ["trials"],
        "corpus": ["corpus", "minimum_members"],
        "structural": [],
    }


def test_public_names_resolve_and_unknown_ones_do_not():
    for name in hardgate.registry.__all__:
        assert getattr(hardgate.registry, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'gate'"):
        hardgate.registry.gate  # noqa: B018
