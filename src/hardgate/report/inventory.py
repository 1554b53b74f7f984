"""Turns the query's XML over gate entries into the inventory file.

`python -m hardgate.report.inventory QUERY.xml` prints a JSON list, a row per gate.
"""

from __future__ import annotations

import json
import sys
from xml.etree import ElementTree

_COLUMNS = {
    "gate_id": "id",
    "area": "area",
    "kind": "kind",
    "check": "check",
    "declared_at": "declared_at",
    "spec": "spec",
    "target": "target",
}


def inventory(xml: str) -> list[dict[str, object]]:
    """Rows of the gate_entry rules in a query's XML output, sorted by milestone and id."""
    rows = []
    for rule in ElementTree.fromstring(xml).iter("rule"):
        strings = {one.get("name"): one.get("value", "") for one in rule.findall("string")}
        integers = {one.get("name"): int(one.get("value", "0")) for one in rule.findall("int")}
        lists = {
            one.get("name"): [item.get("value", "") for item in one.findall("string")]
            for one in rule.findall("list")
        }
        row: dict[str, object] = {name: strings.get(key, "") for key, name in _COLUMNS.items()}
        row["milestone"] = integers["milestone"]
        row["counterexamples"] = lists.get("counterexamples", [])
        rows.append(row)
    return sorted(rows, key=lambda row: (row["milestone"], row["id"]))


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as query:
        print(json.dumps(inventory(query.read()), indent=1, sort_keys=True))
