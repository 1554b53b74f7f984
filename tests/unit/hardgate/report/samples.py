"""Gates, verdicts and build events of a small made-up workspace."""

import json
from pathlib import Path
from typing import Any

from hardgate.registry.models import Gate
from hardgate.report.results import PASSED, SKIPPED, TargetResult
from hardgate.report.rows import Target
from hardgate.verdicts.network import ATTEMPTS, NetworkProof
from hardgate.verdicts.verdict import Counterexample, Verdict, conclude

OFF = NetworkProof(True, (), tuple((name, "ENETUNREACH") for name in ATTEMPTS), "", "")
ON = NetworkProof(False, ("interface eth0 is up",), (), "network_on", "the network is on")
LABEL = "//gates:tool/shape"
TWIN = "//gates:tool/shape.counterexample.dropped"


def gate(id: str = "gate.tool.shape", **values: Any) -> Gate:
    """A gate of milestone 0 with one counterexample, unless `values` say otherwise."""
    entry = {
        "id": id,
        "milestone": 0,
        "kind": "structural",
        "spec": "docs/specs/tool_system.md#hard-gates",
        "statement": "Every outcome has one shape.",
        "check": "gates/checks/tool.py::shape",
        "sources": ["//src:sources"],
        "counterexamples": [{"name": "dropped", "reason": "shape_lost"}],
    }
    return Gate.model_validate_json(json.dumps(entry | values))


def label_of(gate: Gate) -> str:
    return f"//gates:{gate.area}/{gate.slug}"


def twins_of(gate: Gate) -> dict[str, Any]:
    """The counterexamples of a gate by the label of their target."""
    return {f"{label_of(gate)}.counterexample.{one.name}": one for one in gate.counterexamples}


def tags_of(gate: Gate, *more: str) -> frozenset[str]:
    kind, milestone = f"kind:{gate.kind}", f"milestone:{gate.milestone}"
    return frozenset({"gate", kind, milestone, f"area:{gate.area}", *more})


def targets_of(*gates: Gate) -> list[Target]:
    """The targets that the macros make of gates."""
    targets = [Target(label_of(one), tags_of(one)) for one in gates]
    return targets + [
        Target(twin, tags_of(one, "counterexample")) for one in gates for twin in twins_of(one)
    ]


def verdict(gate: Gate, twin: Any = None, **values: Any) -> Verdict:
    """A passing verdict of a gate, or of one of its counterexamples."""
    example = twin and Counterexample(twin.name, twin.reason, True, "rejected")
    settings = {"examined": 61, "unit": "files", "network": OFF, "counterexample": example}
    identity = {"id": gate.id, "kind": str(gate.kind), "milestone": gate.milestone}
    return conclude(**(identity | settings | values))


def passed(label: str, verdict: Verdict, **values: Any) -> TargetResult:
    """The result of a test that passed and wrote this verdict."""
    settings = {"cached": False, "seconds": 0.25, "verdict": verdict.to_json()}
    return TargetResult(label, PASSED, **(settings | values))


def good_results(*gates: Gate, milestone: int = 0) -> dict[str, TargetResult]:
    """What Bazel reports of gates that all hold or are pending."""
    results = {}
    for one in gates:
        for label, twin in {label_of(one): None, **twins_of(one)}.items():
            if one.milestone > milestone:
                results[label] = TargetResult(label, SKIPPED)
            else:
                results[label] = passed(label, verdict(one, twin))
    return results


def write_outputs(folder: Path, text: str) -> list[dict[str, str]]:
    """Writes verdict.json as a test does; what a test result says of its outputs."""
    outputs = folder / "test.outputs"
    outputs.mkdir(parents=True)
    (outputs / "verdict.json").write_text(text, encoding="utf-8")
    return [{"name": "test.outputs", "uri": outputs.as_uri()}]


def events_of_test(
    label: str, status: str = "PASSED", summary: str | None = None, **result: Any
) -> list[dict[str, Any]]:
    """The events of one test run: its result, and the summary with the same status."""
    about = {"label": label, "run": 1, "shard": 1, "attempt": 1}
    duration = {"testAttemptDurationMillis": "250"}
    overall = status if summary is None else summary
    return [
        {"id": {"testResult": about}, "testResult": {"status": status} | duration | result},
        {"id": {"testSummary": {"label": label}}, "testSummary": {"overallStatus": overall}},
    ]


def completed(label: str, **event: Any) -> dict[str, Any]:
    """The event by which Bazel says that it is done with a target."""
    return {"id": {"targetCompleted": {"label": label}}, **event}


def skipped(label: str) -> dict[str, Any]:
    return completed(label, aborted={"reason": "SKIPPED", "description": "build was skipped"})
