"""The server as a process: lines in, lines out, and what ends it."""

import json

import pytest

from hardgate.wire.mcp import rules, stdio
from hardgate.wire.mcp.stdio import DONE, LIMIT_REACHED, UNUSABLE, StdioServer, main
from tests.unit.hardgate.wire.mcp.samples import BEGIN, TEXT, Agent, line

STDIO = TEXT.replace("transport: http", "transport: stdio")


class Pipe:
    """What a process reads, piece by piece, and writes."""

    def __init__(self, agent, pieces, times=()):
        self._pieces = list(pieces)
        self._times = list(times)
        self.written = b""
        self.server = StdioServer(agent.player, self._read, self._write, agent.limits, self._clock)

    def _clock(self):
        return self._times.pop(0) if len(self._times) > 1 else self._times[0] if self._times else 0

    def _read(self, seconds):
        if seconds <= 0:
            raise TimeoutError
        return self._pieces.pop(0) if self._pieces else b""

    def _write(self, data):
        self.written += data

    @property
    def unread(self):
        """How many pieces were not read."""
        return len(self._pieces)

    @property
    def answers(self):
        return [json.loads(one) for one in self.written.splitlines()]


def run(data, *, pieces=None, text=STDIO, times=(), **limits):
    """The agent, the pipe and the status of a process that gets some bytes."""
    agent = Agent(text, **limits)
    pipe = Pipe(agent, pieces or [data], times)
    return agent, pipe, pipe.server.run()


def test_a_conversation():
    data = BEGIN + line("tools/call", 2, name="read", arguments={"path": "b"})
    agent, pipe, status = run(data)
    assert status == DONE
    assert [answer["id"] for answer in pipe.answers] == [1, 2]
    assert agent.rules == []
    assert [entry.connection for entry in agent.ledger.entries] == [1, 1, 1]


def test_bytes_come_as_they_like():
    data = BEGIN + b"\n\r\n  \n" + line("ping", 2).rstrip(b"\n") + b"\r\n" + line("ping", 3)
    agent, pipe, status = run(data.rstrip(b"\n"), pieces=[bytes([byte]) for byte in data[:-1]])
    assert (status, agent.rules) == (DONE, [])
    assert [answer["id"] for answer in pipe.answers] == [1, 2, 3]


def test_garbage_is_refused_and_the_process_goes_on():
    data = b"\xff\xfe\n{}\n[1]\nHTTP/1.1 200 OK\n" + BEGIN + line("ping", 5)
    agent, pipe, status = run(data)
    assert status == DONE
    assert agent.rules == [
        rules.JSON_MALFORMED,
        rules.MESSAGE_MALFORMED,
        rules.MESSAGE_MALFORMED,
        rules.JSON_MALFORMED,
    ]
    assert [answer["id"] for answer in pipe.answers] == [None, None, None, None, 1, 5]


@pytest.mark.parametrize("end", [b"\n", b""])
def test_a_line_beyond_the_limit_ends_the_process(end):
    good = line("ping", 1).rjust(601)
    agent, pipe, status = run(good + b"x" * 601 + end + BEGIN, body_bytes=600)
    assert status == LIMIT_REACHED
    assert agent.rules == [rules.LIMIT]
    assert agent.results().limits_hit == ("body_bytes",)
    assert ["result" in answer for answer in pipe.answers] == [True, False]


def test_a_flood_without_a_line_end_is_not_kept():
    agent, pipe, status = run(b"", pieces=[b"x" * 500] * 1000, body_bytes=1000)
    assert (status, agent.rules) == (LIMIT_REACHED, [rules.LIMIT])
    assert pipe.unread == 997


def test_the_wall_limit():
    agent, pipe, status = run(BEGIN, times=[0, 1, 601], wall_seconds=600)
    assert (status, agent.rules) == (LIMIT_REACHED, [rules.LIMIT])
    assert agent.results().limits_hit == ("wall_seconds",)
    assert "result" in pipe.answers[0]


def test_too_many_messages_end_the_process():
    agent, pipe, status = run(b"".join(line("ping", number) for number in range(9)), requests=3)
    assert (status, agent.rules) == (LIMIT_REACHED, [rules.LIMIT])
    assert ["result" in answer for answer in pipe.answers] == [True, True, True, False]


def test_a_disconnect_ends_the_process_without_an_answer():
    text = STDIO + "script: [{at_call: 1, action: disconnect}]\n"
    data = BEGIN + line("tools/call", 2, name="read", arguments={"path": "b"}) + line("ping", 3)
    agent, pipe, status = run(data, text=text)
    assert status == LIMIT_REACHED
    assert [answer["id"] for answer in pipe.answers] == [1]
    assert agent.ledger.counts.actions == {0}


def test_an_agent_that_reads_no_more():
    agent = Agent(STDIO)
    pipe = Pipe(agent, [BEGIN])

    def closed(data):
        raise BrokenPipeError

    pipe.server = StdioServer(agent.player, pipe._read, closed, agent.limits, lambda: 0.0)
    assert pipe.server.run() == DONE
    assert len(agent.ledger.entries) == 1


def test_a_server_that_cannot_be_read(tmp_path, capsys):
    transcript = str(tmp_path / "t.jsonl")
    assert main([str(tmp_path / "none.json"), "--transcript", transcript]) == UNUSABLE
    (tmp_path / "bad.json").write_text('{"server_id": "a"}')
    assert main([str(tmp_path / "bad.json"), "--transcript", transcript]) == UNUSABLE
    said = capsys.readouterr().err.splitlines()
    assert said[0].endswith("none.json: No such file or directory")
    assert said[1].endswith("bad.json: 2 mistakes; no server")


def test_a_transcript_that_cannot_be_written(tmp_path, capsys):
    fixture = tmp_path / "a.json"
    fixture.write_text('{"server_id": "a", "transport": "stdio", "tools": []}')
    assert stdio.main([str(fixture), "--transcript", str(tmp_path / "none/t")]) == UNUSABLE
    assert capsys.readouterr().err.endswith("none/t: No such file or directory\n")


def test_a_transcript_that_cannot_be_written_any_more(capsys):
    agent = Agent(STDIO)

    def full(entry):
        raise OSError(28, "No space left on device")

    agent.ledger.add = full
    pipe = Pipe(agent, [BEGIN])
    assert pipe.server.run() == UNUSABLE
    assert pipe.answers == []
    assert capsys.readouterr().err == "the transcript: No space left on device\n"
