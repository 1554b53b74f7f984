"""Hardgate's public rules and macros: load everything from here."""

load("//tools/private:pytest.bzl", _hardgate_pytest = "hardgate_pytest")
load("//tools/private:python.bzl", _python_module_test = "python_module_test", _python_program = "python_program")
load("//tools/private:targets.bzl", _hardgate_cases = "hardgate_cases", _hardgate_gates = "hardgate_gates")

hardgate_cases = _hardgate_cases
hardgate_gates = _hardgate_gates
hardgate_pytest = _hardgate_pytest
python_module_test = _python_module_test
python_program = _python_program
