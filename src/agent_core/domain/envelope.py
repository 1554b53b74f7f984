"""The envelope around content that nobody at the platform wrote (docs/specs/context_engine.md)."""

from __future__ import annotations

import re

from agent_core.domain.canonical import canonical_json
from agent_core.domain.context import ContextItem, ShownItem
from agent_core.domain.trust import TrustLevel

_MARKER = re.compile("[<\uff1c\ufe64](?=\\W{0,16}item)", re.IGNORECASE)
_NOT_IN_AN_ATTRIBUTE = re.compile(r"[^A-Za-z0-9_.:@-]")
_MAXIMUM_ATTRIBUTE_CHARACTERS = 96


def shown(item: ContextItem) -> ShownItem:
    """`item` as a model is shown it: what was concluded about a call, then the content."""
    parts = []
    if item.outcome is not None:
        parts.append(canonical_json(item.outcome._asdict()))
    if item.text:
        parts.append(enveloped(item) if needs_envelope(item) else item.text)
    return ShownItem(item, "\n".join(parts))


def needs_envelope(item: ContextItem) -> bool:
    """Whether the content of `item` is worth less than what the deployment itself configured."""
    return item.labels.trust.is_at_or_below(TrustLevel.USER)


def enveloped(item: ContextItem) -> str:
    """The content between two markers that carry the item's nonce.

    Whatever in the content could be read as the beginning of a marker is escaped, so the content
    cannot close its envelope, nor open one with a better label.
    """
    source = _attribute(item.source)
    opening = f"<item trust={item.labels.trust} source={source} id={item.id} nonce={item.nonce}>"
    return f"{opening}\n{escaped(item.text)}\n</item nonce={item.nonce}>"


def escaped(text: str) -> str:
    """`text` without anything that begins like a marker."""
    return _MARKER.sub("&lt;", text)


def _attribute(value: str) -> str:
    """A source as a marker can hold it: a model may have made up a tool's name."""
    return _NOT_IN_AN_ATTRIBUTE.sub("_", value[:_MAXIMUM_ATTRIBUTE_CHARACTERS])
