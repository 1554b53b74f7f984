"""What the `subject` of a case has to satisfy beyond the shape of its values."""

import re
from collections.abc import Iterator

from hardgate.cases.command import CommandSubject
from hardgate.cases.model import Case
from hardgate.cases.planned import planned_runs
from hardgate.documents.problems import Problem
from hardgate.documents.strict_yaml import Document, Keys
from hardgate.documents.wording import choices, did_you_mean, quoted

AGENT, PROMPT, PROMPT_FILE, WORKSPACE = "agent", "prompt", "prompt_file", "workspace"
MCP_CONFIG = "mcp_config"
PLACEHOLDERS = (AGENT, MCP_CONFIG, PROMPT, PROMPT_FILE, WORKSPACE)
PLACEHOLDER = re.compile(r"\{([A-Za-z_]+)\}")
# The key that the scripted provider takes, and so the only one that a case may hold.
DUMMY_KEY = "not-a-key"
# What Hardgate sets itself: where the provider is, what the process may know of the machine, and
# what says where the agent's own files are.
RESERVED = frozenset(
    {
        "ANTHROPIC_API_KEY",
        "ANTHROPIC_BASE_URL",
        "HOME",
        "LANG",
        "LC_ALL",
        "NO_PROXY",
        "OPENAI_API_BASE",
        "OPENAI_API_KEY",
        "OPENAI_BASE_URL",
        "PATH",
        "RUNFILES_DIR",
        "RUNFILES_MANIFEST_FILE",
        "TEST_SRCDIR",
        "TEST_WORKSPACE",
        "TMPDIR",
        "TZ",
        "no_proxy",
    }
)
RESERVED_PREFIX = "HARDGATE_"
_SECRET = re.compile(r"(?:.*_)?(?:KEY|TOKEN|SECRET|PASSWORD|CREDENTIALS?)", re.IGNORECASE)

_AT: Keys = ("subject",)
_PROMPT_PLACEHOLDER = {"argument": PROMPT, "file": PROMPT_FILE}


def command_problems(case: Case, document: Document) -> list[Problem]:
    """Every problem of the `subject` of a case; none where it has none."""
    if case.subject is None:
        return []
    return [
        *_words(case.subject, document),
        *_agent(case.subject, document),
        *_prompt(case.subject, document),
        *_mcp_config(case, case.subject, document),
        *_environment(case.subject, document),
        *_reports(case.subject, document),
    ]


def _placeholders(subject: CommandSubject) -> set[str]:
    return {name for word in subject.command for name in PLACEHOLDER.findall(word)}


def _words(subject: CommandSubject, document: Document) -> Iterator[Problem]:
    for index, word in enumerate(subject.command):
        for name in PLACEHOLDER.findall(word):
            if name not in PLACEHOLDERS:
                allowed = choices(f"{{{one}}}" for one in PLACEHOLDERS)
                hint = did_you_mean(name, PLACEHOLDERS)
                message = f"found {{{name}}}; allowed: {allowed}{hint}"
                keys = (*_AT, "command", index)
                yield document.problem(keys, "case.placeholder", message)
        if "\0" in word:
            message = "found a NUL, which no program can be given; allowed: any other character"
            yield document.problem((*_AT, "command", index), "case.command", message)


def _agent(subject: CommandSubject, document: Document) -> Iterator[Problem]:
    if subject.agent is not None and AGENT not in _placeholders(subject):
        message = "found agent, but {agent} is not in the command; allowed: both, or neither"
        yield document.problem((*_AT, "agent"), "case.placeholder", message, at_key=True)


def _prompt(subject: CommandSubject, document: Document) -> Iterator[Problem]:
    """The way in that `prompt` names, and no other, is in the command."""
    found = _placeholders(subject)
    wanted = _PROMPT_PLACEHOLDER.get(subject.prompt)
    if wanted is not None and wanted not in found:
        message = (
            f"found prompt {subject.prompt} without {{{wanted}}} in the command; allowed: both"
        )
        yield document.problem((*_AT, "prompt"), "case.prompt", message)
    for way, placeholder in _PROMPT_PLACEHOLDER.items():
        if placeholder in found and way != subject.prompt:
            message = (
                f"found {{{placeholder}}} beside prompt {subject.prompt}; "
                f"allowed: with prompt {way} only"
            )
            yield document.problem((*_AT, "command"), "case.prompt", message)


def _mcp_config(case: Case, subject: CommandSubject, document: Document) -> Iterator[Problem]:
    if MCP_CONFIG not in _placeholders(subject):
        return
    for run in planned_runs(case):
        if run.case.fixtures.mcp_servers is None:
            of_arm = "" if run.arm is None else f" in the arm {run.arm}"
            message = f"found {{{MCP_CONFIG}}} without fixtures.mcp_servers{of_arm}; allowed: both"
            yield document.problem((*_AT, "command"), "case.placeholder", message)


def _environment(subject: CommandSubject, document: Document) -> Iterator[Problem]:
    rule = "case.environment"
    for name, value in subject.environment.items():
        keys = (*_AT, "environment", name)
        if name in RESERVED or name.startswith(RESERVED_PREFIX):
            message = f"found {quoted(name)}, which Hardgate sets; allowed: another name"
            yield document.problem(keys, rule, message, at_key=True)
        elif _SECRET.fullmatch(name) and value != DUMMY_KEY:
            message = (
                f"found a value of {quoted(name)}, which is named like a secret; "
                f"allowed: {DUMMY_KEY}"
            )
            yield document.problem(keys, rule, message)
        elif "\0" in value:
            message = f"found a NUL in {quoted(name)}; allowed: any other character"
            yield document.problem(keys, rule, message)


def _reports(subject: CommandSubject, document: Document) -> Iterator[Problem]:
    seen: set[str] = set()
    for index, name in enumerate(subject.reports):
        if name in seen:
            message = f"found {quoted(name)} again; allowed: each once"
            yield document.problem((*_AT, "reports", index), "case.said_twice", message)
        seen.add(name)
