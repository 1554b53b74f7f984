"""Expectations: how each key of `expected` becomes checks of a record."""
