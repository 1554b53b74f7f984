"""Decimal expressions: grammar, arithmetic and evaluation, without any use of `eval`."""
