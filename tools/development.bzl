"""Repositories that only this project's own tests need."""

load("//tools/private:nested.bzl", _nested_bazel = "nested_bazel", _wheelhouse = "wheelhouse")

nested_bazel = _nested_bazel
wheelhouse = _wheelhouse

def _development(_module_ctx):
    _nested_bazel(name = "hardgate_nested_bazel")
    _wheelhouse(name = "hardgate_wheelhouse")

development = module_extension(
    implementation = _development,
    doc = "Makes hardgate_nested_bazel and hardgate_wheelhouse.",
)
