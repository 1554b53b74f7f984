"""Runs pytest as a Bazel test: no plugins of this machine, no cache, and no tests is a failure."""

import os
import sys

import pytest


def arguments(files):
    """Returns pytest's arguments for some test files."""
    scratch = os.environ["TEST_TMPDIR"]
    found = ["--strict-markers", "--strict-config", "-q", "-ra", "-p", "no:cacheprovider"]
    found += ["--import-mode=importlib", f"--rootdir={os.getcwd()}", f"--basetemp={scratch}/pytest"]
    found += ["--config-file=/dev/null", "--show-capture=all", "--color=no"]
    # A table of inputs that has run empty would be a skipped test, which looks like a good one.
    found += ["-o", "empty_parameter_set_mark=fail_at_collect"]
    if "XML_OUTPUT_FILE" in os.environ:
        found.append("--junit-xml=" + os.environ["XML_OUTPUT_FILE"])
    if os.environ.get("TESTBRIDGE_TEST_ONLY"):
        found += ["-k", os.environ["TESTBRIDGE_TEST_ONLY"]]
    return found + files


if __name__ == "__main__":
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    os.environ["HYPOTHESIS_STORAGE_DIRECTORY"] = os.path.join(os.environ["TEST_TMPDIR"], "hypothesis")
    # Tests may import their own folders: the working directory is the workspace's root.
    sys.path.insert(0, os.getcwd())
    sys.exit(pytest.main(arguments(sys.argv[1:])))
