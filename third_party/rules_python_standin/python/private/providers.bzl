"""Bazel's own providers under names that another file can give their usual names."""

BuiltinPyInfo = PyInfo
BuiltinPyRuntimeInfo = PyRuntimeInfo
