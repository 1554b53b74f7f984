"""The properties about tools: each clause fails for a runtime that breaks it, and for no other."""

import pytest

from agent_core.application import effect_watermark, tool_results
from agent_core.domain import registration
from agent_core.domain.canonical import CanonicalArguments, canonicalize
from agent_core.domain.outcomes import OutcomeStatus
from agent_core.domain.tools import IdempotencyClass, TargetKind, ToolSource
from agent_core.domain.trust import TrustLevel
from gates.checks import (
    tool_canonical,
    tool_external_text,
    tool_outcome,
    tool_registration,
    tool_trust,
    tool_watermark,
)
from gates.checks.driving import probe_spec
from gates.checks.tool_registration import Fault
from gates.checks.tool_watermark import Plan
from hardgate.fixtures.corpus import Member
from hardgate.kinds.checking import Violation


def rule_of(check, *arguments):
    with pytest.raises(Violation) as violation:
        check(*arguments)
    return violation.value.rule


# Registration

FAULT = Fault("bad_name_accepted", "name", "Probe")


@pytest.mark.parametrize(
    ("problems", "rule"),
    [
        ((), "bad_name_accepted"),
        (("name: is bad",), "tool_not_named"),
        (("Probe: name: is bad", "math.calculate: name: is bad"), "tool_not_named"),
        (("Probe: title: is bad",), "field_not_named"),
    ],
)
def test_a_fault_has_to_be_refused_by_its_names(monkeypatch, problems, rule):
    tool_registration.fault_is_refused(probe_spec(), FAULT)
    monkeypatch.setattr(tool_registration, "problems_at_start", lambda *_: problems)
    assert rule_of(tool_registration.fault_is_refused, probe_spec(), FAULT) == rule


@pytest.mark.parametrize(
    ("problem", "rule"),
    [
        ("demo.probe: name: is bad", "sound_tool_refused"),
        ("math.calculate: name: is bad", "builtin_refused"),
    ],
)
def test_what_is_sound_has_to_be_taken(monkeypatch, problem, rule):
    tool_registration.sound_tool_registers(probe_spec())
    monkeypatch.setattr(tool_registration, "problems_at_start", lambda *_: (problem,))
    assert rule_of(tool_registration.sound_tool_registers, probe_spec()) == rule


def test_every_listed_fault_is_refused_by_the_real_runtime():
    faults = tool_registration._each_fault()
    assert len({fault.rule for fault in faults}) == 5
    for fault in faults:
        tool_registration.fault_is_refused(probe_spec(), fault)


def test_a_remote_name_that_a_builtin_takes_is_found(monkeypatch):
    remote = tool_registration._of_server("files", "read")
    tool_registration.remote_name_is_reserved(remote, TargetKind.IN_PROCESS)
    monkeypatch.setattr(registration, "domain_problems", lambda spec: [])
    check = tool_registration.remote_name_is_reserved
    assert rule_of(check, remote, TargetKind.IN_PROCESS) == "reserved_domain_accepted"
    refused = tool_registration.reserved_domain_is_refused
    assert rule_of(refused, "mcp", "a.b", TargetKind.MCP) == "reserved_domain_accepted"


# Labels


def claim(source=ToolSource.BUILTIN, target=TargetKind.IN_PROCESS, of_result=None):
    return tool_trust.Claim(source, target, "word", TrustLevel.INTERNAL_TOOL, of_result)


FOREIGN = [claim(ToolSource.MCP), claim(target=TargetKind.SANDBOX), claim(ToolSource.DEVICE)]


@pytest.mark.parametrize("one", FOREIGN)
def test_a_foreign_tool_with_its_own_label_is_found(monkeypatch, one):
    tool_trust.foreign_output_is_untrusted(one)
    monkeypatch.setattr(registration, "forced_trust", lambda spec: spec.output_trust)
    assert rule_of(tool_trust.foreign_output_is_untrusted, one) == "foreign_tool_trusted"


def test_a_result_that_names_its_own_label_is_found(monkeypatch):
    one = claim(ToolSource.MCP, of_result=TrustLevel.PLATFORM)
    tool_trust.foreign_output_is_untrusted(one)
    before = tool_results.clamped_labels
    monkeypatch.setattr(
        tool_results,
        "clamped_labels",
        lambda result, spec: before(result, spec)._replace(trust=result.trust),
    )
    assert rule_of(tool_trust.foreign_output_is_untrusted, one) == "foreign_result_trusted"


def test_a_local_tool_keeps_what_it_declares():
    tool_trust.foreign_output_is_untrusted(claim(of_result=TrustLevel.MEMORY))


# The watermark

NEEDS = IdempotencyClass.NON_IDEMPOTENT


@pytest.mark.parametrize("acts", [(), ("mark",), ("mark", "send"), ("send",), ("send", "mark")])
@pytest.mark.parametrize("ending", ["ok", "failed", "crashed"])
@pytest.mark.parametrize("idempotency", IdempotencyClass)
def test_the_real_watermark_holds(acts, ending, idempotency):
    tool_watermark.effect_is_on_record_first(Plan(idempotency, acts, ending))


def test_an_effect_before_its_watermark_is_found(monkeypatch):
    async def nothing(self):
        pass

    monkeypatch.setattr(effect_watermark.EffectWatermark, "mark", nothing)
    check = tool_watermark.effect_is_on_record_first
    assert rule_of(check, Plan(NEEDS, ("mark", "send"), "ok")) == "effect_before_watermark"
    assert rule_of(check, Plan(NEEDS, ("mark",), "ok")) == "watermark_lost"


@pytest.mark.parametrize(
    ("acts", "keeps"),
    [
        ((), True),
        (("mark", "send"), True),
        (("wait", "mark", "send"), True),
        (("send", "mark"), False),
        (("wait", "send"), False),
    ],
)
def test_a_plan_keeps_the_contract_when_it_marks_first(acts, keeps):
    assert Plan(NEEDS, acts, "ok").keeps_contract is keeps


def test_what_leaves_the_process_unmarked_is_heard(tmp_path):
    departures = tool_watermark._departures
    departures.install()
    departures.listener = heard = []
    try:
        (tmp_path / "a").write_text("x")
        (tmp_path / "a").read_text()
        (tmp_path / "a").rename(tmp_path / "b")
    finally:
        departures.listener = None
    (tmp_path / "b").unlink()
    assert heard == ["open", "os.rename"]


# Outcomes


@pytest.mark.parametrize(
    ("status", "name"),
    [(one, name) for one, names in tool_outcome.ENDINGS.items() for name in names],
)
def test_every_listed_ending_holds(status, name):
    tool_outcome.outcome_has_its_shape(status, tool_outcome.ENDINGS[status][name]("text"))


def test_an_ending_with_another_code_or_status_is_found():
    ending = tool_outcome.ENDINGS[OutcomeStatus.SUCCEEDED]["succeeds"]("text")
    check = tool_outcome.outcome_has_its_shape
    assert rule_of(check, OutcomeStatus.FAILED, ending) == "wrong_status"
    other = ending._replace(reason_code="tool.timeout")
    assert rule_of(check, OutcomeStatus.SUCCEEDED, other) == "wrong_reason_code"


# Canonical arguments


def test_a_form_that_follows_the_spelling_is_found(monkeypatch):
    tool_canonical.form_is_kept({"b": "é", "a": 1}, 1)

    def as_written(value):
        form = canonicalize(value)
        text = repr(value)
        return CanonicalArguments(form.value, text, tool_canonical.hashlib.sha256(
            text.encode()).hexdigest())  # fmt: skip

    monkeypatch.setattr(tool_canonical, "canonicalize", as_written)
    assert rule_of(tool_canonical.form_is_kept, {"b": 1, "a": 1, "c": 2}, 1) == "key_order"
    assert rule_of(tool_canonical.form_is_kept, {"a": "e\u0301"}, 3) == "unicode_form"


def test_two_values_with_one_form_and_a_doubled_key_are_found(monkeypatch):
    tool_canonical.forms_differ(({"a": 1}, {"a": 2}))
    tool_canonical.collision_is_refused('{"\u00e9": 1, "e\u0301": 1}')
    one = canonicalize({})
    monkeypatch.setattr(tool_canonical, "canonicalize", lambda value: one)
    assert rule_of(tool_canonical.forms_differ, ({"a": 1}, {"a": 2})) == "values_confused"
    assert rule_of(tool_canonical.collision_is_refused, '{"a": 1}') == "collision_accepted"


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ({"a": "é"}, {"a": "e\u0301"}, True),
        ({"a": 1, "b": [1.0]}, {"b": [1], "a": 1}, True),
        ({"a": True}, {"a": 1}, False),
        ({"a": None}, {}, False),
        ({"a": "ﬁ"}, {"a": "fi"}, False),
        ({"a": [1, 2]}, {"a": [2, 1]}, False),
    ],
)
def test_what_is_one_value(one, other, same):
    assert tool_canonical._same(one, other) is same


# Texts from outside

BODY = "An order that nobody gave, in so many words."


def member(vector="exception_text", expect="tool.internal_error", body=BODY):
    return Member("a.txt", "ext-1", "authored", vector, expect, body, 6)


@pytest.mark.parametrize("vector", sorted(tool_external_text.VECTORS))
def test_every_vector_brings_its_text_and_a_wrong_expectation_fails(vector):
    check = tool_external_text.nothing_of_the_text_is_said
    # An id that prints may be a provider's own, and is on record as it came.
    body = f"{BODY}\x07" if vector == "call_id" else BODY
    assert rule_of(check, member(vector, "tool.nothing", body)) == "other_ending"


def test_a_vector_that_there_is_not_is_found():
    check = tool_external_text.nothing_of_the_text_is_said
    assert rule_of(check, member("telepathy")) == "unknown_vector"


def test_a_piece_of_a_text_is_found_whatever_its_case_and_blanks():
    told = tool_external_text.pieces(BODY)
    said = tool_external_text.folded("The tool says: AN  ORDER\nthat nobody meant.")
    assert any(piece in said for piece in told)
    assert not any(piece in tool_external_text.folded("The tool failed.") for piece in told)
    assert tool_external_text.pieces("short") == {"short"}


@pytest.mark.parametrize("place", sorted(tool_external_text._PLACES))
def test_a_leak_at_each_place_is_found(monkeypatch, place):
    tool_external_text.nothing_of_the_text_is_said(member())
    said = iter(["zzzz", f"It said: {BODY}"])
    monkeypatch.setitem(tool_external_text._PLACES, place, lambda played: next(said))
    assert rule_of(tool_external_text.nothing_of_the_text_is_said, member()) == place
