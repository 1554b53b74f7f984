"""The project's own tests: pytest over one file, in one fast-starting process."""

load(":python.bzl", "python_module_test")

_PER_FILE = ["data", "deps", "environment", "size", "tags", "target_compatible_with"]

def hardgate_pytest(
        srcs,
        deps,
        data = [],
        size = "small",
        tags = [],
        environment = {},
        support = [],
        per_file = {},
        suffix = ""):
    """Makes one test of each test file; its name is the file's without .py, and the suffix.

    Args:
      srcs: list of files named test_*.py, usually a glob.
      deps: list of labels, Python libraries that the tests import; pytest comes with it.
      data: list of labels, what every test reads.
      size: string, Bazel's test size.
      tags: list of strings.
      environment: dict of strings, variables to set; $(rootpath LABEL) of something in data is expanded.
      support: list of files that tests import or use, such as conftest.py.
      suffix: string, what the names end in: for files that are tested in more than one way.
      per_file: dict of dicts, attributes for single files: data, deps, size, tags, environment; target_compatible_with of a test that
        needs what not every machine has: Bazel says of each that it skipped it.
    """
    for file, attributes in per_file.items():
        if file not in srcs:
            fail("per_file names '{}', which is not among the tests; found: {}".format(file, ", ".join(srcs)))
        for attribute in attributes:
            if attribute not in _PER_FILE:
                fail("per_file['{}'] has the attribute '{}'; allowed: {}".format(
                    file,
                    attribute,
                    ", ".join(_PER_FILE),
                ))
    for file in srcs:
        more = per_file.get(file, {})
        python_module_test(
            name = file.removesuffix(".py") + suffix,
            size = more.get("size", size),
            arguments = ["{}/{}".format(native.package_name(), file)],
            data = [file] + support + data + more.get("data", []),
            environment = environment | more.get("environment", {}),
            main = "run_pytest",
            tags = tags + more.get("tags", []),
            target_compatible_with = more.get("target_compatible_with", []),
            deps = deps + more.get("deps", []) + [Label("//tools/private:run_pytest")],
        )
