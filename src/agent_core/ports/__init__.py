"""Interfaces between the application and the world, one module per subject.

Each `Protocol` here has one contract module, tests/contract/test_<port>_contract.py, which runs
over every implementation; an implementation names its port as a base class.
"""
