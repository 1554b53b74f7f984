"""Runs a property gate: a statement about generated inputs, over a declared number of trials.

`python -m hardgate.kinds.property --entry ENTRY.json --manifest MANIFEST --repeat COMMAND
[--counterexample NAME] [--seed N]`

A check is a function `check(context: PropertyContext) -> None` that calls `context.for_all` once for
each property. A trial is one generated input for which the property was evaluated to its end; inputs
that were filtered out are none. Too few trials fail the gate, whatever they showed.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from hardgate.documents.tree import Tree
from hardgate.kinds.checking import Violation
from hardgate.kinds.entry import GateEntry, load_check
from hardgate.kinds.in_process import Options, run_process
from hardgate.verdicts.verdict import CheckResult, Verdict, conclude

TOO_FEW_TRIALS = "too_few_trials"
NO_PROPERTY = "no_property"
INPUT_CHARACTERS = 2000


def default_seed(gate_id: str) -> int:
    """The seed of a gate: the same on every machine, and another for every gate."""
    return int.from_bytes(hashlib.sha256(gate_id.encode()).digest()[:4], "big")


@dataclass
class PropertyContext:
    """What a check is given. `results` holds one result per property, in the order of the calls.

    `shrink` is whether a failing input is made as small as it gets, for whoever has to read it.
    `sought` is the reason for which a counterexample has to be rejected, None for the gate itself.
    """

    gate: GateEntry
    tree: Tree
    seed: int
    trials_wanted: int
    shrink: bool = True
    sought: str | None = None
    trials: int = 0
    results: list[CheckResult] = field(default_factory=list)

    def for_all(
        self,
        holds: Callable[..., None],
        *,
        examples: Sequence[Mapping[str, Any]] = (),
        **strategies: Any,
    ) -> None:
        """Evaluates a property over generated inputs and records what came of it.

        `holds(**inputs)` says `require(...)` for each clause. `strategies` are Hypothesis
        strategies by parameter name. `examples` are inputs that are tried first and every time:
        that is where a failure that was found once is kept. Any exception but a Violation is a
        crash of the check and is raised on. Once a counterexample is rejected for its reason,
        further properties are not tried: nothing that they find could change what it proves.
        """
        if self.sought is not None and self.sought in {one.name for one in self.results}:
            return
        seen: dict[str, int] = {"trials": 0}
        last: dict[str, Any] = {}

        def trial(**inputs: Any) -> None:
            last.clear()
            last.update(inputs)
            holds(**inputs)
            seen["trials"] += 1

        name = holds.__name__.strip("_")
        try:
            for inputs in examples:
                trial(**inputs)
            self._generate(trial, strategies)
        except Violation as violation:
            self.trials += seen["trials"]
            self.results.append(self._failed(violation, last))
            return
        self.trials += seen["trials"]
        enough = seen["trials"] >= self.trials_wanted
        self.results.append(
            CheckResult(
                name=name if enough else TOO_FEW_TRIALS,
                outcome="pass" if enough else "fail",
                expected=f"at least {self.trials_wanted} trials of {name}",
                observed=f"{seen['trials']} trials",
            )
        )

    def _generate(self, trial: Callable[..., None], strategies: Mapping[str, Any]) -> None:
        # Hypothesis is imported where it is used: reading a registry entry must not pay for it.
        from hypothesis import HealthCheck, Phase, given, seed, settings
        from hypothesis.errors import FlakyFailure

        configured = settings(
            max_examples=self.trials_wanted,
            database=None,
            deadline=None,
            report_multiple_bugs=False,
            print_blob=False,
            phases=(Phase.generate, Phase.shrink) if self.shrink else (Phase.generate,),
            suppress_health_check=list(HealthCheck),
        )
        try:
            configured(seed(self.seed)(given(**strategies)(trial)))()
        except FlakyFailure as flaky:
            # A clause that broke once is broken, also where threads do not break it every time.
            raise next(
                (one for one in flaky.exceptions if isinstance(one, Violation)), flaky
            ) from None

    def _failed(self, violation: Violation, inputs: Mapping[str, Any]) -> CheckResult:
        shown = ", ".join(f"{name}={value!r}" for name, value in inputs.items())
        if len(shown) > INPUT_CHARACTERS:
            shown = shown[:INPUT_CHARACTERS] + "..."
        return CheckResult(
            name=violation.rule,
            outcome="fail",
            expected=f"{violation.rule} for every input",
            observed=f"{violation} with {shown}",
            message=f"seed {self.seed}; keep the input: add it to `examples` of for_all",
        )


def run_property(entry: GateEntry, tree: Tree, options: Options) -> Verdict:
    """Runs a property check and concludes. Raises MissingCodeError, and whatever the check raises."""
    seed = options.seed if options.seed is not None else default_seed(entry.id)
    # Nobody reads the input on which a seeded defect fails, and finding a small one is dear.
    declared = None if options.counterexample is None else entry.declared(options.counterexample)
    context = PropertyContext(
        entry,
        tree,
        seed,
        entry.trials or 0,
        shrink=declared is None,
        sought=None if declared is None else declared.reason,
    )
    load_check(entry)(context)
    results = context.results or [
        CheckResult(NO_PROPERTY, "fail", "at least one call of for_all", "none")
    ]
    return conclude(
        id=entry.id,
        kind=entry.kind,
        milestone=entry.milestone,
        checks=tuple(results),
        trials=context.trials,
        seed=str(seed),
    )


if __name__ == "__main__":
    sys.exit(run_process("property", run_property))
