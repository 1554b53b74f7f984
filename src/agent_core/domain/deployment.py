"""What a deployment is told when it starts, and what it then refuses."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import NamedTuple

from agent_core.domain.errors import AgentCoreError
from agent_core.domain.policy import RuleSet
from agent_core.domain.sessions import Principal

EVALUATION_PREFIX = "eval."
EVALUATION_TENANT = "tenant_eval"


class DeploymentMode(StrEnum):
    """Named by the deployment's configuration and never guessed from where a program runs."""

    DEVELOPMENT = "development"
    STAGING = "staging"
    PRODUCTION = "production"

    @property
    def has_evaluation(self) -> bool:
        """Whether the identity of evaluations (docs/specs/evaluation_harness.md) may be loaded."""
        return self is DeploymentMode.DEVELOPMENT


class Identity(NamedTuple):
    """The principals and the policy profiles of a deployment, by name."""

    principals: Mapping[str, Principal]
    profiles: Mapping[str, RuleSet]


class ConfigurationProblem(NamedTuple):
    """One thing that is wrong at one place of a file; sorts by path, line, column.

    `line` and `column` count from 1. `rule` is a stable name, `message` one line.
    """

    path: str
    line: int
    column: int
    rule: str
    message: str

    def render(self) -> str:
        return f"{self.path}:{self.line}:{self.column}: {self.rule}: {self.message}"


class ConfigurationRefused(AgentCoreError):
    """Files that a deployment cannot start with. `problems` is sorted and holds all of them."""

    def __init__(self, problems: Iterable[ConfigurationProblem]) -> None:
        self.problems = tuple(sorted(set(problems)))
        super().__init__("\n".join(problem.render() for problem in self.problems))
