"""Entry points of the reference runtime."""
