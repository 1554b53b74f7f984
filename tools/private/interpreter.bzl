"""The Python that repository rules run, before there is any toolchain."""

# What find_python looks at, for the rule's environ.
PYTHON_ENVIRON = ["HARDGATE_PYTHON", "PATH"]

# What pip looks at besides, in rules that install something.
PIP_ENVIRON = PYTHON_ENVIRON + ["PIP_CERT", "PIP_CONFIG_FILE", "PIP_EXTRA_INDEX_URL", "PIP_FIND_LINKS", "PIP_INDEX_URL"]

def find_python(repository_ctx, minor = None):
    """Finds an interpreter: the one that HARDGATE_PYTHON names, or python3.

    Args:
      repository_ctx: the context of the calling repository rule.
      minor: string, the minor version to prefer, such as "3.11"; any will do by default.

    Returns:
      A string, the interpreter's path; it fails where there is none.
    """
    named = repository_ctx.os.environ.get("HARDGATE_PYTHON")
    if named and not repository_ctx.path(named).exists:
        fail("HARDGATE_PYTHON is {}, which does not exist. Set it to the path of a Python interpreter.".format(named))
    preferred = repository_ctx.which("python" + minor) if minor else None
    found = named or preferred or repository_ctx.which("python3")
    if not found:
        fail("No python3 on PATH. Install it, or set HARDGATE_PYTHON to the path of a Python interpreter.")
    return str(found)
