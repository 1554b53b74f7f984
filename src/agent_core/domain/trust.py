"""Trust labels: where the content of a conversation comes from."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum


class TrustLevel(StrEnum):
    """Origin of a piece of content, most trusted first (see docs/specs/policy.md).

    A label is carried with the content from its source; it is never inferred from the text.
    """

    PLATFORM = "platform"
    TRUSTED_CONFIGURATION = "trusted_configuration"
    USER = "user"
    INTERNAL_TOOL = "internal_tool"
    MEMORY = "memory"
    KNOWLEDGE = "knowledge"
    EXTERNAL_UNTRUSTED = "external_untrusted"


_RANK = {level: rank for rank, level in enumerate(TrustLevel)}


def least_trusted(levels: Iterable[TrustLevel]) -> TrustLevel:
    """The lowest of `levels`: whatever is made from several sources is worth its worst one.

    Raises `ValueError` for no levels at all: content without an origin has no label.
    """
    return max(levels, key=_RANK.__getitem__)
