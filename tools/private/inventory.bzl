"""The gate inventory as a file, made by a query when it is built."""

_INVENTORY = Label("//src:hardgate_inventory_program")

def gate_inventory(name, suite):
    """Makes NAME.json, a row for each gate target, of a genquery over a suite.

    Args:
      name: the target's name.
      suite: label of the test_suite that lists every gate target.
    """
    label = "//{}{}".format(native.package_name(), suite)
    native.genquery(
        name = name + "_query",
        expression = "attr(tags, '[\\[ ]gate[,\\]]', tests({}))".format(label),
        opts = ["--output=xml"],
        scope = [label],
        tags = ["manual"],
    )
    native.genrule(
        name = name,
        srcs = [":{}_query".format(name)],
        outs = [name + ".json"],
        cmd = "$(execpath {}) $(SRCS) > $@".format(_INVENTORY),
        tools = [_INVENTORY],
    )
