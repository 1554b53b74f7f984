"""Implementations of the ports. They know ports and domain, and no other part of the runtime."""
