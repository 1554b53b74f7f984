"""The counterexamples of gate.harness.reason_code_table."""

from __future__ import annotations

import re

from gates.defects.harness_edits import change
from hardgate.kinds.bench import Bench
from hardgate.kinds.python_edits import add_import, append, first_module

_OUTCOMES = "src/agent_core/domain/outcomes.py"
_SUCCEEDED = '    "tool.succeeded": '


def reason_dropped(bench: Bench) -> None:
    """A code is renamed in the table, the runtime still gives the old one."""
    bench.tree.edit(_OUTCOMES, _SUCCEEDED, '    "tool.success": ')


def reason_doubled(bench: Bench) -> None:
    """A second entry for a code is added further down, and silently wins."""
    lines = bench.tree.read(_OUTCOMES).decode("utf-8").split("\n")
    line = next(line for line in lines if line.startswith(_SUCCEEDED))
    bench.tree.edit(_OUTCOMES, line, f"{line}\n{line}")


def message_with_format(bench: Bench) -> None:
    """A message is put together with a name that comes from somewhere else."""
    edit = re.compile(r'"The tool completed\.')
    change(
        bench, _OUTCOMES, lambda text: edit.sub('f"The tool {__name__} completed.', text, count=1)
    )


def maker_adds_action(bench: Bench) -> None:
    """The message gets the name of the proposed tool in front of it."""
    bench.tree.edit(_OUTCOMES, "entry.message,", 'action + ": " + entry.message,')


def outcome_made_in_pipeline(bench: Bench) -> None:
    """The pipeline makes an outcome of its own for a case that it knows best."""
    path = "src/agent_core/application/tool_pipeline.py"
    add_import(bench.tree, path, "from agent_core.domain.outcomes import ToolOutcome as Result")
    text = (
        "def told(error):\n    return Result('failed', '', 'tool.error', str(error), False, 'none')"
    )
    append(bench.tree, path, text)


def message_replaced_in_rows(bench: Bench) -> None:
    """The message of an outcome is replaced by what the tool said."""
    path = "src/agent_core/application/invocation_rows.py"
    append(bench.tree, path, "def told(outcome, text):\n    return outcome._replace(message=text)")


def tool_adds_reason(bench: Bench) -> None:
    """A tool adds a code of its own to the table when it is first imported."""
    path = first_module(bench.tree, "src/agent_core/adapters/tools")
    add_import(bench.tree, path, "from agent_core.domain import outcomes")
    append(bench.tree, path, "outcomes.REASONS['tool.own'] = outcomes.REASONS['tool.timeout']")


def table_moved(bench: Bench) -> None:
    """The table moves to a module of its own, and what reads it finds none."""
    text = bench.tree.read(_OUTCOMES).decode("utf-8")
    bench.tree.remove(_OUTCOMES)
    bench.tree.write("src/agent_core/domain/reasons.py", text)
