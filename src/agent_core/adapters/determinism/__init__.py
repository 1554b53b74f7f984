"""Clocks and id factories: the only modules that may read the system's time or randomness."""
