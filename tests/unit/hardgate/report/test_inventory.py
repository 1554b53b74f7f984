"""The inventory: rows of the gate entries in a query's XML."""

from hardgate.report.inventory import inventory

RULE = """
<rule class="gate_entry" name="//gates:{area}/{slug}.entry">
  <string name="name" value="{area}/{slug}.entry"/>
  <string name="area" value="{area}"/>
  <string name="check"/>
  <list name="counterexamples">{examples}</list>
  <string name="declared_at" value="gates/{area}.yaml:{line}"/>
  <string name="entry" value="{{&quot;id&quot;: 1}}"/>
  <string name="gate_id" value="gate.{area}.{slug}"/>
  <string name="kind" value="structural"/>
  <int name="milestone" value="{milestone}"/>
  <string name="spec" value="docs/specs/{area}.md#hard-gates"/>
  <string name="target" value="//gates:{area}/{slug}"/>
</rule>
"""


def query(*rules: str) -> str:
    return f'<?xml version="1.1"?><query version="2">{"".join(rules)}</query>'


def rule(slug: str, milestone: int = 0, *examples: str) -> str:
    strings = "".join(f'<string value="{example}"/>' for example in examples)
    return RULE.format(area="tool", slug=slug, line=7, milestone=milestone, examples=strings)


def test_a_row_holds_what_the_entry_says():
    assert inventory(query(rule("shape", 2, "dropped", "swapped"))) == [
        {
            "id": "gate.tool.shape",
            "area": "tool",
            "kind": "structural",
            "check": "",
            "declared_at": "gates/tool.yaml:7",
            "spec": "docs/specs/tool.md#hard-gates",
            "target": "//gates:tool/shape",
            "milestone": 2,
            "counterexamples": ["dropped", "swapped"],
        }
    ]


def test_rows_are_sorted_by_milestone_as_a_number_and_then_by_id():
    rows = inventory(query(rule("a", 10), rule("c", 2), rule("b", 2)))
    assert [row["id"] for row in rows] == ["gate.tool.b", "gate.tool.c", "gate.tool.a"]


def test_no_gates():
    assert inventory(query()) == []
