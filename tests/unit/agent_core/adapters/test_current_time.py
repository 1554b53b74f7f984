"""`system.current_time`: the clock that it reads, and how it says what it read."""

import asyncio
import zoneinfo
from datetime import UTC, datetime

import pytest

from agent_core.adapters.determinism.clocks import PinnedClock
from agent_core.adapters.tools.current_time import CurrentTime
from agent_core.domain.tools import ToolFailure, ToolFailureKind
from agent_core.ports.tools import ToolContext

INSTANT = datetime(2026, 3, 29, 0, 59, 59, 123456, tzinfo=UTC)
TZIF = b"TZif" + b"\0" * 16


def zone(*types):
    """The bytes of a zone that never changes: RFC 9636, version 1, one type."""
    ((offset, name),) = types
    counts = [0, 0, 0, 0, 1, len(name) + 1]
    head = TZIF + b"".join(count.to_bytes(4, "big") for count in counts)
    return head + offset.to_bytes(4, "big", signed=True) + b"\0\0" + name.encode() + b"\0"


@pytest.fixture
def database(tmp_path):
    """A time zone database with two zones of our own."""
    (tmp_path / "Test").mkdir()
    (tmp_path / "Test" / "East").write_bytes(zone((19_800, "EAST")))
    (tmp_path / "Test" / "West").write_bytes(zone((-12_600, "WEST")))
    (tmp_path / "Test" / "Exact").write_bytes(zone((3_661, "EXACT")))
    before = zoneinfo.TZPATH
    zoneinfo.reset_tzpath([tmp_path])
    zoneinfo.ZoneInfo.clear_cache()
    yield
    zoneinfo.reset_tzpath(before)
    zoneinfo.ZoneInfo.clear_cache()


async def no_effect():
    raise AssertionError("it has no effect to record")


def tell(instant=INSTANT, **arguments):
    context = ToolContext("invocation", "key", PinnedClock(instant), no_effect)
    return asyncio.run(CurrentTime().run(arguments, context))


@pytest.mark.parametrize("arguments", [{}, {"timezone": "UTC"}])
def test_utc_is_the_default(arguments):
    result = tell(**arguments)
    assert result.output == {
        "iso8601": "2026-03-29T00:59:59.123456+00:00",
        "timezone": "UTC",
        "utc_offset": "+00:00",
        "unix_seconds": 1774745999,
        "weekday": "Sunday",
    }
    assert result.content == "2026-03-29T00:59:59.123456+00:00 (UTC, Sunday)"


@pytest.mark.parametrize(
    ("name", "iso8601", "offset", "weekday"),
    [
        ("Test/East", "2026-03-29T06:29:59.123456+05:30", "+05:30", "Sunday"),
        ("Test/West", "2026-03-28T21:29:59.123456-03:30", "-03:30", "Saturday"),
        ("Test/Exact", "2026-03-29T02:01:00.123456+01:01:01", "+01:01:01", "Sunday"),
    ],
)
def test_a_zone_by_name(database, name, iso8601, offset, weekday):
    output = tell(timezone=name).output
    assert output == {
        "iso8601": iso8601,
        "timezone": name,
        "utc_offset": offset,
        "unix_seconds": 1774745999,
        "weekday": weekday,
    }


def test_seconds_are_rounded_down_and_parts_of_them_always_shown():
    output = tell(datetime(1969, 12, 31, 23, 59, 59, 500000, tzinfo=UTC)).output
    assert output["unix_seconds"] == -1
    assert tell(datetime(2026, 1, 1, tzinfo=UTC)).output["iso8601"].endswith(".000000+00:00")


@pytest.mark.parametrize(
    "name",
    ["Test/North", "utc", "Test", "../Test/East", "/etc/localtime", "Test/\0", "Test//East", " "],
)
def test_an_unknown_zone(database, name):
    with pytest.raises(ToolFailure) as caught:
        tell(timezone=name)
    assert caught.value.kind is ToolFailureKind.INVALID_ARGUMENTS
    assert caught.value.reason_code == "tool.invalid_arguments.unknown_timezone"


def test_every_day_has_its_name():
    names = [tell(datetime(2026, 6, day, tzinfo=UTC)).output["weekday"] for day in range(1, 8)]
    assert names == [
        "Monday",
        "Tuesday",
        "Wednesday",
        "Thursday",
        "Friday",
        "Saturday",
        "Sunday",
    ]
