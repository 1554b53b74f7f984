"""Counts test targets in a build event stream and prints the line that CI reads.

Usage: count.py EVENTS TEST_EXIT_CODE REPORT_EXIT_CODE. The last line is `N passed, N failed`. A
target that did not build is a failed one, and so is the report when it did not end well. Pending
gates, which Bazel skips, are counted in a line of their own; another test that it skipped, because
the machine lacks what it needs, is named. The exit code is 0 only when tests ran and nothing failed.
"""

import json
import sys


def count(lines):
    """Returns (passed, failed, skipped): the labels of test targets by how they ended."""
    passed, failed, skipped, configured = set(), set(), set(), set()
    for line in lines:
        try:
            event = json.loads(line)
        except ValueError:
            continue  # the last line of an interrupted run
        identity = event.get("id", {})
        if "targetConfigured" in identity:
            label = identity["targetConfigured"]["label"]
            if "aborted" in event:
                failed.add(label)
            elif event.get("configured", {}).get("testSize"):
                configured.add(label)
        elif "testSummary" in identity and "testSummary" in event:
            ended_well = event["testSummary"].get("overallStatus") == "PASSED"
            (passed if ended_well else failed).add(identity["testSummary"]["label"])
        elif "targetCompleted" in identity:
            label = identity["targetCompleted"]["label"]
            if "aborted" in event:
                # Only what Bazel calls skipped is: an abort without a reason is one it can't name.
                was_skipped = event["aborted"].get("reason") == "SKIPPED"
                (skipped if was_skipped else failed).add(label)
            elif not event.get("completed", {}).get("success"):
                failed.add(label)
    silent = configured - passed - failed - skipped
    return passed - failed, failed | silent, skipped


def main(events, test_code, report_code):
    """Prints what failed and the counts; returns the exit code."""
    with open(events, encoding="utf-8") as lines:
        passed, failed, skipped = count(lines)
    for label in sorted(failed):
        print(f"failed: {label}")
    if report_code:
        failed = failed | {"the gates report"}
    if test_code and not failed:
        failed = {f"bazel test, which ended with code {test_code}"}
        print(f"failed: {failed}")
    lacking = {label for label in skipped if label.startswith("//tests:")}
    for label in sorted(lacking):
        print(f"not run, this machine lacks what it needs: {label}")
    print(f"{len(skipped - lacking)} pending gates and cases, not run before their milestone")
    print(f"{len(passed)} passed, {len(failed)} failed")
    return 0 if passed and not failed else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])))
