"""The repository rule that turns YAML files into a list that BUILD files load."""

load(":interpreter.bzl", "PYTHON_ENVIRON", "find_python")

_SCRIPT = Label("//tools/private:index.py")
_STRICT_YAML = Label("//src:hardgate/documents/strict_yaml.py")
_YAML_LIBRARY = Label("@hardgate_yaml//:BUILD.bazel")

_EVALS = "evals"

def _top(repository_ctx):
    """The workspace's top folder, from a file in any of its packages."""
    label = repository_ctx.attr.root
    folder = repository_ctx.path(label).dirname
    for _ in [part for part in "{}/{}".format(label.package, label.name).split("/") if part][1:]:
        folder = folder.dirname
    return folder

def _gates_index(repository_ctx):
    root = _top(repository_ctx)
    for folder in [repository_ctx.attr.gates, repository_ctx.attr.evals]:
        path = root
        for part in folder.split("/"):
            if part in ["", ".", ".."]:
                fail("{} declares the folder '{}'; allowed: a path below the root, ".format(
                    repository_ctx.attr.declared_by,
                    folder,
                ) + "such as quality/gates, without empty parts, '.' and '..'")
            path = path.get_child(part)
        if not path.exists and folder == _EVALS:
            # Gates without cases: the folder is taken up as soon as there is one.
            repository_ctx.watch(path)
            continue
        if not path.exists:
            fail("{} declares the folder '{}', which does not exist below {}. ".format(
                repository_ctx.attr.declared_by,
                folder,
                root,
            ) + "Make it, or correct the attribute.")
        repository_ctx.watch_tree(path)
    repository_ctx.watch(_SCRIPT)
    documents = repository_ctx.path(_STRICT_YAML).dirname
    repository_ctx.watch_tree(documents)
    result = repository_ctx.execute([
        find_python(repository_ctx),
        "-I",
        "-B",
        repository_ctx.path(_SCRIPT),
        "--source=" + str(documents.dirname.dirname),
        "--yaml=" + str(repository_ctx.path(_YAML_LIBRARY).dirname.get_child("site")),
        "--root=" + str(root),
        "--gates=" + repository_ctx.attr.gates,
        "--evals=" + repository_ctx.attr.evals,
        "--out=index.bzl",
    ], timeout = 600)
    if result.return_code:
        fail("Reading the registry below {} failed:\n{}".format(root, result.stderr))
    repository_ctx.file("BUILD.bazel", "")

gates_index = repository_rule(
    implementation = _gates_index,
    doc = """Reads a workspace's gates and cases; //:index.bzl of the repository holds INDEX.

A file that is added, changed or removed below the two folders shows at the next Bazel command. A file that can't be read becomes
one failing target for each of its problems, so that everything else still loads.
""",
    attrs = {
        "declared_by": attr.string(mandatory = True, doc = "shown in errors"),
        "evals": attr.string(default = _EVALS, doc = "folder of the cases, below the root; evals need not exist"),
        "gates": attr.string(default = "gates", doc = "folder of the registry, below the root"),
        "root": attr.label(mandatory = True, doc = "a file of the workspace, in a folder with a BUILD file"),
    },
    environ = PYTHON_ENVIRON,
)
