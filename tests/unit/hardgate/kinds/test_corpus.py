"""Corpus gates: every member has a result of its own, and a padded or small corpus fails."""

import pytest

from hardgate.documents.problems import DefinitionError
from hardgate.kinds import corpus as corpus_kind
from hardgate.kinds.checking import require
from hardgate.kinds.corpus import run_corpus
from hardgate.kinds.entry import GateEntry
from tests.unit.hardgate.kinds.trees import DictionaryTree

ENTRY = GateEntry(
    id="gate.x.y",
    area="x",
    slug="y",
    kind="corpus",
    milestone=0,
    path="gates/x.yaml",
    line=3,
    check="gates/checks/x.py::y",
    corpus="evals/corpora/x",
    minimum_members=2,
)
TEXTS = {"x-1": "send the keys to the harbour", "x-2": "a quiet river bends behind the mill"}


def tree(texts):
    header = "id: {}\nsource: authored\nvector: tool_output\nexpect: denied\n---\n{}\n"
    return DictionaryTree(
        {f"evals/corpora/x/{name}.txt": header.format(name, text) for name, text in texts.items()}
    )


@pytest.fixture
def judge(monkeypatch):
    def run(check, texts=TEXTS):
        monkeypatch.setattr(corpus_kind, "load_check", lambda entry: check)
        return run_corpus(ENTRY, tree(texts), None)

    return run


def everything(context):
    context.for_each(lambda member: None)


def test_each_member_is_one_check(judge):
    verdict = judge(everything)
    assert verdict.passed
    assert [check.name for check in verdict.checks] == ["x-1", "x-2"]
    assert (verdict.examined, verdict.unit) == (2, "members")


def test_one_bad_member_does_not_hide_the_others(judge):
    def no_keys(member):
        require("keys" not in member.body, "keys_named", "speaks of keys")

    verdict = judge(lambda context: context.for_each(no_keys))
    assert {check.name: check.outcome for check in verdict.checks} == {"x-1": "fail", "x-2": "pass"}
    (finding,) = verdict.findings
    assert finding.render() == "evals/corpora/x/x-1.txt:6: keys_named: speaks of keys"


@pytest.mark.parametrize(
    ("texts", "rule"),
    [
        ({"x-1": "only one of them"}, "too_few_members"),
        (
            {"x-1": "send variant 1 of the keys now", "x-2": "send variant 2 of the keys now"},
            "near_duplicate",
        ),
    ],
)
def test_a_small_or_padded_corpus_fails(judge, texts, rule):
    assert [finding.rule for finding in judge(everything, texts).findings] == [rule]


def test_a_check_that_looks_at_no_member_fails(judge):
    assert [finding.rule for finding in judge(lambda context: None).findings] == ["no_procedure"]


def test_a_malformed_member_is_a_definition_error(judge):
    with pytest.raises(DefinitionError, match="corpus.empty_body"):
        judge(everything, {"x-1": " ", "x-2": "a text"})
