"""The stand-in's extensions as one call, for WORKSPACE files."""

load("//python/private:host.bzl", "host_python")
load("//python/private:pip_hub.bzl", "pip_hub")

def python_workspace(hub_name, python_version, requirements_lock):
    """Registers the machine's Python and makes the repository of its distributions.

    Args:
      hub_name: string, the repository to make.
      python_version: string, the minor version, such as "3.11".
      requirements_lock: label of the hash-locked requirements file.
    """
    host_python(name = "host_python", version = python_version)
    native.register_toolchains("@host_python//:toolchain")
    pip_workspace(hub_name, python_version, requirements_lock)

def pip_workspace(hub_name, python_version, requirements_lock):
    """Makes one more repository of distributions; the arguments are those of python_workspace.

    Args:
      hub_name: string, the repository to make.
      python_version: string, the minor version, such as "3.11".
      requirements_lock: label of the hash-locked requirements file.
    """
    pip_hub(
        name = hub_name,
        hub_name = hub_name,
        lock = requirements_lock,
        version = python_version,
    )
