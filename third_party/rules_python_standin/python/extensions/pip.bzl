"""The extension that makes repositories of requirements files."""

load("//python/private:pip_hub.bzl", "pip_hub")

def _pip(module_ctx):
    for module in module_ctx.modules:
        for tag in module.tags.parse:
            pip_hub(
                name = tag.hub_name,
                hub_name = tag.hub_name,
                lock = tag.requirements_lock,
                version = tag.python_version,
            )

pip = module_extension(
    implementation = _pip,
    tag_classes = {
        "parse": tag_class(attrs = {
            "hub_name": attr.string(mandatory = True),
            "python_version": attr.string(mandatory = True),
            "requirements_lock": attr.label(mandatory = True),
        }),
    },
)
