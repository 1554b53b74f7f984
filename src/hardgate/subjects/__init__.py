"""Subjects: what a case runs. A runtime is a subject behind the port in `port`."""
