"""The extension that declares which Python to use."""

load("//python/private:host.bzl", "host_python")

def _python(module_ctx):
    version = None
    for module in module_ctx.modules:
        for tag in module.tags.toolchain:
            # As in the real extension, the root module decides.
            if version == None or (module.is_root and tag.is_default):
                version = tag.python_version
    host_python(name = "host_python", version = version or "3.11")

python = module_extension(
    implementation = _python,
    tag_classes = {
        "toolchain": tag_class(attrs = {
            "is_default": attr.bool(),
            "python_version": attr.string(mandatory = True),
        }),
    },
)
