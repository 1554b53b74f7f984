"""What a scripted MCP server takes from an agent before it refuses."""

from hardgate.wire.limits import Limits

# One message is one body. Beyond any of these the rest is refused, and the case fails.
LIMITS = Limits(
    body_bytes=1024 * 1024,
    all_bodies_bytes=32 * 1024 * 1024,
    json_values=100_000,
    requests=2_000,
)
