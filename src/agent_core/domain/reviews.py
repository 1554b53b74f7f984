"""Effect reviews: calls of which nobody knows whether they had their effect, for a person."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

MAXIMUM_NOTE_CHARACTERS = 2000


class ReviewResolution(StrEnum):
    """What a person found out about an effect."""

    HAPPENED = "happened"
    DID_NOT_HAPPEN = "did_not_happen"
    UNRESOLVABLE = "unresolvable"


class EffectReview(NamedTuple):
    """A call that ended UNCERTAIN, and what was found out about it since.

    There is one for each such call. `reason_code` is the code of the call's outcome. The
    last four are empty until it is resolved. `resolved_by` is the id of a principal.
    """

    id: str
    tenant_id: str
    run_id: str
    invocation_id: str
    tool_name: str
    reason_code: str
    opened_at: datetime
    resolution: ReviewResolution | None = None
    resolved_at: datetime | None = None
    resolved_by: str | None = None
    note: str = ""
