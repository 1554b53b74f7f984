"""Hardgate: hard gates for AI agents as Bazel test targets."""

__version__ = "0.1.0"
