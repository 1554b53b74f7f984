"""Entries in a file: whole lines, many writers, and what a killed one leaves."""

import fcntl
import json
import os

import pytest

from hardgate.wire.checks import Violation
from hardgate.wire.mcp import ledger as ledger_module
from hardgate.wire.mcp.entries import ANSWERED, REFUSED, Entry, ToolCall, counted, entry_from_data
from hardgate.wire.mcp.ledger import FileLedger, MemoryLedger, read_entries

CALL = Entry(
    2,
    1,
    "request",
    ANSWERED,
    50,
    "tools/call",
    "a",
    call=ToolCall(1, "read", {"path": "\u202e", "deep": [1, None, {"x": 1.5}]}, 0),
)
REFUSAL = Entry(
    3, 0, "other", REFUSED, 9, code=-32700, limit="requests", violations=(Violation("r", "m", [1]),)
)
ENTRIES = (Entry(1, 1, "request", ANSWERED, 10, "initialize", 1, connect=1), CALL, REFUSAL)


@pytest.fixture
def path(tmp_path):
    return str(tmp_path / "a.jsonl")


def write(path, *entries):
    ledger = FileLedger(path)
    for entry in entries:
        with ledger.held():
            ledger.add(entry)
    ledger.close()


@pytest.mark.parametrize("entry", ENTRIES)
def test_an_entry_is_plain_data_and_comes_back(entry):
    data = json.loads(json.dumps(entry.to_data()))
    assert entry_from_data(data) == entry


def test_entries_come_back(path):
    write(path, *ENTRIES)
    assert read_entries(path) == (ENTRIES, 0)
    assert os.stat(path).st_mode & 0o777 == 0o600


def test_no_file_holds_no_entries(path):
    assert read_entries(path) == ((), 0)
    assert not os.path.exists(path)


def test_counts():
    ledger = MemoryLedger()
    for entry in ENTRIES:
        ledger.add(entry)
    assert ledger.entries == ENTRIES
    for counts in (ledger.counts, counted(ENTRIES)):
        assert (counts.messages, counts.message_bytes, counts.connections) == (3, 69, 1)
        assert (counts.connects, counts.calls, counts.uses) == (1, 1, {("read", 0): 1})
        assert counts.limits == ["requests"]
    assert counted((REFUSAL, REFUSAL)).limits == ["requests"]


def test_two_writers_see_each_other(path):
    one, other = FileLedger(path), FileLedger(path)
    for number in range(1, 7):
        ledger = one if number % 2 else other
        with ledger.held():
            assert ledger.counts.messages == number - 1
            ledger.add(ENTRIES[0]._replace(number=number))
    one.close()
    other.close()
    assert [entry.number for entry in read_entries(path)[0]] == [1, 2, 3, 4, 5, 6]


def test_a_file_belongs_to_one_writer_at_a_time(path):
    ledger = FileLedger(path)
    with open(path, "rb") as other:
        with ledger.held(), pytest.raises(BlockingIOError):
            fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
        fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
    ledger.close()


def test_half_a_line_is_told_and_hides_no_other(path):
    write(path, ENTRIES[0])
    with open(path, "ab") as file:
        file.write(b'{"number": 2, "conn')
    assert read_entries(path) == (ENTRIES[:1], 1)
    write(path, CALL)
    assert read_entries(path) == ((ENTRIES[0], CALL), 1)


BROKEN = [b"", b"7", b"{}", b"\xff", b'{"call": null}', b"[" * 10_000]


@pytest.mark.parametrize("line", BROKEN)
def test_a_line_that_is_no_entry(path, line):
    write(path, ENTRIES[0])
    with open(path, "ab") as file:
        file.write(line + b"\n")
    write(path, CALL)
    assert read_entries(path) == ((ENTRIES[0], CALL), 1)


def test_a_file_is_read_up_to_a_limit(path, monkeypatch):
    write(path, ENTRIES[0])
    size = os.path.getsize(path)
    write(path, CALL)
    for limit, entries, broken in ((size, 1, 1), (size + 10, 1, 1), (10_000, 2, 0)):
        monkeypatch.setattr(ledger_module, "MOST_FILE_BYTES", limit)
        found = read_entries(path)
        assert (len(found[0]), found[1]) == (entries, broken)


def test_a_file_that_cannot_be_written(tmp_path):
    with pytest.raises(OSError, match="none"):
        FileLedger(str(tmp_path / "none" / "a.jsonl"))
