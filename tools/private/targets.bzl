"""The macros that make a target of each gate, counterexample and case of an index."""

load("@rules_python//python:defs.bzl", "py_library")
load(":inventory.bzl", "gate_inventory")
load(":milestone.bzl", "milestone_settings", "pending_before")
load(":python.bzl", "python_program")
load(":structural.bzl", "gate_entry", "gate_test", "gate_verdict")

_VERDICT_TEST = Label("//src:hardgate_verdict_test")
_STRUCTURAL = Label("//src:hardgate_structural")
_REPORT = Label("//src:hardgate_report")

_INDEX_FIELDS = ["cases", "evals_package", "gates", "gates_package", "invalid", "milestone"]

def _check_index(index, needed):
    missing = [field for field in _INDEX_FIELDS if not hasattr(index, field)]
    if missing:
        found = "a " + type(index)
        if type(index) == "struct":
            found += " without " + ", ".join(missing)
        fail(("{} needs index = INDEX, loaded from the index.bzl of the repository that " +
              "gates.declare names; found {}").format(needed, found))

def _tags(noun, entry, more = []):
    return [noun, "milestone:{}".format(entry["milestone"])] + more

def _gate_tags(entry, more = []):
    return _tags("gate", entry, ["kind:" + entry["kind"], "area:" + entry["area"]] + more)

def _refused(name, fault, id, kind = "structural", milestone = 0, **attributes):
    """A target that fails with a registry fault: there is nothing that it could run."""
    label = "//{}:{}".format(native.package_name(), name)
    gate_test(
        name = name,
        arguments = [
            "--id=" + id,
            "--kind=" + kind,
            "--milestone={}".format(milestone),
            "--path=" + fault["path"],
            "--line={}".format(fault["line"]),
            "--rule=" + fault["rule"],
            "--message=" + fault["message"],
            "--repeat=bazel test " + label,
        ],
        deps = [Label("//src:hardgate_refused")],
        main = "hardgate.kinds.refused",
        size = "small",
        **attributes
    )

def _area_libraries(areas, check_deps):
    """The checks and defects of each area as libraries, and the two programs that run them."""
    for area in check_deps:
        if area not in areas:
            fail("check_deps names the area '{}', which has no gates; found areas: {}".format(
                area,
                ", ".join(sorted(areas)),
            ))
    for area in areas:
        deps = check_deps.get(area, [])
        for noun in ["checks", "defects"]:
            py_library(
                name = "{}_{}".format(area, noun),
                srcs = native.glob(
                    ["{}/{}.py".format(noun, area), "{}/{}_*.py".format(noun, area)],
                    allow_empty = True,
                ),
                deps = [_STRUCTURAL] + deps + ([":{}_checks".format(area)] if noun == "defects" else []),
            )
        python_program(
            name = "_{}_checker".format(area),
            main = "hardgate.kinds.structural",
            deps = [":{}_checks".format(area)],
            tags = ["manual"],
        )
        python_program(
            name = "_{}_counterexample_checker".format(area),
            main = "hardgate.kinds.structural",
            deps = [":{}_defects".format(area)],
            tags = ["manual"],
        )

def _structural_test(name, entry, counterexample, compatible):
    """One verdict action and the test that reads it, for a gate or one of its counterexamples."""
    sources = list(entry.get("sources") or [])
    tags = _gate_tags(entry)
    checker = ":_{}_checker".format(entry["area"])
    if counterexample:
        tags = _gate_tags(entry, ["counterexample"])
        checker = ":_{}_counterexample_checker".format(entry["area"])
        if counterexample.get("tree"):
            package = native.package_name() + "/"
            tree = counterexample["tree"].removeprefix(package)
            sources += native.glob([tree + "/**"], allow_empty = True)
    gate_verdict(
        name = name + ".verdict",
        checker = checker,
        counterexample = counterexample["name"] if counterexample else "",
        entry = ":{}/{}.entry".format(entry["area"], entry["slug"]),
        sources = sources,
        tags = ["manual"],
        target_compatible_with = compatible,
    )
    gate_test(
        name = name,
        arguments = ["--repeat", "bazel test //{}:{}".format(native.package_name(), name)],
        deps = [_VERDICT_TEST],
        main = "hardgate.kinds.verdict_test",
        size = "small",
        tags = tags,
        target_compatible_with = compatible,
        verdict = ":" + name + ".verdict",
    )

def _gate(index, entry):
    """The targets of one gate; returns their names."""
    name = "{}/{}".format(entry["area"], entry["slug"])
    compatible = pending_before(index.gates_package, entry["milestone"])
    pending = ["pending"] if entry["milestone"] > index.milestone else []
    gate_entry(
        name = name + ".entry",
        area = entry["area"],
        check = entry.get("check") or "",
        counterexamples = [one["name"] for one in entry.get("counterexamples") or []],
        declared_at = "{}:{}".format(entry["path"], entry["line"]),
        # Without its line: an entry that only moved is what its check has seen before.
        entry = json.encode(entry | {"line": 1}),
        gate_id = entry["id"],
        kind = entry["kind"],
        milestone = entry["milestone"],
        spec = entry.get("spec") or "",
        target = "//{}:{}".format(native.package_name(), name),
    )
    if entry["kind"] != "structural" or not entry.get("check"):
        reason = "no check is registered"
        if entry.get("check"):
            reason = "gates of kind {} have no runner in this version".format(entry["kind"])
        _refused(
            name,
            entry | {"rule": "gate.cannot_run", "message": reason},
            id = entry["id"],
            kind = entry["kind"],
            milestone = entry["milestone"],
            tags = _gate_tags(entry, pending),
            target_compatible_with = compatible,
        )
        return [name]
    names = [name]
    _structural_test(name, entry, None, compatible)
    for counterexample in entry.get("counterexamples") or []:
        twin = "{}.counterexample.{}".format(name, counterexample["name"])
        _structural_test(twin, entry, counterexample, compatible)
        names.append(twin)
    return names

def hardgate_gates(name, index, check_deps = {}):
    """Makes the targets of a workspace's gates; called once, in the BUILD file of the registry's folder.

    For each gate `<area>/<slug>` and `<area>/<slug>.counterexample.<name>`; the suites `m<N>` and `all`; `milestone` (the flag),
    `report` (run it) and `inventory` (build it). Each entry that can't be read is a failing target `invalid/<file>.<line>.<n>`.

    Args:
      name: string, the base name of the inventory's files.
      index: INDEX, loaded from the index.bzl of the repository that gates.declare makes.
      check_deps: dict of lists of labels: the Python libraries that an area's checks import besides Hardgate.
    """
    _check_index(index, "hardgate_gates")
    if native.package_name() != index.gates_package:
        fail("hardgate_gates belongs in {}/BUILD.bazel, the folder that gates.declare names; found {}".format(
            index.gates_package,
            native.package_name() or "the top folder",
        ))
    milestones = {index.milestone: True}
    for entry in index.gates + index.cases:
        milestones[entry["milestone"]] = True
    milestone_settings("milestone", index.milestone, sorted(milestones))
    areas = {entry["area"]: True for entry in index.gates}
    _area_libraries(areas, check_deps)
    by_milestone = {}
    for entry in index.gates:
        by_milestone.setdefault(entry["milestone"], []).extend(_gate(index, entry))
    for milestone, names in by_milestone.items():
        native.test_suite(name = "m{}".format(milestone), tests = names)
    everything = [one for names in by_milestone.values() for one in names]
    for fault in index.invalid:
        target = "invalid/" + fault["name"]
        _refused(target, fault, id = target, tags = ["gate", "invalid"])
        everything.append(target)
    if everything:
        native.test_suite(name = "all", tests = everything)
    gate_inventory(
        name = "inventory",
        entries = ["{}/{}.entry".format(entry["area"], entry["slug"]) for entry in index.gates],
    )
    python_program(
        name = "report",
        arguments = ["--gates", index.gates_package],
        deps = [_REPORT],
        main = "hardgate.report",
    )

def hardgate_cases(name, index, main, deps):
    """Makes the target `cases/<name>` of each case; called once, in the BUILD file of the cases' folder.

    Args:
      name: string, the name of the suite of all cases.
      index: INDEX, loaded from the index.bzl of the repository that gates.declare makes.
      main: string, the Python module that runs one case against the workspace's subject.
      deps: list of labels, the libraries that hold it.
    """
    _check_index(index, "hardgate_cases")
    if native.package_name() != index.evals_package:
        fail("hardgate_cases belongs in {}/BUILD.bazel, the folder that gates.declare names; found {}".format(
            index.evals_package,
            native.package_name() or "the top folder",
        ))
    names = []
    for case in index.cases:
        target = "cases/" + case["name"]
        pending = ["pending"] if case["milestone"] > index.milestone else []
        gate_test(
            name = target,
            arguments = [
                "--case",
                "{}/{}".format(index.evals_package, case["files"][0]),
                "--fixtures",
                index.evals_package + "/fixtures",
                "--milestone",
                str(case["milestone"]),
                "--repeat",
                "bazel test //{}:{}".format(index.evals_package, target),
            ],
            data = case["files"],
            deps = deps,
            main = main,
            size = "small",
            tags = _tags("case", case, ["kind:case"] + pending),
            target_compatible_with = pending_before(index.gates_package, case["milestone"]),
        )
        names.append(target)
    if names:
        native.test_suite(name = name, tests = names)
