"""`hardgate:import_layers`: a lower layer reaches no higher one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hardgate.kinds.context import Examination, StructuralContext
from hardgate.kinds.python_source import PythonFile
from hardgate.registry.check_options import ForbiddenImport, ImportLayersOptions
from hardgate.structural_checks.import_rules import judge_imports
from hardgate.structural_checks.modules import matches, read_modules, unknown_modules
from hardgate.verdicts.verdict import Finding


def check(context: StructuralContext) -> Examination:
    """Judges every import below the roots; counts the imports."""
    options = context.options(ImportLayersOptions)
    place = (context.gate.path, context.gate.line)
    files, findings = read_modules(context.tree, options.roots, place)
    placed = [pattern for layer in options.layers for pattern in layer]
    found = [*findings, *unknown_modules(place, "layers", placed, files)]
    found += unknown_modules(place, "complete", options.complete, files)
    found += unplaced(files, options.complete, placed)
    judged = judge_imports(files, layer_rules(options.layers), options.exceptions, place=place)
    return Examination([*found, *judged.findings], judged.examined, "imports")


def layer_rules(
    layers: Sequence[Sequence[str]], rule: str = "layer_order"
) -> tuple[ForbiddenImport, ...]:
    """What each layer but the highest may not import: everything above it."""
    rules: list[ForbiddenImport] = []
    for level, names in enumerate(layers[:-1]):
        higher = [name for above in layers[level + 1 :] for name in above]
        rules.append(
            ForbiddenImport(
                rule=rule,
                reason=f"a module of layer {level + 1} reaches no higher layer",
                importers=tuple(names),
                # A part of a layer may belong to another one: the nearest name decides.
                importers_except=tuple(name for name in higher if _below(name, names)),
                forbidden=tuple(higher),
                forbidden_except=tuple(name for name in names if _below(name, higher)),
            )
        )
    return tuple(rules)


def _below(name: str, above: Sequence[str]) -> bool:
    return any(name.startswith(f"{one}.") for one in above)


def unplaced(
    files: Sequence[PythonFile], packages: Sequence[str], placed: Sequence[str]
) -> Iterator[Finding]:
    """Modules below the packages, these themselves left out, that no pattern stands for."""
    for file in files:
        below = matches(file.module, packages) and not _is_package(file.module, packages)
        if below and not matches(file.module, placed):
            message = f"{file.module} has no place in the order; allowed: {', '.join(placed)}"
            yield Finding(file.path, 1, "unplaced_module", message)


def _is_package(module: str, packages: Sequence[str]) -> bool:
    return any(
        matches(module, (package,)) and module.count(".") == package.count(".")
        for package in packages
    )
