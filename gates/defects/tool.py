"""The counterexamples of the area tool."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from agent_core.adapters.in_memory.repositories import InMemoryToolInvocationRepository
from agent_core.adapters.tools import registry as registry_adapter
from agent_core.adapters.tools.demo_write import DemoUnsafeWrite
from agent_core.adapters.tools.math_calculate import MathCalculate
from agent_core.adapters.tools.registry import StaticToolRegistry
from agent_core.application import (
    context_builder,
    effect_watermark,
    invocation_rows,
    tool_pipeline,
    tool_results,
)
from agent_core.application.executor import RunExecutor
from agent_core.application.tool_pipeline import ToolPipeline
from agent_core.domain import canonical, envelope, json_schema, registration
from agent_core.domain.outcomes import OutcomeStatus, Remediation, ToolOutcome
from agent_core.domain.tools import IdempotencyClass
from gates.defects.tool_recovery import (  # noqa: F401
    attempt_not_counted,
    attempt_not_counted_in_memory,
    authorized_call_counted,
    authorized_call_waited_for,
    conditional_class_not_replayed,
    conflict_not_waited_for,
    found_call_returned_unfinished,
    key_of_the_record,
    replayed_under_another_key,
    result_not_handed_on,
    review_not_opened,
    started_call_believed,
    submission_executed_again,
    submissions_merged,
    unknown_executed_again,
    wait_given_up_at_once,
    watermark_not_looked_at,
)
from hardgate.kinds.bench import Bench
from hardgate.kinds.code_edits import edited

# registration_valid, reserved_domains

_RESERVED_LINES = """elif domain in RESERVED_DOMAINS:
        yield f"name: the domains {', '.join(sorted(RESERVED_DOMAINS))} are reserved"
    elif domain not in KNOWN_DOMAINS:"""
_REMOTE_LINES = """if not isinstance(reference, str) or not reference.startswith(_LOCAL_REFERENCE):
        yield f"{where}.$ref: {reference!r} leaves the schema; allowed: {_LOCAL_REFERENCE}<name>"
        return"""


def builtin_without_trust(bench: Bench) -> None:
    """A builtin leaves its output label open."""
    edit = edited("return _SPEC", "return _SPEC._replace(output_trust=None)")
    bench.replace(MathCalculate, "spec", edit)


def lowest_ceiling_refused(bench: Bench) -> None:
    """The ceiling itself is refused, by a comparison that is off by one."""
    bench.replace(registration, "_is_within", edited("<= highest", "< highest"))


def name_end_unchecked(bench: Bench) -> None:
    """Only the beginning of a name is compared with the grammar."""
    bench.replace(registration, "is_tool_name", edited("_NAME.fullmatch", "_NAME.match"))


def name_length_unchecked(bench: Bench) -> None:
    """A name may have any length."""
    edit = edited("len(name) <= MAXIMUM_NAME_LENGTH and ", "")
    bench.replace(registration, "is_tool_name", edit)


def reserved_merged_with_known(bench: Bench) -> None:
    """The reserved domains become known ones, and with that allowed ones."""
    edit = edited(_RESERVED_LINES, "elif domain not in KNOWN_DOMAINS | RESERVED_DOMAINS:")
    bench.replace(registration, "domain_problems", edit)


def keywords_unchecked(bench: Bench) -> None:
    """Keywords that nobody enforces are let through."""
    bench.replace(
        json_schema, "_keyword_problems", edited("if keyword not in allowed:", "if False:")
    )


def reference_left_to_reader(bench: Bench) -> None:
    """A reference that leaves the schema is left to whoever reads it."""
    edit = edited(
        _REMOTE_LINES, "if not str(reference).startswith(_LOCAL_REFERENCE):\n        return"
    )
    bench.replace(json_schema, "_reference_problems", edit)


def ceiling_dropped(bench: Bench) -> None:
    """A number has to be positive, and that is all."""
    bench.replace(registration, "_is_within", edited("0 < value <= highest", "0 < value"))


def empty_trust_accepted(bench: Bench) -> None:
    """A label that is not there is taken for one that is in order."""
    edit = edited(
        "if not isinstance(getattr(spec, field), enumeration):",
        "if getattr(spec, field) and not isinstance(getattr(spec, field), enumeration):",
    )
    bench.replace(registration, "_field_problems", edit)


def tool_left_out_of_problem(bench: Bench) -> None:
    """A problem says what is wrong and not with which tool."""
    bench.replace(registry_adapter, "spec_problems", edited('f"{spec.name}: {problem}"', "problem"))


def field_left_out_of_problem(bench: Bench) -> None:
    """A problem of either schema is reported as one of "schema"."""
    edit = edited("schema_problems(schema, field)", 'schema_problems(schema, "schema")')
    bench.replace(registration, "_schema_problems", edit)


def device_by_target(bench: Bench) -> None:
    """A builtin that works on a device counts as a tool of the device."""
    edit = edited(
        "elif spec.source is ToolSource.DEVICE:",
        "elif ToolSource.DEVICE in (spec.source, spec.target_kind):",
    )
    bench.replace(registration, "domain_problems", edit)


def server_prefix_unchecked(bench: Bench) -> None:
    """A tool from a server may have any name that is in good form."""
    edit = edited("if not spec.name.startswith(prefix):", "if False:")
    bench.replace(registration, "domain_problems", edit)


# forced_trust


def target_ignored(bench: Bench) -> None:
    """Only who declares a tool decides about its label, not where it works."""
    edit = edited(" or spec.target_kind in _FOREIGN_TARGETS", "")
    bench.replace(registration, "forced_trust", edit)


def source_ignored(bench: Bench) -> None:
    """Only where a tool works decides about its label, not who declares it."""
    edit = edited("spec.source in _FOREIGN_SOURCES or ", "")
    bench.replace(registration, "forced_trust", edit)


def sandbox_trusted(bench: Bench) -> None:
    """What runs in the sandbox was started by us, so it keeps its label."""
    edit = edited(
        "spec.source in _FOREIGN_SOURCES or spec.target_kind in _FOREIGN_TARGETS",
        '"sandbox" not in (spec.source, spec.target_kind) and '
        "(spec.source in _FOREIGN_SOURCES or spec.target_kind in _FOREIGN_TARGETS)",
    )
    bench.replace(registration, "forced_trust", edit)


def own_declaration_kept(bench: Bench) -> None:
    """The registry checks a declaration and then keeps it as it came."""
    edit = edited("one._replace(spec=registered_spec(one.spec))", "one")
    bench.replace(StaticToolRegistry, "__init__", edit)


def result_names_its_label(bench: Bench) -> None:
    """A result that says how far it is trusted is believed."""
    edit = edited("least_trusted((spec.output_trust, own))", "own")
    bench.replace(tool_results, "clamped_labels", edit)


def declaration_of_tool_used(bench: Bench) -> None:
    """The pipeline asks the tool for its declaration instead of the registry."""
    bench.replace(ToolPipeline, "_execute", edited("registered.spec", "registered.tool.spec"))


# watermark_first


def watermark_not_written(bench: Bench) -> None:
    """The watermark is looked up where it should be written."""
    edit = edited(
        "await unit.invocations.mark_effect_sent(self._invocation_id, self._clock.now())",
        "await unit.invocations.get(self._invocation_id)",
    )
    bench.replace(effect_watermark.EffectWatermark, "mark", edit)


def watermark_stamped_again(bench: Bench) -> None:
    """A second mark overwrites the time of the first."""
    edit = edited("if stored.effect_sent_at is not None:", "if stored.effect_sent_at == at:")
    bench.replace(InMemoryToolInvocationRepository, "mark_effect_sent", edit)


def unmarked_success_believed(bench: Bench) -> None:
    """A success is a success, with or without a watermark."""
    edit = edited("and not effect_sent:", "and effect_sent is None:")
    bench.replace(tool_pipeline, "believable", edit)


def conditional_class_forgotten(bench: Bench) -> None:
    """Only tools that are never idempotent need a watermark."""
    edit = edited("self in _NEED_WATERMARK", 'self == "non_idempotent"')
    bench.replace(IdempotencyClass, "needs_watermark", edit)


def builtin_forgets_watermark(bench: Bench) -> None:
    """The tool that demonstrates an effect does not mark it."""
    edit = edited("await context.mark_effect_sent()\n", "\n")
    bench.replace(DemoUnsafeWrite, "run", edit)


def builtin_marks_afterwards(bench: Bench) -> None:
    """The tool that demonstrates an effect marks it once it has succeeded."""
    edit = edited(
        "await context.mark_effect_sent()\n",
        'with open("/dev/null", "wb") as outside:\n'
        "        outside.write(content)\n"
        "    await context.mark_effect_sent()\n",
    )
    bench.replace(DemoUnsafeWrite, "run", edit)


# outcome_shape


class _Detailed(NamedTuple):
    """An outcome with one field more than the model is promised."""

    status: OutcomeStatus
    action: str
    reason_code: str
    message: str
    retryable: bool
    remediation: Remediation
    detail: str


def seventh_field(bench: Bench) -> None:
    """The outcome gets a field for details."""

    def detailed(original: Callable[[str, str], ToolOutcome]) -> Callable[[str, str], _Detailed]:
        return lambda action, code: _Detailed(*original(action, code), detail=code)

    bench.replace(invocation_rows, "make_outcome", detailed)


def remediation_dropped(bench: Bench) -> None:
    """An outcome that nothing can be done about has no remediation instead of `none`."""
    edit = edited("entry.remediation", "entry.remediation if entry.retryable else None")
    bench.replace(invocation_rows, "make_outcome", edit)


def tool_named_in_message(bench: Bench) -> None:
    """The message says which tool it is about."""
    edit = edited("entry.message", 'f"{action}: {entry.message}"')
    bench.replace(invocation_rows, "make_outcome", edit)


def message_of_status(bench: Bench) -> None:
    """The message follows from the status: one text for everything that failed."""
    edit = edited("entry.message", 'f"The call ended as {entry.status}."')
    bench.replace(invocation_rows, "make_outcome", edit)


def denial_as_failure(bench: Bench) -> None:
    """What is denied is told to the model as failed."""
    edit = edited("entry.status", 'OutcomeStatus(entry.status.replace("denied", "failed"))')
    bench.replace(invocation_rows, "make_outcome", edit)


def tool_chooses_any_code(bench: Bench) -> None:
    """A tool may end with every code of the table, also with one that is no failure."""
    edit = edited("entry is None or entry.status not in FAILURE_STATUSES", "entry is None")
    bench.replace(tool_results, "accepted_failure", edit)


def outcome_shown_in_part(bench: Bench) -> None:
    """What is recorded is whole, and the model is shown the code and the message of it."""
    edit = edited(
        "canonical_json(item.outcome._asdict())",
        'canonical_json({"code": item.outcome.reason_code, "message": item.outcome.message})',
    )
    bench.replace(context_builder, "shown", edit)


# no_external_text

_CAUGHT = """except Exception:  # a defect of a tool is the outcome of its call; the run goes on
        failure = results.internal_failure()"""
_SAYING = """except Exception as error:
        row = rows.ended(row, "tool.internal_error", self._clock.now())
        return row._replace(outcome=row.outcome._replace(message=MESSAGE))"""
_CORPUS = "evals/corpora/external_text"


def exception_in_message(bench: Bench) -> None:
    """The model is told what the exception of the tool says, to help it."""
    saying = _SAYING.replace("MESSAGE", 'f"The tool failed: {error}"')
    bench.replace(ToolPipeline, "_execute", edited(_CAUGHT, saying))


def class_in_message(bench: Bench) -> None:
    """The message names the class of the exception."""
    saying = _SAYING.replace("MESSAGE", 'f"The tool failed with {type(error).__name__}."')
    bench.replace(ToolPipeline, "_execute", edited(_CAUGHT, saying))


def code_as_raised(bench: Bench) -> None:
    """A code that the table does not have is its own message."""
    bench.replace(
        tool_results, "accepted_failure", edited("return internal_failure()", "return raised")
    )
    edit = edited(
        "REASONS[reason_code]",
        'REASONS.get(reason_code) or REASONS["tool.internal_error"]._replace(message=reason_code)',
    )
    bench.replace(invocation_rows, "make_outcome", edit)


def proposed_name_in_event(bench: Bench) -> None:
    """An event holds the name of the tool as the model wrote it."""
    edit = edited("safe_tool_name(row.tool_name)", "row.tool_name")
    bench.replace(invocation_rows, "payload", edit)


def exception_in_failure(bench: Bench) -> None:
    """A run that breaks says with which words."""
    bench.replace(RunExecutor, "_broken", edited("type(error).__name__", "str(error)"))


def envelope_by_one_label(bench: Bench) -> None:
    """Only what a memory says stands in an envelope."""
    edit = edited(
        "item.labels.trust.is_at_or_below(TrustLevel.USER)", 'item.labels.trust == "memory"'
    )
    bench.replace(envelope, "needs_envelope", edit)


def members_removed(bench: Bench) -> None:
    """Two members that failed are deleted."""
    for path in bench.tree.glob(f"{_CORPUS}/*.txt")[:2]:
        bench.tree.remove(path)


def member_copied(bench: Bench) -> None:
    """The corpus grows by a member that is another one with a number in it."""
    path = bench.tree.glob(f"{_CORPUS}/*.txt")[0]
    header, _, body = bench.tree.read(path).decode("utf-8").partition("\n---\n")
    _, _, rest = header.partition("\n")
    bench.tree.write(f"{_CORPUS}/ext-9001.txt", f"id: ext-9001\n{rest}\n---\n{body} 2\n")


def vector_misspelt(bench: Bench) -> None:
    """A member says that it comes in by a way that there is not."""
    path = bench.tree.glob(f"{_CORPUS}/*.txt")[0]
    bench.tree.edit(path, "vector: ", "vector: un")


# normalization_stable


def keys_as_written(bench: Bench) -> None:
    """The keys of the canonical form keep the order in which the model wrote them."""
    bench.replace(canonical, "canonical_json", edited("sort_keys=True", "sort_keys=False"))


def text_as_written(bench: Bench) -> None:
    """Strings are taken as they are, because nearly all of them are ASCII."""
    edit = edited('return unicodedata.normalize("NFC", text)', "return text")
    bench.replace(canonical, "_normalized_text", edit)


def keys_not_composed(bench: Bench) -> None:
    """Values are normalized and keys are not: keys are names, after all."""
    edit = edited("_normalized_text(key, place)", "key")
    bench.replace(canonical, "_normalized_object", edit)


def compatibility_form(bench: Bench) -> None:
    """The compatibility form is used, for which a ligature is the letters that it joins."""
    bench.replace(canonical, "_normalized_text", edited('"NFC"', '"NFKC"'))


def case_ignored(bench: Bench) -> None:
    """Upper and lower case are taken for the same."""
    edit = edited(
        'return unicodedata.normalize("NFC", text)',
        'return unicodedata.normalize("NFC", text).casefold()',
    )
    bench.replace(canonical, "_normalized_text", edit)


def fractions_rounded(bench: Bench) -> None:
    """Numbers are rounded to six decimals, so that noise does not count."""
    bench.replace(
        canonical, "_checked_float", edited("return value", "return round(value, 6) + 0.0")
    )


def truth_as_number(bench: Bench) -> None:
    """True and 1 get the same form, because Python counts the one as the other."""
    edit = edited(
        "if value is None or isinstance(value, bool | int):\n        return value",
        "if value is None:\n        return value\n"
        "    if isinstance(value, bool | int):\n        return int(value)",
    )
    bench.replace(canonical, "_normalized", edit)


def last_key_wins(bench: Bench) -> None:
    """Of two keys that normalize to one the later is kept, as json.loads does with equal keys."""
    edit = edited("if normalized_key in result:", "if False:")
    bench.replace(canonical, "_normalized_object", edit)


def hash_of_text_as_written(bench: Bench) -> None:
    """The hash on record is that of the text which the model sent."""
    edit = edited(
        "arguments, _, sha256 = canonicalize(parse_json_object(call.arguments))",
        "arguments = canonicalize(parse_json_object(call.arguments)).value\n"
        "            sha256 = canonicalize({'text': call.arguments}).sha256",
    )
    bench.replace(invocation_rows, "proposed", edit)


def hash_of_escaped_text(bench: Bench) -> None:
    """The hash is taken over an encoding that writes what is not ASCII as escapes."""
    bench.replace(canonical, "sha256_hex", edited('"utf-8"', '"ascii", "backslashreplace"'))
