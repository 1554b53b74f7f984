"""The registry and the builtin tools."""
