"""Registration: which declarations a runtime starts with, and which it refuses.

Every trial starts a runtime with the builtin tools and one generated tool beside them, so that what
is judged is the start-up itself, and that it blames the tool that is wrong and no other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from agent_core.bootstrap import builtin_tools
from agent_core.domain.canonical import JsonObject
from agent_core.domain.errors import RegistrationError
from agent_core.domain.registration import MAXIMUM_NAME_LENGTH, MAXIMUM_OUTPUT_BYTES
from agent_core.domain.tools import TargetKind, ToolResult, ToolSource, ToolSpec
from agent_core.domain.trust import TrustLevel
from agent_core.ports.tools import ToolContext
from gates.checks.driving import Probe, Stage, probe_spec
from hardgate.kinds.checking import require
from hardgate.kinds.property import PropertyContext

_DOMAINS = ("demo", "math", "system", "web", "workspace")
_RESERVED = ("device", "mcp")
_SCHEMA_FIELDS = ("input_schema", "output_schema")


class Fault(NamedTuple):
    """One thing wrong with a declaration: what breaks it, the field at fault, and the clause."""

    rule: str
    field: str
    value: Any

    def put_into(self, spec: ToolSpec) -> ToolSpec:
        return spec._replace(**{self.field: self.value})


def check(context: PropertyContext) -> None:
    """Both directions of the statement: what is sound is taken, and each fault is refused."""
    specs, faults = _strategies()
    context.for_all(sound_tool_registers, spec=specs)
    examples = [{"spec": probe_spec(), "fault": fault} for fault in _each_fault()]
    context.for_all(fault_is_refused, examples=examples, spec=specs, fault=faults)


def sound_tool_registers(spec: ToolSpec) -> None:
    """The builtins and a sound tool beside them are registered."""
    problems = problems_at_start(spec)
    ours = [problem for problem in problems if problem.startswith(f"{spec.name}: ")]
    require(len(ours) == len(problems), "builtin_refused", f"refused: {'; '.join(problems)}")
    require(not ours, "sound_tool_refused", f"refused: {'; '.join(ours)}")


def fault_is_refused(spec: ToolSpec, fault: Fault) -> None:
    """A tool with one fault keeps the runtime from starting, with the tool and the field named."""
    faulty = fault.put_into(spec)
    problems = problems_at_start(faulty)
    require(problems, fault.rule, f"{fault.field} is accepted")
    named = f"{faulty.name}: "
    strangers = [problem for problem in problems if not problem.startswith(named)]
    require(not strangers, "tool_not_named", f"expected {named!r} first in {strangers}")
    fields = {_field_of(problem.removeprefix(named)) for problem in problems}
    require(fault.field in fields, "field_not_named", f"expected {fault.field}, named {fields}")


def _field_of(problem: str) -> str:
    """`input_schema` of `input_schema.type: must be object`."""
    return problem.partition(":")[0].partition(".")[0]


def problems_at_start(*specs: ToolSpec) -> tuple[str, ...]:
    """What a runtime with the builtins and these tools refuses to start for."""
    tools = [*builtin_tools(), *(Probe(spec, _nothing) for spec in specs)]
    try:
        Stage([], tools=tools)
    except RegistrationError as refused:
        return refused.problems
    return ()


async def _nothing(arguments: JsonObject, context: ToolContext) -> ToolResult:
    return ToolResult({"text": ""}, "")


# What the generators are made of.

_BAD_NAMES: Sequence[Callable[[str], str]] = (
    lambda name: "",
    lambda name: name.replace(".", "_"),
    lambda name: name.upper(),
    lambda name: name.replace(".", ".."),
    lambda name: f".{name}",
    lambda name: f"{name}.",
    lambda name: f"{name}\n",
    lambda name: f" {name}",
    lambda name: f"{name}-more",
    lambda name: f"{name}.1st",
    lambda name: f"{name}é",
    lambda name: name.replace("a", "\u0430", 1) if "a" in name else f"{name}\u0430",
    lambda name: name + "x" * (MAXIMUM_NAME_LENGTH + 1 - len(name)),
)
_BAD_SCHEMAS: tuple[Any, ...] = (
    None,
    [],
    "object",
    {},
    {"type": "text"},
    {"type": "string"},
    {"type": ["object", "thing"]},
    {"type": "object", "properties": []},
    {"type": "object", "properties": {"a": {"type": "integr"}}},
    {"type": "object", "properties": {"a": {"type": "string", "minLength": "1"}}},
    {"type": "object", "properties": {"a": {"type": "string", "maxLength": -1}}},
    {"type": "object", "properties": {"a": {"type": "integer", "minimum": "low"}}},
    {"type": "object", "properties": {"a": {"type": "array", "items": "string"}}},
    {"type": "object", "properties": {"a": {"enum": "one"}}},
    {"type": "object", "required": "a", "properties": {"a": {"type": "string"}}},
    {"type": "object", "required": [1], "properties": {"a": {"type": "string"}}},
    {"type": "object", "additionalProperties": "no"},
    {"type": "object", "$schema": "http://json-schema.org/draft-07/schema#"},
    {"type": "object", "definitions": {"a": {"type": "string"}}},
    {"type": "object", "$defs": {"a": {"type": "nothing"}}},
    {"type": "object", "$defs": []},
)
_REMOTE = (
    "https://example.org/schema.json",
    "//example.org/schema.json#/$defs/a",
    "other.json#/$defs/a",
    "/schema.json",
    "file:///schemas/a.json",
    "urn:example:a",
    "HTTPS://example.org/a",
    "?a#/$defs/a",
)
_PLACES = 4
_BAD_TRUST = (None, "", "trusted", 0, False)


def _with_reference(reference: str, place: int) -> JsonObject:
    """A schema that leads outside, at one of the places where a schema may stand."""
    outside: JsonObject = {"$ref": reference}
    places: tuple[JsonObject, ...] = (
        {"type": "object", "properties": {"a": outside}},
        {"type": "object", "properties": {"a": {"type": "array", "items": outside}}},
        {"type": "object", "$defs": {"a": outside}, "properties": {"b": {"$ref": "#/$defs/a"}}},
        {"type": "object", "properties": {"a": {"type": "object", "properties": {"b": outside}}}},
    )
    return places[place]


def _each_fault() -> list[Fault]:
    """Every fault that is listed above, so that none depends on being generated."""
    name = probe_spec().name
    faults = [Fault("bad_name_accepted", "name", spoil(name)) for spoil in _BAD_NAMES]
    for field in _SCHEMA_FIELDS:
        faults += [Fault("bad_schema_accepted", field, schema) for schema in _BAD_SCHEMAS]
        faults += [
            Fault("remote_reference_accepted", field, _with_reference(reference, place))
            for reference in _REMOTE
            for place in range(_PLACES)
        ]
    faults += [Fault("missing_trust_accepted", "output_trust", trust) for trust in _BAD_TRUST]
    above = MAXIMUM_OUTPUT_BYTES + 1
    return [*faults, Fault("ceiling_ignored", "maximum_output_bytes", above)]


def _strategies() -> tuple[Any, Any]:
    from hypothesis import strategies as st

    words = st.from_regex(r"[a-z][a-z0-9_]{0,9}", fullmatch=True)
    names = st.builds(
        lambda domain, parts: ".".join([domain, "probed", *parts])[:MAXIMUM_NAME_LENGTH],
        st.sampled_from(_DOMAINS),
        st.lists(words, max_size=2),
    ).filter(lambda name: not name.endswith("."))
    members = st.sampled_from(
        [
            {"type": "string", "minLength": 0},
            {"type": "integer", "minimum": -1, "maximum": 3},
            {"type": ["string", "null"]},
            {"type": "array", "items": {"type": "number"}, "maxItems": 2},
            {"$ref": "#/$defs/local"},
        ]
    )
    schemas = st.dictionaries(words, members, max_size=3).map(
        lambda properties: {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "properties": properties,
            "required": sorted(properties)[:1],
            "$defs": {"local": {"type": "boolean"}},
        }
    )
    specs = st.builds(
        probe_spec,
        name=names,
        version=st.sampled_from(["1", "2.0"]),
        description=st.text(max_size=20),
        input_schema=schemas,
        output_schema=schemas,
        output_trust=st.sampled_from(TrustLevel),
        timeout_seconds=st.sampled_from([0.001, 2, 3600]),
        maximum_output_bytes=st.sampled_from([1, 4096, MAXIMUM_OUTPUT_BYTES]),
        output_private=st.booleans(),
    )
    return specs, _faults(names, words)


def _faults(names: Any, words: Any) -> Any:
    """Faults of every clause, each clause as likely as the next."""
    from hypothesis import strategies as st

    fields = st.sampled_from(_SCHEMA_FIELDS)
    reserved = st.builds(lambda first, rest: f"{first}.{rest}", st.sampled_from(_RESERVED), words)
    above = st.integers(MAXIMUM_OUTPUT_BYTES + 1, MAXIMUM_OUTPUT_BYTES * 1000)
    return st.one_of(
        st.builds(
            lambda name, spoil: Fault("bad_name_accepted", "name", spoil(name)),
            names,
            st.sampled_from(_BAD_NAMES),
        ),
        st.builds(lambda name: Fault("reserved_domain_accepted", "name", name), reserved),
        st.builds(
            lambda field, schema: Fault("bad_schema_accepted", field, schema),
            fields,
            st.sampled_from(_BAD_SCHEMAS),
        ),
        st.builds(
            lambda field, reference, place: Fault(
                "remote_reference_accepted", field, _with_reference(reference, place)
            ),
            fields,
            st.sampled_from(_REMOTE),
            st.integers(0, _PLACES - 1),
        ),
        st.builds(lambda size: Fault("ceiling_ignored", "maximum_output_bytes", size), above),
        st.builds(
            lambda trust: Fault("missing_trust_accepted", "output_trust", trust),
            st.sampled_from(_BAD_TRUST),
        ),
    )


# The domains that belong to remote tools.


def check_reserved(context: PropertyContext) -> None:
    """No builtin can have the name that a remote tool has, nor the other way round."""
    from hypothesis import strategies as st

    words = st.from_regex(r"[a-z][a-z0-9_]{0,9}", fullmatch=True)
    remote = st.one_of(
        st.builds(_of_server, words, words), st.builds(lambda word: _of_device(word), words)
    )
    targets = st.sampled_from(TargetKind)
    context.for_all(remote_name_is_reserved, remote=remote, target=targets)
    rests = st.lists(words, min_size=1, max_size=3).map(".".join)
    context.for_all(
        reserved_domain_is_refused, domain=st.sampled_from(_RESERVED), rest=rests, target=targets
    )


def remote_name_is_reserved(remote: ToolSpec, target: TargetKind) -> None:
    """A remote tool registers under its name, and a builtin of that name never does."""
    problems = problems_at_start(remote)
    require(not problems, "remote_tool_refused", f"refused: {'; '.join(problems)}")
    builtin = remote._replace(source=ToolSource.BUILTIN, server_id=None, target_kind=target)
    require(problems_at_start(builtin), "reserved_domain_accepted", f"{builtin.name} is accepted")
    moved = remote._replace(name=f"demo.{remote.name}")
    require(problems_at_start(moved), "remote_took_builtin_domain", f"{moved.name} is accepted")


def reserved_domain_is_refused(domain: str, rest: str, target: TargetKind) -> None:
    """A builtin in a reserved domain keeps the runtime from starting, whatever it is called."""
    builtin = probe_spec(name=f"{domain}.{rest}", target_kind=target)
    require(problems_at_start(builtin), "reserved_domain_accepted", f"{builtin.name} is accepted")


def _of_server(server: str, word: str) -> ToolSpec:
    return probe_spec(
        name=f"mcp.{server}.{word}",
        source=ToolSource.MCP,
        target_kind=TargetKind.MCP,
        server_id=server,
    )


def _of_device(word: str) -> ToolSpec:
    return probe_spec(
        name=f"device.{word}", source=ToolSource.DEVICE, target_kind=TargetKind.DEVICE
    )
