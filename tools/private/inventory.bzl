"""The gate inventory as a file, made by a query when it is built."""

_PROGRAM = Label("//src:hardgate_inventory_program")

def gate_inventory(name, entries):
    """Makes NAME.json, a row for each gate, of a genquery over the gates' entries.

    Args:
      name: the target's name.
      entries: list of strings, the names of the gate_entry targets.
    """
    native.filegroup(
        name = name + "_entries",
        srcs = entries,
    )
    scope = "//{}:{}_entries".format(native.package_name(), name)
    native.genquery(
        name = name + "_query",
        expression = "kind('gate_entry rule', deps({}))".format(scope),
        opts = ["--output=xml"],
        scope = [scope],
    )
    native.genrule(
        name = name,
        srcs = [":{}_query".format(name)],
        outs = [name + ".json"],
        cmd = "$(execpath {}) $(SRCS) > $@".format(_PROGRAM),
        tools = [_PROGRAM],
    )
