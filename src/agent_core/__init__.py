"""The reference agent runtime: the subject that Hardgate's own cases run.

Imports go one way: `domain <- ports <- application <- adapters <- bootstrap`, with one
narrowing: adapters import domain and ports only. Nothing here knows Hardgate.
"""
