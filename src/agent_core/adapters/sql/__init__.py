"""Repositories over SQL: SQLite in a file, and PostgreSQL (docs/adr/0007-storage.md).

Statements and connections stay in this package; records go in and come out as values of the domain.
"""
