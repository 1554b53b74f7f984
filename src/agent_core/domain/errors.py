"""Errors that application and adapters share."""

from __future__ import annotations


class AgentCoreError(Exception):
    """Base of every error that this runtime raises on purpose."""


class NotFound(AgentCoreError):
    """A record with this id does not exist."""


class AlreadyExists(AgentCoreError):
    """A record with this id, or with this unique key, is stored already."""


class StaleState(AgentCoreError):
    """A guarded write found the stored record in another state than the writer expected."""


class ConcurrencyConflict(AgentCoreError):
    """The same tool call is being executed elsewhere; its outcome is not known yet."""


class SessionBusy(AgentCoreError):
    """The session has a run that has not ended; a session runs one at a time."""


class InvalidEvent(AgentCoreError, ValueError):
    """An event that the catalogue does not have, or with another payload than it declares."""


class UnknownPayloadVersion(AgentCoreError):
    """An event whose payload has a version that this code does not know, such as a newer one."""


class BrokenCheckpoints(AgentCoreError):
    """Checkpoints that do not belong together; the run is rebuilt from its log instead."""


class RegistrationError(AgentCoreError):
    """Tools that may not be registered. `problems` names every broken rule of every tool."""

    def __init__(self, problems: tuple[str, ...]) -> None:
        super().__init__("\n".join(problems))
        self.problems = problems
