"""Publishes a verdict: its files, the test.xml that Bazel reads, and the text that people read.

Where the files go is what Bazel tells every test: `TEST_UNDECLARED_OUTPUTS_DIR` for verdict.json
and run.json, `XML_OUTPUT_FILE` for the JUnit file. Each is written only where it is named.
"""

import json
import os
import socket
import sys
import time
from collections.abc import Mapping
from typing import NamedTuple, TextIO

from hardgate.verdicts.text import indented, one_line, printable
from hardgate.verdicts.verdict import PASS, CheckResult, Json, Verdict

VERDICT_FILE = "verdict.json"
RUN_FILE = "run.json"

# Printed at most; verdict.json holds all of them.
CHECKS_PRINTED = 20
FINDINGS_PRINTED = 100
VALUE_CHARACTERS = 2000


class Start(NamedTuple):
    """When a process began: seconds since the epoch, and monotonic seconds."""

    epoch_seconds: float
    monotonic_seconds: float

    @classmethod
    def now(cls) -> "Start":
        return cls(time.time(), time.monotonic())


def publish(
    verdict: Verdict,
    *,
    repeat: str,
    start: Start,
    excerpt: str = "",
    environ: Mapping[str, str] | None = None,
    stream: TextIO | None = None,
) -> int:
    """Write the verdict's files, print it, and return the exit code: 0 passed, 1 failed.

    `repeat` is the command that repeats this check; `excerpt` is the piece of the event log to show
    when it failed. Raises OSError when a named place cannot be written.
    """
    environ = os.environ if environ is None else environ
    stream = sys.stdout if stream is None else stream
    seconds = time.monotonic() - start.monotonic_seconds
    text = render(verdict, repeat=repeat, excerpt=excerpt)
    folder = environ.get("TEST_UNDECLARED_OUTPUTS_DIR", "")
    if folder:
        _write(os.path.join(folder, VERDICT_FILE), verdict.to_json())
        _write(os.path.join(folder, RUN_FILE), _run_json(start, seconds))
    xml = environ.get("XML_OUTPUT_FILE", "")
    if xml:
        _write(xml, junit_xml(verdict, text, seconds))
    _print(text, stream, environ)
    return 0 if verdict.passed else 1


def render(verdict: Verdict, *, repeat: str, excerpt: str = "") -> str:
    """The text for people: one line for a pass; for a failure everything needed to act on it."""
    if verdict.passed:
        return f"PASS {verdict.id}: {_counted(verdict)}\n"
    parts = [f"FAIL {verdict.id} ({verdict.kind}, milestone {verdict.milestone})"]
    failed = verdict.failed_checks()
    if failed:
        parts.append(f"{len(failed)} of {len(verdict.checks)} checks failed:")
        parts += [_render_check(check) for check in failed[:CHECKS_PRINTED]]
        parts += _more(len(failed), CHECKS_PRINTED, "failed checks")
    if verdict.findings:
        found = [one_line(each.render(), 1000) for each in verdict.findings[:FINDINGS_PRINTED]]
        parts.append("\n".join(found + _more(len(verdict.findings), FINDINGS_PRINTED, "findings")))
    if verdict.counterexample is not None:
        parts.append(_render_counterexample(verdict))
    if verdict.network is not None and not verdict.network.off:
        parts.append(f"{verdict.network.rule}: {printable(verdict.network.message)}")
    if excerpt:
        parts.append(f"event log, around the divergence:\n{excerpt}")
    parts.append(f"repeat: {one_line(repeat, 1000)}")
    return "\n\n".join(parts) + "\n"


def junit_xml(verdict: Verdict, text: str, seconds: float) -> str:
    """A JUnit file with one test case per check, and one for what belongs to no check.

    The checks of a counterexample are left out: there, a failed check is what should happen.
    """
    checks = verdict.checks if verdict.counterexample is None else ()
    cases: list[str] = []
    named: dict[str, int] = {}
    for check in checks:
        # A name may stand for several checks, but readers of such files take it for an identity.
        named[check.name] = named.get(check.name, 0) + 1
        name = check.name if named[check.name] == 1 else f"{check.name} {named[check.name]}"
        failure = "" if check.outcome == PASS else _render_check(check)
        cases.append(_junit_case(verdict.id, name, failure))
    failed_checks = sum(check.outcome != PASS for check in checks)
    others_failed = not verdict.passed and (
        not failed_checks
        or bool(verdict.findings)
        or (verdict.network is not None and not verdict.network.off)
    )
    cases.append(_junit_case(verdict.id, "verdict", text if others_failed else ""))
    failures = failed_checks + int(others_failed)
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f'<testsuites>\n<testsuite name="{_xml(verdict.id)}" tests="{len(cases)}"'
        f' failures="{failures}" errors="0" skipped="0" time="{seconds:.3f}">\n'
        + "".join(cases)
        + "</testsuite>\n</testsuites>\n"
    )


def _junit_case(suite: str, name: str, failure: str) -> str:
    opening = f'<testcase classname="{_xml(suite)}" name="{_xml(name)}"'
    if not failure:
        return f"{opening}/>\n"
    head = _xml(failure.split("\n", 1)[0])
    return f'{opening}><failure message="{head}">{_xml(failure)}</failure></testcase>\n'


def _xml(text: str) -> str:
    """Escaped for text and attributes; what XML 1.0 cannot carry became a visible escape."""
    safe = printable(text, 100_000)
    safe = safe.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return safe.replace('"', "&quot;")


def _counted(verdict: Verdict) -> str:
    if verdict.counterexample is not None:
        return f"the counterexample was rejected for {one_line(verdict.counterexample.reason)}"
    counts = [f"{len(verdict.checks)} checks"] if verdict.checks else []
    counts += [f"{verdict.examined} {verdict.unit}"] if verdict.examined else []
    counts += [f"{verdict.trials} trials"] if verdict.trials else []
    return ", ".join(counts)


def _render_check(check: CheckResult) -> str:
    place = f"{check.path}:{check.line}: " if check.path else ""
    lines = [
        f"{place}{check.name}",
        f"  expected: {indented(_value(check.expected), '    | ')}",
        f"  observed: {indented(_value(check.observed), '    | ')}",
    ]
    if check.message:
        lines.append(f"  {indented(printable(check.message, VALUE_CHARACTERS), '    | ')}")
    return "\n".join(lines)


def _render_counterexample(verdict: Verdict) -> str:
    example = verdict.counterexample
    assert example is not None
    lines = [
        f"counterexample {one_line(example.name)}",
        f"  expected: rejected for {one_line(example.reason)}",
        f"  observed: {example.why}",
    ]
    if example.message:
        lines.append(f"  {indented(printable(example.message), '    | ')}")
    return "\n".join(lines)


def _value(value: Json) -> str:
    text = value if isinstance(value, str) else json.dumps(value, sort_keys=True)
    return printable(text, VALUE_CHARACTERS)


def _more(total: int, shown: int, what: str) -> list[str]:
    return [f"... and {total - shown} more {what}, all in {VERDICT_FILE}"] if total > shown else []


def _run_json(start: Start, wall_seconds: float) -> str:
    """What differs from run to run and machine to machine; never compared."""
    plain = {
        "started_at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(start.epoch_seconds)),
        "wall_seconds": round(wall_seconds, 6),
        "cpu_seconds": round(time.process_time(), 6),
        "host": socket.gethostname(),
        "pid": os.getpid(),
        "python": sys.version.split()[0],
    }
    return json.dumps(plain, sort_keys=True, indent=1) + "\n"


def _write(path: str, text: str) -> None:
    """Write whole or not at all: a killed process leaves no half of a file behind."""
    partial = f"{path}.partial"
    with open(partial, "w", encoding="utf-8", newline="\n") as file:
        file.write(text)
    os.replace(partial, path)


def _print(text: str, stream: TextIO, environ: Mapping[str, str]) -> None:
    if stream.isatty() and not environ.get("NO_COLOR"):
        colour = "32" if text.startswith("PASS") else "31"
        text = f"\x1b[{colour}m{text[:4]}\x1b[0m{text[4:]}"
    encoding = stream.encoding or "utf-8"
    stream.write(text.encode(encoding, "backslashreplace").decode(encoding))
    stream.flush()
