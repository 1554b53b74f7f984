"""Declares where a workspace keeps its gates and cases (MODULE.bazel); WORKSPACE files call gates_index."""

load("//tools/private:index.bzl", _gates_index = "gates_index")
load("//tools/private:yaml.bzl", _yaml_library = "yaml_library")

_YAML_LIBRARY = "hardgate_yaml"

def gates_index(name, root, gates = "gates", evals = "evals"):
    """Makes one repository of targets' descriptions; for WORKSPACE files.

    Args:
      name: string, the repository to make; its index.bzl holds INDEX.
      root: label of a file in the workspace's top folder.
      gates: string, folder of the registry, below the root.
      evals: string, folder of the cases, below the root.
    """
    if not native.existing_rule(_YAML_LIBRARY):
        _yaml_library(name = _YAML_LIBRARY)
    _gates_index(
        name = name,
        declared_by = "gates_index(name = \"{}\")".format(name),
        evals = evals,
        gates = gates,
        root = root,
    )

def _gates(module_ctx):
    _yaml_library(name = _YAML_LIBRARY)
    seen = {}
    for module in module_ctx.modules:
        for tag in module.tags.declare:
            if tag.name in seen:
                fail("gates.declare(name = \"{}\") of module {} is taken by module {}; choose another name".format(
                    tag.name,
                    module.name,
                    seen[tag.name],
                ))
            seen[tag.name] = module.name
            _gates_index(
                name = tag.name,
                declared_by = "gates.declare(name = \"{}\")".format(tag.name),
                evals = tag.evals,
                gates = tag.gates,
                root = tag.root,
            )

gates = module_extension(
    implementation = _gates,
    doc = "Makes one repository of targets' descriptions for each declare tag.",
    tag_classes = {
        "declare": tag_class(
            doc = "A workspace's folders of gates and cases.",
            attrs = {
                "evals": attr.string(default = "evals", doc = "folder of the cases, below the root; evals need not exist"),
                "gates": attr.string(default = "gates", doc = "folder of the registry, below the root"),
                "name": attr.string(mandatory = True, doc = "the repository to make; unique among all modules"),
                "root": attr.label(mandatory = True, doc = "a file of the workspace, in a folder with a BUILD file"),
            },
        ),
    },
)
