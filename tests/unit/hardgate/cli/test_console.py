"""Where things are printed, and what never reaches a terminal."""

import io
import json
import os

import pytest

from hardgate.cli.console import GREEN, Console


class Stream(io.StringIO):
    """A stream that is a terminal or not, with an encoding."""

    def __init__(self, terminal=False, encoding="utf-8"):
        super().__init__()
        self.terminal = terminal
        self.named = encoding

    @property
    def encoding(self):
        return self.named

    def isatty(self):
        return self.terminal


def console(terminal=False, encoding="utf-8", **environ):
    out, err = Stream(terminal, encoding), Stream(terminal, encoding)
    return Console("hardgate x", out, err, environ), out, err


def test_results_and_notes_go_to_different_streams():
    one, out, err = console()
    one.result("a result")
    one.note("a note")
    one.plain("as it is")
    assert out.getvalue() == "a result\n"
    assert err.getvalue() == "hardgate x: a note\nas it is\n"


@pytest.mark.parametrize(("terminal", "shown"), [(True, "1/2\n"), (False, "")])
def test_progress_is_for_terminals(terminal, shown):
    one, out, err = console(terminal)
    one.progress("1/2")
    assert (out.getvalue(), err.getvalue()) == ("", shown)


@pytest.mark.parametrize(
    ("terminal", "environ", "painted"),
    [(True, {}, True), (False, {}, False), (True, {"NO_COLOR": "1"}, False)],
)
def test_colours_are_for_terminals_that_want_them(terminal, environ, painted):
    one, _, _ = console(terminal, **environ)
    assert one.paint("PASS", GREEN) == ("\x1b[32mPASS\x1b[0m" if painted else "PASS")


def test_what_the_encoding_lacks_becomes_an_escape():
    one, out, _ = console(encoding="ascii")
    one.result("Grüße")
    assert out.getvalue() == "Gr\\xfc\\xdfe\n"


def test_what_a_file_name_hides_is_shown():
    one, _, err = console()
    one.note("found x\x1b[2J")
    one.plain("a\u202eb\nc")
    assert err.getvalue() == "hardgate x: found x\\x1b[2J\na\\u202eb\nc\n"


def test_json_is_sorted_ascii():
    one, out, _ = console()
    one.json({"b": "ü", "a": 1})
    assert out.getvalue() == '{\n "a": 1,\n "b": "\\u00fc"\n}\n'
    assert json.loads(out.getvalue()) == {"a": 1, "b": "ü"}


def test_a_reader_that_left_is_no_error():
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "w") as pipe:
        one = Console("hardgate x", pipe, Stream(), {})
        one.result("nobody reads this")
        one.result("nor this")
        assert os.fstat(pipe.fileno()).st_rdev == os.stat(os.devnull).st_rdev
