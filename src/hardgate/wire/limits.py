"""What the scripted provider takes from an agent before it refuses."""

from typing import NamedTuple


class Limits(NamedTuple):
    """The limits of one provider; a request that goes over one is refused and recorded.

    `stall_seconds` is how long a turn of the class timeout holds a request before the connection
    is closed. `wall_seconds` counts from the start of the server to its last answer.
    """

    header_bytes: int = 65_536
    body_bytes: int = 8 * 1024 * 1024
    all_bodies_bytes: int = 128 * 1024 * 1024
    json_depth: int = 64
    json_values: int = 200_000
    requests: int = 1_000
    connections: int = 32
    read_seconds: float = 30.0
    stall_seconds: float = 20.0
    wall_seconds: float = 600.0
