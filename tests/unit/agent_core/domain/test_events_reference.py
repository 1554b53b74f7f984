"""docs/reference/events.md says exactly what the catalogue says."""

import re
from pathlib import Path

from agent_core.domain.event_catalogue import CATALOGUE, Member

REFERENCE = Path("docs/reference/events.md")
NAMES = {str: "text", int: "integer", bool: "boolean", float: "number", list: "list", dict: "map"}


def section(heading):
    return REFERENCE.read_text(encoding="utf-8").split(f"\n## {heading}\n")[1].split("\n## ")[0]


def events():
    """Events and members of each point of the list."""
    points = section("Events").split("\n- ")[1:]
    return [point.split("\n\n")[0].split(":", 1) for point in points]


def members():
    """The cells of the table, row by row."""
    rows = [line.strip("|").split("|") for line in section("Members").splitlines() if "|" in line]
    return [[cell.strip() for cell in row] for row in rows[2:]]


def type_name(member: Member):
    return "number" if float in member.types else NAMES[member.types[0]]


def test_every_event_is_there_once_with_its_members():
    documented = {}
    for names, listed in events():
        for name in re.findall(r"`([^`]+)`", names):
            assert name not in documented
            documented[name] = re.findall(r"`([^`]+)`(\??)", listed)
    assert documented == {
        event.value: [(name, "?" if one.is_optional else "") for name, one in payload.items()]
        for event, payload in CATALOGUE.items()
    }


def test_every_member_is_there_with_its_type_and_meaning():
    rows = members()
    names = [name.strip("`") for name, _, _ in rows]
    assert names == sorted(names)
    assert all(meaning for _, _, meaning in rows)
    assert {name.strip("`"): kind for name, kind, _ in rows} == {
        name: type_name(member) + (", volatile" if member.is_volatile else "")
        for payload in CATALOGUE.values()
        for name, member in payload.items()
    }


def test_a_member_has_one_type_wherever_it_is():
    types: dict[str, set[str]] = {}
    for payload in CATALOGUE.values():
        for name, member in payload.items():
            types.setdefault(name, set()).add(type_name(member))
    assert {name for name, kinds in types.items() if len(kinds) > 1} == set()
