"""A scripted MCP server for agents that run as commands, over stdio and over loopback HTTP."""
