"""The kinds of gates: how each one is checked, and the processes that run the checks."""
