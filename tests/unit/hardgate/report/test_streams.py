"""Whatever a build event stream holds, no report is in order unless every gate was proven.

What is in order is decided here a second time, from the events alone: an active target has test
results, all of them passed and with the verdict of that target and its network proof; a pending
one was skipped and has no test result.
"""

import json

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from hardgate.report.results import read_events
from hardgate.report.rows import Report, compare
from hardgate.verdicts.verdict import Counterexample, Finding
from tests.unit.hardgate.report.samples import (
    ON,
    completed,
    events_of_test,
    gate,
    label_of,
    skipped,
    targets_of,
    twins_of,
    verdict,
    write_outputs,
)

ACTIVE = gate()
OTHER = gate("gate.tool.other")
LATER = gate("gate.tool.later", milestone=2)
GATES = (ACTIVE, OTHER, LATER)
TWINS = {label: twin for one in GATES for label, twin in twins_of(one).items()}
OWNERS = {label_of(one): one for one in GATES} | {
    label: one for one in GATES for label in twins_of(one)
}
NEEDED = {label for label, owner in OWNERS.items() if owner is not LATER}
PENDING = set(OWNERS) - NEEDED

NOT_REJECTED = Counterexample("dropped", "shape_lost", False, "not_rejected")
VERDICTS = {
    **{f"good {label}": verdict(owner, TWINS.get(label)) for label, owner in OWNERS.items()},
    "unproven": verdict(ACTIVE, network=None),
    "unproven twin": verdict(ACTIVE, ACTIVE.counterexamples[0], network=None),
    "network on": verdict(ACTIVE, network=ON),
    "found": verdict(ACTIVE, findings=(Finding("a.py", 1, "rule", "message"),)),
    "not rejected": verdict(ACTIVE, counterexample=NOT_REJECTED),
}
STATUSES = ("PASSED", "FAILED", "FLAKY", "TIMEOUT", "NO_STATUS", "", None)
REASONS = ("SKIPPED", "UNKNOWN", "ANALYSIS_FAILURE", "USER_INTERRUPTED", None)


@pytest.fixture(scope="module")
def outputs(tmp_path_factory):
    """What a test result says of its outputs, by the name of the verdict in them."""
    folder = tmp_path_factory.mktemp("outputs")
    texts = {name: made.to_json() for name, made in VERDICTS.items()}
    texts |= {"garbage": "garbage", "empty": ""}
    written = {
        name: write_outputs(folder / str(number), text)
        for number, (name, text) in enumerate(texts.items())
    }
    return written | {"none": [], "elsewhere": [{"name": "test.outputs", "uri": "bytestream://x"}]}


def good_stream():
    """A test run of each target that needs one, as (label, verdict's name) or event."""
    for label in sorted(NEEDED):
        result, summary = events_of_test(label)
        yield {**result, "verdict": f"good {label}"}
        yield summary
    for label in sorted(PENDING):
        yield skipped(label)


labels = st.sampled_from([*sorted(OWNERS), "//gates:tool/unknown"])
names = st.sampled_from([*VERDICTS, "garbage", "empty", "none", "elsewhere"])
statuses = st.sampled_from(STATUSES)
results = st.builds(
    lambda label, name, status: {**events_of_test(label, status)[0], "verdict": name},
    labels,
    names,
    statuses,
)
summaries = st.builds(lambda label, status: events_of_test(label, status)[1], labels, statuses)
endings = st.builds(
    lambda label, event: completed(label, **event),
    labels,
    st.sampled_from(
        [{"completed": {"success": True}}, {"completed": {}}, {"completed": {"success": "yes"}}, {}]
        + [{"aborted": {"reason": reason} if reason else {}} for reason in REASONS]
    ),
)
keys = st.sampled_from(["id", "testResult", "testSummary", "targetCompleted", "aborted", "label"])
junk = st.recursive(
    st.none() | st.booleans() | st.integers() | st.sampled_from(["PASSED", *sorted(OWNERS)]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3),
    max_leaves=8,
)


@st.composite
def streams(draw):
    """The good stream with a few events changed, left out or added, in any order."""
    events = list(good_stream())
    for index in draw(st.lists(st.integers(0, len(events) - 1), max_size=2)):
        event = events[index]
        if isinstance(event, dict) and "verdict" in event:
            label = event["id"]["testResult"]["label"]
            mostly_passed = draw(st.just("PASSED") | statuses)
            event = {**events_of_test(label, mostly_passed)[0], "verdict": draw(names)}
        else:
            event = draw(summaries | endings | st.none())
        events[index] = event
    events += draw(st.lists(results | summaries | endings | junk, max_size=3))
    return draw(st.permutations(events))


def reason_of(event) -> str | None:
    """Why a target was not built, where an event says so."""
    if not isinstance(event, dict) or not isinstance(event.get("aborted"), dict):
        return None
    return event["aborted"].get("reason")


def in_order(stream) -> bool:
    """Whether the events alone say that everything needed was proven."""
    runs: dict[str, list[bool]] = {label: [] for label in OWNERS}
    skips: set[str] = set()
    for event in stream:
        if isinstance(event, dict) and "verdict" in event:
            label = event["id"]["testResult"]["label"]
            proven = event["testResult"]["status"] == "PASSED"
            proven &= event["verdict"] == f"good {label}"
            runs.setdefault(label, []).append(proven)
        elif reason_of(event) == "SKIPPED":
            skips.add(event["id"]["targetCompleted"]["label"])
    proven = all(runs[label] and all(runs[label]) for label in NEEDED)
    return proven and all(label in skips and not runs[label] for label in PENDING)


def report(stream, outputs) -> Report:
    lines = []
    for event in stream:
        if isinstance(event, dict) and "verdict" in event:
            event = {key: value for key, value in event.items() if key != "verdict"} | {
                "testResult": event["testResult"] | {"testActionOutput": outputs[event["verdict"]]}
            }
        lines.append(json.dumps(event))
    rows, problems = compare(GATES, 0, "gates", targets_of(*GATES), read_events(lines))
    return Report(0, rows, problems)


def test_the_good_stream_is_in_order(outputs):
    assert in_order(good_stream())
    made = report(good_stream(), outputs)
    assert made.ok
    assert [row.faults for row in made.rows] == [[], [], []]


def test_each_event_of_the_good_stream_is_needed(outputs):
    good = list(good_stream())
    for index in range(len(good)):
        assert not report(good[:index] + good[index + 1 :], outputs).ok


@settings(
    max_examples=500,
    deadline=None,
    database=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
)
@example(stream=[])
@given(stream=streams())
def test_no_stream_is_in_order_without_every_proof(outputs, stream):
    made = report(stream, outputs)
    if made.ok:
        assert in_order(stream)
    for row in made.rows:
        assert row.state != "fail" or row.faults
