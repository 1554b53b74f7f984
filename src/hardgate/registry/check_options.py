"""The options of the ready structural checks, `check: hardgate:<name>`, one model for each check.

docs/reference/structural-checks.md says what each check finds. A module pattern is a dotted name
that stands for itself and everything below it; `*` in it stands for exactly one part.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from hardgate.documents.safe_path import UnsafePath, relative_inside
from hardgate.documents.validation import refused
from hardgate.documents.wording import quoted
from hardgate.registry.grammar import LONGEST_PATH, Reason, RuleName, matching

PREFIX = "hardgate:"
THIRD_PARTY = "(third-party)"
"""Stands for every module that is neither below the roots nor in the standard library."""
ALLOWANCE_FILE = "gates/allowances/secrets.yaml"
MOST_ITEMS = 1000

_PART = r"[A-Za-z_][A-Za-z0-9_]*"
_NAME = rf"^{_PART}(\.{_PART})*$"
_PATTERN = rf"^({_PART}|\*)(\.({_PART}|\*))*$"
_FORBIDDEN = rf"^(\(third-party\)|({_PART}|\*)(\.({_PART}|\*))*)$"
_PATTERN_ALLOWED = "a dotted name such as myapp.domain, in which * stands for one part"


def _inside(text: str) -> str:
    """A folder or file of the workspace; "." is the workspace itself."""
    if "*" in text or "?" in text:
        message = f"found {quoted(text)}; allowed: one path, without * and ?"
        raise refused("path_malformed", message)
    try:
        return text if text == "." else relative_inside((), text)
    except UnsafePath as error:
        raise refused("path_malformed", str(error)) from None


def _once(values: tuple[Any, ...]) -> tuple[Any, ...]:
    """A check that a list holds nothing twice."""
    for index, value in enumerate(values):
        if value in values[:index]:
            raise refused("schema.duplicate", f"found {quoted(value)} again; allowed: each once")
    return values


def _dotted(pattern: str, allowed: str) -> AfterValidator:
    return AfterValidator(matching(pattern, "module_malformed", allowed, LONGEST_PATH))


def _editors(pattern: str) -> Any:
    return Field(json_schema_extra={"pattern": pattern, "maxLength": LONGEST_PATH})


ModuleName = Annotated[
    str, _dotted(_NAME, "the dotted name of one module, such as myapp.orders"), _editors(_NAME)
]
CallableName = Annotated[
    str,
    _dotted(_NAME, "a dotted name such as subprocess.run or myapp.runs.Run.finish"),
    _editors(_NAME),
]
ModulePattern = Annotated[str, _dotted(_PATTERN, _PATTERN_ALLOWED), _editors(_PATTERN)]
ForbiddenModule = Annotated[
    str, _dotted(_FORBIDDEN, f"{_PATTERN_ALLOWED}, or {THIRD_PARTY}"), _editors(_FORBIDDEN)
]
WorkspacePath = Annotated[
    str, AfterValidator(_inside), Field(json_schema_extra={"maxLength": LONGEST_PATH})
]
_Once = AfterValidator(_once)
_Any, _Some = Field(max_length=MOST_ITEMS), Field(min_length=1, max_length=MOST_ITEMS)
Modules = Annotated[tuple[ModulePattern, ...], _Any, _Once]
SomeModules = Annotated[tuple[ModulePattern, ...], _Some, _Once]
SomeCallables = Annotated[tuple[CallableName, ...], _Some, _Once]
Roots = Annotated[
    tuple[WorkspacePath, ...],
    Field(
        min_length=1,
        max_length=MOST_ITEMS,
        description="The folders in which imports begin, such as src; . is the workspace.",
    ),
    _Once,
]


class Options(BaseModel):
    """The options of one check, or a part of them. Unknown keys are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class ImportException(Options):
    """One import that is allowed all the same. Where there is none such, it is a finding."""

    importer: ModuleName = Field(description="The module that imports.")
    imported: ModuleName = Field(description="The module that is imported.")
    reason: Reason = Field(description="Why, in a sentence.")


def _layers_apart(layers: tuple[tuple[str, ...], ...]) -> tuple[tuple[str, ...], ...]:
    """A check that no module pattern stands in two layers."""
    seen: set[str] = set()
    for layer in layers:
        for pattern in layer:
            if pattern in seen:
                message = f"found {quoted(pattern)} in two layers; allowed: each in one"
                raise refused("layer_duplicate", message)
        seen.update(layer)
    return layers


class ImportLayersOptions(Options):
    """`hardgate:import_layers`: a lower layer reaches no higher one."""

    roots: Roots
    layers: Annotated[
        tuple[SomeModules, ...],
        Field(min_length=2, max_length=100),
        AfterValidator(_layers_apart),
    ] = Field(description="The layers from the lowest to the highest, each a list of modules.")
    complete: Modules = Field(
        default=(), description="Packages of which every module has to belong to a layer."
    )
    exceptions: Annotated[tuple[ImportException, ...], _Any] = Field(
        default=(), description="Single imports that are allowed against the order."
    )


class ForbiddenImport(Options):
    """What some modules may not import."""

    rule: RuleName = Field(
        default="forbidden_import", description="The name that its findings have."
    )
    reason: Reason = Field(description="Why not, in a sentence; findings say it.")
    importers: SomeModules = Field(description="The modules that it binds.")
    importers_except: Modules = Field(default=(), description="Of these, the ones that are free.")
    forbidden: Annotated[tuple[ForbiddenModule, ...], _Some, _Once] = Field(
        description=f"What they may not import; {THIRD_PARTY} is every library."
    )
    forbidden_except: Modules = Field(default=(), description="Of this, what is allowed.")
    through_others: bool = Field(
        default=True, description="Whether a way over other modules counts as well."
    )
    dynamic_imports: bool = Field(
        default=False,
        description="Whether its modules may not import by a name that is known at run time only, "
        "nor hold the dotted name of what is forbidden as a text.",
    )


class ForbiddenImportsOptions(Options):
    """`hardgate:forbidden_imports`: named modules reach no other named modules."""

    roots: Roots
    imports: Annotated[tuple[ForbiddenImport, ...], _Some] = Field(
        description="What is forbidden. An import is reported under the first it breaks."
    )
    exceptions: Annotated[tuple[ImportException, ...], _Any] = Field(
        default=(), description="Single imports that are allowed all the same."
    )


class CommittedSecretsOptions(Options):
    """`hardgate:committed_secrets`: no file of the sources holds a secret."""

    allowances: WorkspacePath = Field(
        default=ALLOWANCE_FILE,
        description="The file of the lines in which something is allowed; it need not exist.",
    )


class GuardedCallable(Options):
    """A function or method, and who may use it."""

    name: CallableName = Field(description="module.function or module.Class.method.")
    callers: SomeCallables = Field(
        description="Who may: a module, a class, a function or a method. Each has to use it."
    )


class OneCallerOnlyOptions(Options):
    """`hardgate:one_caller_only`: functions and methods that only named callers use."""

    roots: Roots
    callables: Annotated[tuple[GuardedCallable, ...], _Some]


class Ambience(StrEnum):
    """What a module can take from its surroundings."""

    TIME = "time"
    IDENTITY = "identity"
    RANDOMNESS = "randomness"
    ENVIRONMENT = "environment"


class NoAmbientTimeOptions(Options):
    """`hardgate:no_ambient_time`: time, ids, randomness and settings are handed in."""

    roots: Roots
    modules: Modules = Field(
        default=(), description="The modules that are bound; default: all below the roots."
    )
    allowed_in: Modules = Field(
        default=(), description="Modules that may. One that takes nothing is a finding."
    )
    of: Annotated[tuple[Ambience, ...], _Some, _Once] = Field(
        default=tuple(Ambience), description="What may not be taken; default: any of it."
    )


class ForbiddenCall(Options):
    """Callables that may not be used."""

    names: SomeCallables = Field(
        description="Dotted names; one stands for everything below it as well."
    )
    reason: Reason = Field(description="Why not, in a sentence; findings say it.")
    allowed_in: Modules = Field(
        default=(), description="Modules that may. One that uses none of the names is a finding."
    )


class ForbiddenCallsOptions(Options):
    """`hardgate:forbidden_calls`: named callables are not used."""

    roots: Roots
    modules: Modules = Field(
        default=(), description="The modules that are bound; default: all below the roots."
    )
    calls: Annotated[tuple[ForbiddenCall, ...], _Some]


OPTIONS_OF: dict[str, type[Options]] = {
    "committed_secrets": CommittedSecretsOptions,
    "forbidden_calls": ForbiddenCallsOptions,
    "forbidden_imports": ForbiddenImportsOptions,
    "import_layers": ImportLayersOptions,
    "no_ambient_time": NoAmbientTimeOptions,
    "one_caller_only": OneCallerOnlyOptions,
}
"""The options of each ready check, by its name."""


def ready_check(check: str | None) -> str | None:
    """The name in `hardgate:<name>`; None for every other check."""
    return check.removeprefix(PREFIX) if check and check.startswith(PREFIX) else None


def editor_rules() -> list[dict[str, Any]]:
    """Conditions of the JSON Schema of a gate: which options go with which check."""
    rules: list[dict[str, Any]] = [
        {
            "if": {"properties": {"check": {"pattern": f"^{PREFIX}"}}, "required": ["check"]},
            "else": {"properties": {"options": False}},
        }
    ]
    for name, model in OPTIONS_OF.items():
        schema = model.model_json_schema()
        parts = schema.pop("$defs", {})
        needed = {"required": ["options"]} if schema.get("required") else {}
        rules.append(
            {
                "if": {
                    "properties": {"check": {"const": f"{PREFIX}{name}"}},
                    "required": ["check"],
                },
                "then": {**needed, "properties": {"options": _without_references(schema, parts)}},
            }
        )
    return rules


def _without_references(schema: Any, parts: dict[str, Any]) -> Any:
    """A schema with each `$ref` replaced by the part that it names; none refers to itself."""
    if isinstance(schema, list):
        return [_without_references(one, parts) for one in schema]
    if not isinstance(schema, dict):
        return schema
    plain = {key: _without_references(value, parts) for key, value in schema.items()}
    reference = plain.pop("$ref", None)
    if reference is None:
        return plain
    part = _without_references(parts[reference.rsplit("/", 1)[1]], parts)
    return {**part, **plain}
