"""The page names every rule and every limit, and its example is a good server."""

import re
from pathlib import Path

from hardgate.documents.strict_yaml import load
from hardgate.fixtures import mcp_server
from hardgate.fixtures.mcp_server import load_mcp_server
from hardgate.wire.mcp import rules
from hardgate.wire.mcp.limits import LIMITS
from hardgate.wire.mcp.player import ENVELOPE_VERSIONS, HANDSHAKE_VERSIONS
from hardgate.wire.mcp.setup import CONFIG_VARIABLE, PLACEHOLDER

PAGE = Path("docs/reference/mcp.md").read_text(encoding="utf-8")


def test_every_rule_and_no_other():
    known = {value for value in vars(rules).values() if str(value).startswith("mcp.")}
    rows = "\n".join(line for line in PAGE.splitlines() if line.startswith("| `mcp."))
    assert len(known) > 20
    assert set(re.findall(r"`(mcp\.\w+)`", rows)) == known


def test_every_version():
    assert set(re.findall(r"\b\d{4}-\d\d-\d\d\b", PAGE)) == {
        *HANDSHAKE_VERSIONS,
        *ENVELOPE_VERSIONS,
    }


def test_the_limits():
    numbers = PAGE[PAGE.index("## Limits") : PAGE.index("## From Python")]
    mib = 1024 * 1024
    assert (LIMITS.body_bytes, LIMITS.all_bodies_bytes) == (mib, 32 * mib)
    for text in (
        f"at most {LIMITS.json_depth} deep",
        f"{LIMITS.json_values:,} values",
        f"{LIMITS.requests:,} of",
        f"take {LIMITS.read_seconds:g} seconds",
        f"at most {LIMITS.connections} connections",
        f"at most {LIMITS.header_bytes // 1024} KiB",
        f"at most {LIMITS.wall_seconds:g} seconds",
        f"{mcp_server.MOST_TOOLS} tools with {mcp_server.MOST_REPLIES} replies",
        f"{mcp_server.MOST_ACTIONS} actions",
        f"{mcp_server.LONGEST_TEXT:,} characters",
    ):
        assert text in numbers.replace("\n", " "), text


def test_the_example():
    (text,) = re.findall(r"^```yaml\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
    server = load_mcp_server("evals/fixtures/mcp/notes.yaml", text.encode())
    assert load("x.yaml", text.encode()).value["server_id"] == server.server_id
    assert [len(tool.replies) for tool in server.tools] == [2, 0]
    assert CONFIG_VARIABLE in PAGE
    assert f"{{{PLACEHOLDER}}}" in PAGE
