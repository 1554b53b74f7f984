"""The page about the ready checks: every example is run as a build action runs a gate."""

import json
import re
from pathlib import Path

import pytest

from hardgate.documents.strict_yaml import load
from hardgate.kinds import structural
from hardgate.registry.check_options import OPTIONS_OF
from hardgate.registry.loader import read_registry
from hardgate.verdicts.verdict import from_json
from tests.unit.hardgate.structural_checks.examining import tree_of

PAGE = Path("docs/reference/structural-checks.md").read_text(encoding="utf-8")
SECTIONS = dict(re.findall(r"^## (\w+)\n(.*?)(?=^## |\Z)", PAGE, re.M | re.S))
_FILE = re.compile(r"^<!-- file: (\S+) -->\n```\w+\n(.*?)^```$", re.M | re.S)


def block(section, language):
    """The text of the first block of a language in a section."""
    return re.search(rf"^```{language}\n(.*?)^```$", section, re.M | re.S).group(1)


def test_every_check_has_a_section_with_all_of_its_options():
    assert set(OPTIONS_OF) <= set(SECTIONS)
    for name, model in OPTIONS_OF.items():
        assert f"](#{name})" in PAGE
        for key in model.model_fields:
            assert f"`{key}`" in SECTIONS[name], (name, key)


@pytest.mark.parametrize("name", sorted(OPTIONS_OF))
def test_an_example_is_accepted_and_finds_what_the_page_says(name, tmp_path):
    section = SECTIONS[name]
    entry = block(section, "yaml")
    tree = tree_of({"gates/app.yaml": entry, "gates/MILESTONE": "0\n"})
    assert read_registry(tree)[1] == []
    (plain,) = load("gates/app.yaml", entry.encode()).value
    assert plain["check"] == f"hardgate:{name}"
    files = {
        path: text.replace("<password>", "hunt" + "er2") for path, text in _FILE.findall(section)
    }
    lines = []
    for path, text in files.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text, encoding="utf-8")
        lines.append(f"{path}\t{tmp_path / path}\n")
    manifest, given, made = tmp_path / "manifest", tmp_path / "entry.json", tmp_path / "made.json"
    manifest.write_text("".join(lines), encoding="utf-8")
    _, area, slug = plain["id"].split(".")
    place = {"area": area, "slug": slug, "path": "gates/app.yaml", "line": 1}
    given.write_text(json.dumps({**plain, **place}), encoding="utf-8")
    words = ["--entry", str(given), "--manifest", str(manifest), "--out", str(made)]
    assert structural.main(words) == 0
    verdict = from_json(made.read_text(encoding="utf-8"))
    found = [finding.render() for finding in verdict.findings]
    assert sorted(found) == sorted(block(section, "text").splitlines())
    told = set(re.findall(r"`(\w+)`", section.split("```")[0])) | {"forbidden_import"}
    declared = {rule.get("rule") for rule in plain.get("options", {}).get("imports", [])}
    assert {finding.rule for finding in verdict.findings} <= told | declared
