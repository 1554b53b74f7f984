"""Structural gates: a checker runs as a build action and writes a verdict, a test reads it."""

load(":python.bzl", "LAUNCH_ATTRIBUTES", "LAUNCH_TOOLCHAINS", "launch")

def _manifest_line(file):
    return "{}\t{}".format(file.short_path, file.path)

def _gate_entry(ctx):
    entry = ctx.actions.declare_file(ctx.label.name + ".json")
    ctx.actions.write(entry, ctx.attr.entry)
    return [DefaultInfo(files = depset([entry]))]

gate_entry = rule(
    implementation = _gate_entry,
    doc = "A gate's registry entry as a file; the inventory is a query over these.",
    attrs = {
        "area": attr.string(mandatory = True),
        "check": attr.string(),
        "counterexamples": attr.string_list(doc = "their names"),
        "declared_at": attr.string(mandatory = True, doc = "path:line of the registry entry"),
        "entry": attr.string(mandatory = True, doc = "the registry entry as JSON"),
        "gate_id": attr.string(mandatory = True),
        "kind": attr.string(mandatory = True),
        "milestone": attr.int(mandatory = True),
        "spec": attr.string(),
        "target": attr.string(mandatory = True, doc = "label of the gate's test"),
    },
)

def _gate_verdict(ctx):
    verdict = ctx.actions.declare_file(ctx.label.name + ".json")
    entry = ctx.file.entry
    manifest = ctx.actions.declare_file(ctx.label.name + ".manifest")
    lines = ctx.actions.args()
    lines.set_param_file_format("multiline")
    lines.add_all(ctx.files.sources, map_each = _manifest_line, expand_directories = True, uniquify = True)
    ctx.actions.write(manifest, lines)
    arguments = ctx.actions.args()
    arguments.add("--entry", entry)
    arguments.add("--manifest", manifest)
    arguments.add("--out", verdict)
    if ctx.attr.counterexample:
        arguments.add("--counterexample", ctx.attr.counterexample)
    ctx.actions.run(
        executable = ctx.executable.checker,
        arguments = [arguments],
        inputs = ctx.files.sources + [entry, manifest],
        outputs = [verdict],
        mnemonic = "GateCounterexample" if ctx.attr.counterexample else "GateCheck",
        progress_message = "Checking %{label}",
    )
    return [DefaultInfo(files = depset([verdict]))]

gate_verdict = rule(
    implementation = _gate_verdict,
    doc = "Runs a structural check over declared sources; a failing verdict still builds, a crash does not.",
    attrs = {
        "checker": attr.label(cfg = "exec", executable = True, mandatory = True),
        "counterexample": attr.string(doc = "the defect to put in place, if any"),
        "entry": attr.label(allow_single_file = [".json"], doc = "the gate_entry", mandatory = True),
        "sources": attr.label_list(allow_files = True),
    },
)

def _gate_test(ctx):
    arguments = list(ctx.attr.arguments)
    files = list(ctx.files.data)
    if ctx.attr.verdict:
        arguments = [ctx.file.verdict.short_path] + arguments
        files.append(ctx.file.verdict)
    if ctx.attr.entry:
        # At test time a file lies below the working directory, at the path it has in the workspace.
        manifest = ctx.actions.declare_file(ctx.label.name + ".manifest")
        lines = ["{0}\t{0}\n".format(file.short_path) for file in ctx.files.sources]
        ctx.actions.write(manifest, "".join(lines))
        arguments += ["--entry", ctx.file.entry.short_path, "--manifest", manifest.short_path]
        files += [ctx.file.entry, manifest] + ctx.files.sources
    runfiles = []
    if ctx.attr.agent:
        # Below the working directory, too, with everything that it needs to run.
        path = ctx.executable.agent.short_path
        arguments += ["--agent", ctx.attr.agent_name + "=" + path if ctx.attr.agent_name else path]
        files.append(ctx.executable.agent)
        runfiles.append(ctx.attr.agent[DefaultInfo].default_runfiles)
    return launch(
        ctx,
        deps = ctx.attr.deps,
        main = ctx.attr.main,
        arguments = arguments,
        files = files,
        runfiles = runfiles,
    )

gate_test = rule(
    implementation = _gate_test,
    doc = "A gate, a counterexample or a case as a test; it writes verdict.json and test.xml itself.",
    attrs = LAUNCH_ATTRIBUTES | {
        "agent": attr.label(
            allow_files = True,
            cfg = "target",
            doc = "the program that the case starts, in any language",
            executable = True,
        ),
        "agent_name": attr.string(doc = "what the case calls the agent, if anything"),
        "arguments": attr.string_list(),
        "data": attr.label_list(allow_files = True, doc = "exactly the files that the test reads"),
        "entry": attr.label(allow_single_file = [".json"], doc = "the gate_entry of a check that runs in the test"),
        "main": attr.string(mandatory = True, doc = "the module to run"),
        "sources": attr.label_list(allow_files = True, doc = "with entry: exactly the files that the check reads"),
        "verdict": attr.label(allow_single_file = [".json"], doc = "a verdict made by a build action"),
    },
    test = True,
    toolchains = LAUNCH_TOOLCHAINS,
)
