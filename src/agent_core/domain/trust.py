"""Labels of content: where it comes from, and whether it is private (docs/specs/policy.md).

Both labels travel with the content from its source. Neither is ever inferred from the text.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import NamedTuple


class TrustLevel(StrEnum):
    """Origin of a piece of content, in a total order: most trusted first."""

    PLATFORM = "platform"
    TRUSTED_CONFIGURATION = "trusted_configuration"
    USER = "user"
    INTERNAL_TOOL = "internal_tool"
    MEMORY = "memory"
    KNOWLEDGE = "knowledge"
    EXTERNAL_UNTRUSTED = "external_untrusted"

    def is_at_or_below(self, level: TrustLevel) -> bool:
        """Whether this label is worth no more than `level`."""
        return _RANK[self] >= _RANK[level]


_RANK = {level: rank for rank, level in enumerate(TrustLevel)}


def least_trusted(levels: Iterable[TrustLevel]) -> TrustLevel:
    """The lowest of `levels`: whatever is made from several sources is worth its worst one.

    Raises `ValueError` for no levels at all: content without an origin has no label.
    """
    return max(levels, key=_RANK.__getitem__)


class Labels(NamedTuple):
    """Both labels of a piece of content. Private content may be of any level of trust."""

    trust: TrustLevel
    is_private: bool = False

    @property
    def is_untrusted(self) -> bool:
        """Whether somebody from outside may have written it; documents of a knowledge base count,
        because they were written elsewhere and only stored here."""
        return self.trust.is_at_or_below(TrustLevel.KNOWLEDGE)


def join(labels: Iterable[Labels]) -> Labels:
    """The labels of what is made from several pieces: the lowest trust, and private if one is.

    Raises `ValueError` for no pieces at all.
    """
    pieces = tuple(labels)
    return Labels(
        least_trusted(piece.trust for piece in pieces), any(piece.is_private for piece in pieces)
    )
