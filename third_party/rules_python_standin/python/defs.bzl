"""The rules_python names that this project uses, on Bazel's own Python rules."""

load("@bazel_tools//tools/python:toolchain.bzl", _py_runtime_pair = "py_runtime_pair")
load("//python/private:providers.bzl", "BuiltinPyInfo", "BuiltinPyRuntimeInfo")

# Bazel's built-in rules accept only callers that carry this tag.
_MIGRATION_TAG = "__PYTHON_RULES_MIGRATION_DO_NOT_USE_WILL_BREAK__"

def _tagged(attributes):
    attributes["tags"] = (attributes.get("tags") or []) + [_MIGRATION_TAG]
    return attributes

def py_library(**attributes):
    """A Python library; the attributes are those of Bazel's own rule."""
    native.py_library(**_tagged(attributes))

def py_binary(**attributes):
    """A Python program; the attributes are those of Bazel's own rule."""
    native.py_binary(**_tagged(attributes))

def py_test(**attributes):
    """A Python test; the attributes are those of Bazel's own rule."""
    native.py_test(**_tagged(attributes))

def py_runtime(**attributes):
    """A Python interpreter; the attributes are those of Bazel's own rule."""
    native.py_runtime(**_tagged(attributes))

py_runtime_pair = _py_runtime_pair
PyInfo = BuiltinPyInfo
PyRuntimeInfo = BuiltinPyRuntimeInfo
