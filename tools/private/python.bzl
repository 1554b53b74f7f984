"""Python programs and tests that start fast: one process, precompiled sources, few input files.

Bazel's own Python rules link every source file of every dependency into every sandbox, where Python compiles it again. Here an
aspect compiles each library of this repository once into one archive, and a program's launcher starts the interpreter with
those archives and the folders of installed distributions as its whole import path.
"""

load("@rules_python//python:defs.bzl", "PyInfo")

_TOOLCHAIN = "@bazel_tools//tools/python:toolchain_type"

_ArchiveInfo = provider(
    doc = "What a library adds to the import path of a program.",
    fields = {
        "archive": "File: compiled sources of the library and all it depends on; None where there are none",
        "import_roots": "depset of strings: folders of distributions, below the runfiles root",
        "runfiles": "runfiles of distributions and data",
    },
)

def _runtime(ctx):
    return ctx.toolchains[_TOOLCHAIN].py3_runtime

def _interpreter_inputs(runtime):
    return runtime.files if runtime.interpreter else depset()

def _version_text(runtime):
    # In the arguments of each action and in each launcher: a result made by one interpreter is
    # never taken from a cache for another.
    return "{} {}".format(getattr(runtime, "interpreter_version_info", ""), runtime.stub_shebang).replace("\n", " ")

def _is_compiled_here(label):
    return label.repo_name in ("", Label("//tools").repo_name)

def _strip(path, roots):
    for root in roots:
        if path.startswith(root + "/"):
            return path[len(root) + 1:]
    return path

def _package_path(file):
    """The path of a source below its repository's root."""
    path = file.short_path
    return path.split("/", 2)[2] if path.startswith("../") else path

def _write_archive(ctx, name, infos, compiler, sources = [], roots = []):
    """One archive of some libraries' archives and of sources; None of nothing."""
    archives = {info.archive: True for info in infos if info.archive}
    if not sources and len(archives) < 2:
        return archives.keys()[0] if archives else None
    archive = ctx.actions.declare_file(name + ".pyz")
    runtime = _runtime(ctx)
    arguments = ctx.actions.args()
    arguments.set_param_file_format("multiline")
    arguments.use_param_file("@%s", use_always = True)
    arguments.add(_version_text(runtime))
    arguments.add(archive)
    arguments.add_all(archives.keys(), before_each = "--archive")
    for file in sources:
        path = _package_path(file)
        arguments.add_all(["--source", _strip(path, roots), path, file])
    ctx.actions.run(
        executable = runtime.interpreter or runtime.interpreter_path,
        arguments = ["-I", "-S", "-B", compiler.path, arguments],
        inputs = depset(
            sources + archives.keys() + [compiler],
            transitive = [_interpreter_inputs(runtime)],
        ),
        outputs = [archive],
        mnemonic = "PyArchive",
        progress_message = "Compiling %{label}",
    )
    return archive

def _archive_aspect(target, ctx):
    if PyInfo not in target:
        return []
    below = [dep[_ArchiveInfo] for dep in getattr(ctx.rule.attr, "deps", []) if _ArchiveInfo in dep]
    if not _is_compiled_here(target.label):
        return [_ArchiveInfo(
            archive = None,
            import_roots = target[PyInfo].imports,
            runfiles = target[DefaultInfo].default_runfiles,
        )]
    package = target.label.package
    roots = [
        package if entry == "." else "/".join([part for part in [package, entry] if part])
        for entry in getattr(ctx.rule.attr, "imports", [])
    ]
    sources = [
        file
        for source in getattr(ctx.rule.attr, "srcs", [])
        for file in source[DefaultInfo].files.to_list()
        if file.extension == "py"
    ]
    data = [entry[DefaultInfo].files for entry in getattr(ctx.rule.attr, "data", [])]
    return [_ArchiveInfo(
        archive = _write_archive(ctx, target.label.name, below, ctx.file._compiler, sources, roots),
        import_roots = depset(transitive = [info.import_roots for info in below]),
        runfiles = ctx.runfiles(transitive_files = depset(transitive = data))
            .merge_all([info.runfiles for info in below]),
    )]

_COMPILER = {
    "_compiler": attr.label(allow_single_file = True, default = Label("//tools/private:compile.py")),
}

_archives = aspect(
    implementation = _archive_aspect,
    doc = "Compiles each library of this repository into one archive.",
    attr_aspects = ["deps"],
    attrs = _COMPILER,
    toolchains = [_TOOLCHAIN],
)

_LAUNCHER = """#!/bin/sh
# Starts one Python process with the declared import path and nothing of this machine's.
# {version}
runfiles=${{TEST_SRCDIR:-}}
[ -d "$0.runfiles" ] && runfiles=$0.runfiles
case $runfiles in /*) ;; *) runfiles=$PWD/$runfiles ;; esac
w=$runfiles/{workspace}
export PYTHONPATH="{path}"
{exports}exec {interpreter} -S -s -B -P -m {main} {arguments} "$@"
"""

def quoted(text):
    """A string as one word of a POSIX shell."""
    return "'" + text.replace("'", "'\\''") + "'"

def launch(ctx, deps, main, arguments = [], files = [], environment = {}, runfiles = []):
    """Writes a launcher and gathers what it needs.

    Args:
      ctx: the rule's context; the rule has the Python toolchain.
      deps: list of Targets with archives.
      main: string, the module to run.
      arguments: list of strings.
      files: list of Files that the program reads below its working directory.
      environment: dict of strings, variables to set.
      runfiles: list of runfiles of other programs, which this one starts.

    Returns:
      A list with DefaultInfo: the executable and its runfiles.
    """
    runtime = _runtime(ctx)
    infos = [dep[_ArchiveInfo] for dep in deps]
    archive = _write_archive(ctx, ctx.label.name, infos, ctx.file._compiler)
    roots = depset(transitive = [info.import_roots for info in infos])
    entries = ["$w/" + archive.short_path] if archive else []
    entries += ["$runfiles/" + root for root in roots.to_list()]
    interpreter = quoted(runtime.interpreter_path or "")
    if runtime.interpreter:
        interpreter = '"$w/{}"'.format(runtime.interpreter.short_path)
    launcher = ctx.actions.declare_file(ctx.label.name)
    ctx.actions.write(
        launcher,
        _LAUNCHER.format(
            version = _version_text(runtime),
            workspace = ctx.workspace_name,
            path = ":".join(entries),
            exports = "".join([
                "export {}={}\n".format(name, quoted(value))
                for name, value in environment.items()
            ]),
            interpreter = interpreter,
            main = main,
            arguments = " ".join([quoted(argument) for argument in arguments]),
        ),
        is_executable = True,
    )
    own = ctx.runfiles(
        files = files + ([archive] if archive else []),
        transitive_files = _interpreter_inputs(runtime),
    )
    return [DefaultInfo(
        executable = launcher,
        files = depset([launcher]),
        runfiles = own.merge_all(runfiles + [info.runfiles for info in infos]),
    )]

LAUNCH_ATTRIBUTES = _COMPILER | {
    "deps": attr.label_list(
        aspects = [_archives],
        doc = "Python libraries on the import path",
        providers = [PyInfo],
    ),
}

LAUNCH_TOOLCHAINS = [_TOOLCHAIN]

def _program(ctx):
    return launch(
        ctx,
        deps = ctx.attr.deps,
        main = ctx.attr.main,
        arguments = [ctx.expand_location(argument, ctx.attr.data) for argument in ctx.attr.arguments],
        files = ctx.files.data,
        environment = {
            name: ctx.expand_location(value, ctx.attr.data)
            for name, value in ctx.attr.environment.items()
        },
    )

_PROGRAM_ATTRIBUTES = LAUNCH_ATTRIBUTES | {
    "arguments": attr.string_list(doc = "arguments; $(rootpath LABEL) is expanded"),
    "data": attr.label_list(allow_files = True, doc = "files that the program reads"),
    "environment": attr.string_dict(doc = "variables to set; $(rootpath LABEL) is expanded"),
    "main": attr.string(mandatory = True, doc = "the module to run, such as hardgate.cli"),
}

python_program = rule(
    implementation = _program,
    doc = "A Python module as an executable.",
    attrs = _PROGRAM_ATTRIBUTES,
    executable = True,
    toolchains = LAUNCH_TOOLCHAINS,
)

python_module_test = rule(
    implementation = _program,
    doc = "A Python module as a test; it writes its own test.xml.",
    attrs = _PROGRAM_ATTRIBUTES,
    test = True,
    toolchains = LAUNCH_TOOLCHAINS,
)
