"""Build event streams, as Bazel 7.7.1 writes them, and the result of each target."""

import json

import pytest

from hardgate.report.results import (
    ABORTED,
    FAILED,
    FAILED_TO_BUILD,
    PASSED,
    SKIPPED,
    TargetResult,
    read_events,
)
from tests.unit.hardgate.report.samples import (
    LABEL,
    completed,
    events_of_test,
    skipped,
    write_outputs,
)

NO_OUTPUTS = "the test wrote no outputs"


def read(*events):
    return read_events(json.dumps(event) for event in events)


def result_of(*events) -> TargetResult:
    """The result of the only target that the events speak of."""
    results = read(*events)
    assert list(results) == [LABEL]
    return results[LABEL]


def test_a_test_that_ran_and_passed(tmp_path):
    outputs = write_outputs(tmp_path, '{"id": 1}')
    result = result_of(
        completed(LABEL, completed={"success": True}),
        *events_of_test(
            LABEL, testActionOutput=outputs, executionInfo={"strategy": "linux-sandbox"}
        ),
    )
    assert result == TargetResult(
        LABEL, PASSED, cached=False, seconds=0.25, verdict='{"id": 1}', no_verdict="", output=""
    )


@pytest.mark.parametrize(
    ("event", "cached"),
    [
        ({"executionInfo": {"strategy": "linux-sandbox"}}, False),
        ({"executionInfo": {}}, False),
        ({"cachedLocally": True, "executionInfo": {}}, True),
        ({"executionInfo": {"strategy": "disk cache hit", "cachedRemotely": True}}, True),
        ({"executionInfo": {"strategy": "remote cache hit", "cachedRemotely": True}}, True),
        ({"executionInfo": {"strategy": "remote cache hit"}}, True),
        ({"executionInfo": {"strategy": "remote"}}, False),
    ],
)
def test_results_from_every_cache_are_cached(event, cached):
    assert result_of(*events_of_test(LABEL, **event)).cached is cached


@pytest.mark.parametrize(
    ("milliseconds", "seconds"),
    [
        ("1234", 1.234),
        ("0", 0.0),
        (None, None),
        (5, None),
        ("", None),
        ("x", None),
        ("9" * 400, None),
    ],
)
def test_seconds(milliseconds, seconds):
    events = events_of_test(LABEL, testAttemptDurationMillis=milliseconds)
    assert result_of(*events).seconds == seconds


@pytest.mark.parametrize(
    ("status", "detail"),
    [
        ("FAILED", ""),
        ("TIMEOUT", "timeout"),
        ("INCOMPLETE", "incomplete"),
        ("REMOTE_FAILURE", "remote_failure"),
        ("FAILED_TO_BUILD", "failed_to_build"),
        ("TOOL_HALTED_BEFORE_TESTING", "tool_halted_before_testing"),
        ("NO_STATUS", "no_status"),
        ("FLAKY", "flaky"),
        ("passed", "passed"),
        (None, "no_status"),
        (True, "no_status"),
    ],
)
def test_every_status_but_passed_is_a_failure(status, detail, tmp_path):
    log = tmp_path / "test.log"
    log.write_text("Traceback\nBoom\n", encoding="utf-8")
    outputs = [{"name": "test.log", "uri": log.as_uri()}]
    result = result_of(*events_of_test(LABEL, status, "PASSED", testActionOutput=outputs))
    assert (result.status, result.detail) == (FAILED, detail)
    assert result.output == "Traceback\nBoom"
    assert result.no_verdict == NO_OUTPUTS


@pytest.mark.parametrize("summary", ["FAILED", "FLAKY", "TIMEOUT", "INCOMPLETE", "NO_STATUS"])
def test_a_pass_that_the_summary_does_not_share_is_none(summary):
    result = result_of(*events_of_test(LABEL, summary=summary))
    assert (result.status, result.detail) == (ABORTED, summary.lower())


def test_a_pass_without_a_summary_is_none():
    result = result_of(events_of_test(LABEL)[0])
    assert (result.status, result.detail) == (ABORTED, "no summary")


def test_a_pass_after_a_failed_attempt_is_a_failure():
    first, _ = events_of_test(LABEL, "FAILED")
    second, summary = events_of_test(LABEL, "PASSED", "FLAKY")
    result = result_of(first, second, summary)
    assert (result.status, result.detail) == (FAILED, "flaky")


def test_one_failed_run_or_shard_of_several_is_a_failure():
    first, _ = events_of_test(LABEL, "TIMEOUT")
    second, summary = events_of_test(LABEL, "PASSED", "PASSED")
    result = result_of(second, first, summary)
    assert (result.status, result.detail) == (FAILED, "timeout")


def test_runs_of_one_test_with_different_verdicts_have_no_result(tmp_path):
    events = []
    for run, text in enumerate(["{}", '{"id": 1}', "{}"]):
        outputs = write_outputs(tmp_path / str(run), text)
        events += events_of_test(LABEL, testActionOutput=outputs)
    result = result_of(*events)
    assert (result.status, result.detail) == (ABORTED, "its runs wrote different verdicts")
    assert result_of(*events[:2], *events[4:]).status == PASSED


def test_a_skipped_target():
    assert result_of(skipped(LABEL)) == TargetResult(LABEL, SKIPPED)


@pytest.mark.parametrize(
    ("aborted", "status", "detail"),
    [
        # The first value of an enum is left out of JSON: this is UNKNOWN, not SKIPPED.
        ({}, ABORTED, "unknown"),
        ({"reason": "UNKNOWN"}, ABORTED, "unknown"),
        ({"reason": "USER_INTERRUPTED"}, ABORTED, "user_interrupted"),
        ({"reason": "INTERNAL"}, ABORTED, "internal"),
        ({"reason": "INCOMPLETE"}, ABORTED, "incomplete"),
        ({"reason": "NO_BUILD"}, ABORTED, "no_build"),
        ({"reason": "skipped"}, ABORTED, "skipped"),
        ({"reason": ["SKIPPED"]}, ABORTED, "unknown"),
        ({"reason": "LOADING_FAILURE"}, FAILED_TO_BUILD, "loading failure"),
        ({"reason": "ANALYSIS_FAILURE"}, FAILED_TO_BUILD, "analysis failure"),
    ],
)
def test_only_the_reason_skipped_is_a_skip(aborted, status, detail):
    result = result_of(completed(LABEL, aborted=aborted))
    assert (result.status, result.detail) == (status, detail)


def test_a_pending_target_asked_for_by_name():
    result = result_of(
        {"id": {"targetConfigured": {"label": LABEL}}, "aborted": {"reason": "ANALYSIS_FAILURE"}},
        completed(LABEL, aborted={}),
    )
    assert (result.status, result.detail) == (FAILED_TO_BUILD, "analysis failure")


def test_a_target_that_was_skipped_and_ran_has_no_result():
    for events in (
        [skipped(LABEL), *events_of_test(LABEL)],
        [*events_of_test(LABEL), skipped(LABEL)],
    ):
        result = result_of(*events)
        assert (result.status, result.detail) == (ABORTED, "run and not run")


def test_a_failure_stands_before_a_skip():
    for events in (
        [skipped(LABEL), completed(LABEL, aborted={})],
        [completed(LABEL, aborted={}), skipped(LABEL)],
    ):
        assert result_of(*events).status == ABORTED


def crash_events(kind: str, stderr: str) -> list[dict]:
    """A test whose build failed because an action of another target did."""
    action = {"primaryOutput": "bazel-out/v.json", "label": f"{LABEL}.verdict"}
    failure = {"message": "bash failed: error executing\nUse --sandbox_debug"}
    return [
        completed(
            LABEL,
            children=[{"actionCompleted": {**action, "configuration": {"id": "5c"}}}],
            completed={"failureDetail": failure},
        ),
        {
            "id": {"actionCompleted": action},
            "action": {"exitCode": 1, "type": kind, "stderr": {"name": "stderr", "uri": stderr}},
        },
    ]


@pytest.mark.parametrize("turn", [1, -1])
def test_a_check_that_crashed_is_named_with_the_end_of_its_stderr(tmp_path, turn):
    stderr = tmp_path / "stderr-20"
    stderr.write_text("Traceback (most recent call last):\nValueError: no\n", encoding="utf-8")
    result = result_of(*crash_events("GateCheck", stderr.as_uri())[::turn])
    assert result.status == FAILED_TO_BUILD
    ended = "GateCheck of //gates:tool/shape.verdict ended with exit code 1"
    assert result.detail == f"the check crashed: {ended}"
    assert result.output == "Traceback (most recent call last):\nValueError: no"


def test_another_action_that_failed_is_no_crash_of_the_check():
    result = result_of(*crash_events("PyArchive", "bytestream://cache/1"))
    assert result.detail == "PyArchive of //gates:tool/shape.verdict ended with exit code 1"
    assert result.output == "bash failed: error executing"


def test_a_missing_input_is_named():
    failure = {"message": "missing input file '//gates:not_there'"}
    result = result_of(completed(LABEL, completed={"failureDetail": failure}))
    assert result == TargetResult(LABEL, FAILED_TO_BUILD, "missing input file '//gates:not_there'")


def test_what_failed_in_analysis_is_described():
    result = result_of(
        {"id": {"targetConfigured": {"label": LABEL}}, "aborted": {"reason": "ANALYSIS_FAILURE"}},
        {"id": {"configuredLabel": {"label": LABEL}}, "aborted": {"description": "Error in fail"}},
    )
    expected = TargetResult(LABEL, FAILED_TO_BUILD, "analysis failure", output="Error in fail")
    assert result == expected


def test_a_target_that_failed_to_build_has_not_passed():
    result = result_of(*events_of_test(LABEL), completed(LABEL, completed={}))
    assert result.status == FAILED_TO_BUILD


def test_a_target_that_was_built_and_not_tested_has_no_result():
    assert read(completed(LABEL, completed={"success": True})) == {}


def test_labels_of_the_main_repository_are_one_name():
    results = read(*events_of_test("@@//gates:a/b"), skipped("@@other//gates:a/b"))
    assert list(results) == ["//gates:a/b", "@@other//gates:a/b"]


def test_lines_that_are_no_events_add_nothing():
    lines = ["", "{", "null", "[1]", '{"id": 1}', '{"id": {"testResult": 3}}', "[" * 100_000]
    lines += ['{"id": {"testResult": {"label": 4}}, "testResult": {"status": "PASSED"}}']
    lines += ['{"id": {"testResult": {"label": "//a"}}, "testResult": []}']
    assert [(one.status, one.detail) for one in read_events(lines).values()] == [
        (FAILED, "no_status")
    ]
