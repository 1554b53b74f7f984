"""The names that a subject knows, so that a case with a name it does not know is refused early.

A misspelt event type or tool would otherwise be an expectation that fails for no visible reason,
or, where something is forbidden, one that can never fail.
"""

from typing import NamedTuple


class Vocabulary(NamedTuple):
    """The known names by kind. None means that the subject cannot list them: any name is accepted.

    `terminal_statuses` are the states a run may end in, in upper case. `items` are the kinds of the
    pieces of a conversation. `abilities` are what the subject can do of what `needs` names. Of a
    subject that is seen from `outside`, the module of that name tells what it can do.
    """

    terminal_statuses: frozenset[str]
    event_types: frozenset[str] | None
    tools: frozenset[str] | None
    reason_codes: frozenset[str] | None
    principals: frozenset[str] | None
    policy_profiles: frozenset[str] | None
    failure_reasons: frozenset[str] | None = None
    agents: frozenset[str] | None = None
    items: frozenset[str] | None = None
    metrics: frozenset[str] | None = None
    abilities: frozenset[str] = frozenset()
    outside: bool = False
