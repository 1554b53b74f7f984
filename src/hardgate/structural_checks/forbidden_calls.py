"""`hardgate:forbidden_calls`: named callables are not used."""

from __future__ import annotations

from hardgate.kinds.context import Examination, StructuralContext
from hardgate.registry.check_options import ForbiddenCallsOptions
from hardgate.structural_checks.allowed_in import AllowedIn
from hardgate.structural_checks.modules import matches, read_modules, unknown_modules
from hardgate.structural_checks.name_uses import NameUses
from hardgate.verdicts.verdict import Finding

FORBIDDEN_CALL = "forbidden_call"


def check(context: StructuralContext) -> Examination:
    """Looks for every use of the names, called or handed on; counts the bound modules."""
    options = context.options(ForbiddenCallsOptions)
    place = (context.gate.path, context.gate.line)
    files, findings = read_modules(context.tree, options.roots, place)
    found = [*findings, *unknown_modules(place, "modules", options.modules, files)]
    bound = [file for file in files if not options.modules or matches(file.module, options.modules)]
    uses = NameUses(files)
    for call in options.calls:
        names = tuple(name.removeprefix("builtins.") for name in call.names)
        allowed = AllowedIn(call.allowed_in)
        for file in bound:
            used = [
                Finding(
                    file.path,
                    use.line,
                    FORBIDDEN_CALL,
                    f"{file.module} uses {use.name}; {call.reason}",
                )
                for use in uses.of(file, names)
            ]
            if not allowed.frees(file.module, needed=bool(used)):
                found += used
        found += allowed.unused(place)
    return Examination(found, len(bound), "modules")
