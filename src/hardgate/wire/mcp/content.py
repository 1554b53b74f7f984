"""The content of a scripted reply in the form of the protocol."""

from collections.abc import Mapping
from typing import Any

from hardgate.fixtures.mcp_server import (
    LinkBlock,
    McpReply,
    MediaBlock,
    ResourceBlock,
    TextBlock,
)


def wire_content(reply: McpReply) -> tuple[Mapping[str, Any], ...]:
    """The blocks of a reply; a failure is a text."""
    if reply.error is not None:
        return ({"type": "text", "text": reply.error},)
    if isinstance(reply.content, str):
        return ({"type": "text", "text": reply.content},)
    return tuple(_block(block) for block in reply.content or ())


def content_text(reply: McpReply) -> str:
    """The texts of a success, one below the other."""
    if isinstance(reply.content, str):
        return reply.content
    blocks = reply.content or ()
    return "\n".join(one.text for one in blocks if isinstance(one, (TextBlock, ResourceBlock)))


def _block(block: Any) -> dict[str, Any]:
    if isinstance(block, TextBlock):
        return {"type": "text", "text": block.text}
    if isinstance(block, MediaBlock):
        return {"type": block.type, "data": block.data, "mimeType": block.mime_type}
    if isinstance(block, LinkBlock):
        return {"type": "resource_link", "uri": block.uri, "name": block.name}
    return {"type": "resource", "resource": {"uri": block.uri, "text": block.text}}
