"""Clocks, id factories and batch schedulers: the only modules that may read the system's time or
randomness, or leave to the machine who goes on first."""
