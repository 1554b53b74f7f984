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


class Fenced(AgentCoreError):
    """The writer does not hold the run any more: somebody else may do so. It writes nothing."""


class TenantBusy(AgentCoreError):
    """The tenant has runs or hooks that have not ended."""


class ReviewConflict(AgentCoreError):
    """The review was resolved already, in another way."""


class NotPermitted(AgentCoreError):
    """The principal lacks the scope that this takes; its name is the text."""


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


class StorageUnavailable(AgentCoreError):
    """The database does not answer, refuses, or is locked by others for too long.

    What was being written is not there, unless the connection broke while it was being committed:
    then nobody knows until the record is read again.
    """


class StorageFull(StorageUnavailable):
    """The database has no room for what was being written; nothing of it is there."""


class SchemaMismatch(AgentCoreError):
    """The database has the tables of another version of this program, or none."""


class RegistrationError(AgentCoreError):
    """Tools that may not be registered. `problems` names every broken rule of every tool."""

    def __init__(self, problems: tuple[str, ...]) -> None:
        super().__init__("\n".join(problems))
        self.problems = problems
