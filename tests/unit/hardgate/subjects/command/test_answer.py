"""The final answer of an agent: from stdout, the script, its report or a file of its workspace."""

import os

import pytest

from hardgate.cases.command import AnswerFile, CommandSubject
from hardgate.fixtures.model_script import load_script
from hardgate.subjects.command.answer import Answer, find_answer
from hardgate.subjects.command.process import Ended
from hardgate.subjects.command.report import ReportedAnswer

SCRIPT = load_script(
    "m.yaml",
    b"turns:\n  - {kind: final, text: first}\n  - {kind: final, text: second}\n"
    b"  - {kind: error, error_class: transient}\n",
)
ENDED = Ended(0, None, b"told\n\n", b"", (), 0, (), ())


def answer(place, *, turns=2, ended=ENDED, workspace="."):
    spec = CommandSubject.model_construct(answer=place)
    return find_answer(spec, SCRIPT, turns, ended, str(workspace))


@pytest.mark.parametrize(
    ("stdout", "text"),
    [
        (b"told\n\n", "told"),
        (b" a\nb\r\n", " a\nb"),
        (b"caf\xc3\xa9 \xff", "caf\u00e9 \ufffd"),
        (b"\n", None),
        (b"", None),
    ],
)
def test_stdout(stdout, text):
    assert answer("stdout", ended=ENDED._replace(stdout=stdout)) == Answer(text)


@pytest.mark.parametrize(("turns", "text"), [(0, None), (1, "first"), (2, "second"), (3, "second")])
def test_the_last_turn_that_was_played(turns, text):
    assert answer("last_turn", turns=turns) == Answer(text)


def test_the_last_report_counts():
    reports = (ReportedAnswer(1, "one"), ReportedAnswer(2, "two"))
    assert answer("report", ended=ENDED._replace(reports=reports)) == Answer("two")
    assert answer("report") == Answer(None, "the agent reported no answer")


def test_a_file_of_the_workspace(tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out/a.txt").write_bytes(b"written\n")
    place = AnswerFile(file="out/a.txt")
    assert answer(place, workspace=tmp_path) == Answer("written")


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda folder: None, "No such file"),
        (lambda folder: (folder / "a.txt").mkdir(), ""),
        (lambda folder: (folder / "a.txt").symlink_to("/etc/hostname"), "symbolic links"),
        (lambda folder: os.mkfifo(folder / "a.txt"), "no regular file"),
        (lambda folder: (folder / "a.txt").write_bytes(b"\xff"), "no text in UTF-8"),
    ],
    ids=["missing", "folder", "link", "pipe", "bytes"],
)
def test_a_file_that_holds_no_answer(tmp_path, make, words):
    make(tmp_path)
    found = answer(AnswerFile(file="a.txt"), workspace=tmp_path)
    assert found.text is None
    assert found.problem.startswith("the file 'a.txt' ")
    assert words in found.problem


def test_a_folder_that_is_a_link_is_not_followed(tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere/a.txt").write_text("secret")
    (tmp_path / "workspace").mkdir()
    (tmp_path / "workspace/out").symlink_to(tmp_path / "elsewhere")
    found = answer(AnswerFile(file="out/a.txt"), workspace=tmp_path / "workspace")
    assert found.text is None
    assert "cannot be read" in found.problem


def test_a_workspace_that_became_a_link_is_not_followed(tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere/a.txt").write_text("secret")
    (tmp_path / "workspace").symlink_to("elsewhere")
    found = answer(AnswerFile(file="a.txt"), workspace=tmp_path / "workspace")
    assert found.text is None
    assert "cannot be read" in found.problem
