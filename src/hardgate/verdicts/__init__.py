"""Verdicts: their data, the proof that the network is off, and how they are published.

Imports the standard library only: this package is on the hot path of every test process.
"""
