"""The macros that make a target of each gate, counterexample and case of an index."""

load("@rules_python//python:defs.bzl", "py_library")
load(":inventory.bzl", "gate_inventory")
load(":milestone.bzl", "milestone_settings", "pending_before")
load(":python.bzl", "python_program")
load(":structural.bzl", "gate_entry", "gate_test", "gate_verdict")

_VERDICT_TEST = Label("//src:hardgate_verdict_test")
_CHECKING = Label("//src:hardgate_checking")
_STRUCTURAL = Label("//src:hardgate_structural")
_COMMAND_CASE = Label("//src:hardgate_command_case")
_COMMAND_MAIN = "hardgate.kinds.command_case"
_HYPOTHESIS = Label("@hardgate_pypi//hypothesis")
_REPORT = Label("//src:hardgate_report")

# The library of each ready check, `check: hardgate:<name>`. What a gate runs needs no other one.
_READY = "hardgate:"
_READY_CHECKS = {
    "committed_secrets": Label("//src:hardgate_secret_checks"),
    "forbidden_calls": Label("//src:hardgate_name_checks"),
    "forbidden_imports": Label("//src:hardgate_import_checks"),
    "import_layers": Label("//src:hardgate_import_checks"),
    "no_ambient_time": Label("//src:hardgate_name_checks"),
    "one_caller_only": Label("//src:hardgate_name_checks"),
}

_INDEX_FIELDS = ["cases", "corpora", "evals_package", "gates", "gates_package", "invalid", "milestone"]

def _check_index(index, needed):
    missing = [field for field in _INDEX_FIELDS if not hasattr(index, field)]
    if missing:
        found = "a " + type(index)
        if type(index) == "struct":
            found += " without " + ", ".join(missing)
        fail(("{} needs index = INDEX, loaded from the index.bzl of the repository that " +
              "gates.declare names; found {}").format(needed, found))

def _tags(noun, entry, more = []):
    # Off whatever the workspace's settings say; the process proves that it is.
    return [noun, "milestone:{}".format(entry["milestone"]), "block-network"] + more

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
    """The checks and defects of each area as libraries, and the two programs that run them.

    Args:
      areas: dict of lists of strings: the kinds of each area's gates.
      check_deps: dict of lists of labels, as in hardgate_gates.
    """
    for area in check_deps:
        if area not in areas:
            fail("check_deps names the area '{}', which has no gates; found areas: {}".format(
                area,
                ", ".join(sorted(areas)),
            ))
    for area, kinds in areas.items():
        # All kinds of an area share its module, which imports what its properties are made of.
        deps = check_deps.get(area, []) + ([_HYPOTHESIS] if "property" in kinds else [])
        for noun in ["checks", "defects"]:
            py_library(
                name = "{}_{}".format(area, noun),
                srcs = native.glob(
                    ["{}/{}.py".format(noun, area), "{}/{}_*.py".format(noun, area)],
                    allow_empty = True,
                ),
                deps = [_CHECKING] + deps + ([":{}_checks".format(area)] if noun == "defects" else []),
            )
        python_program(
            name = "_{}_checker".format(area),
            main = "hardgate.kinds.structural",
            deps = [":{}_checks".format(area), _STRUCTURAL],
            tags = ["manual"],
        )
        python_program(
            name = "_{}_counterexample_checker".format(area),
            main = "hardgate.kinds.structural",
            deps = [":{}_defects".format(area), _STRUCTURAL],
            tags = ["manual"],
        )

def _sources(entry, counterexample, more = []):
    """The files that a gate's check reads, with the tree of files that a counterexample lays over them."""
    sources = list(entry.get("sources") or []) + more
    if counterexample and counterexample.get("tree"):
        tree = counterexample["tree"].removeprefix(native.package_name() + "/")
        sources += native.glob([tree + "/**"], allow_empty = True)
    return sources

def _structural_test(index, name, entry, counterexample, attributes):
    """One verdict action and the test that reads it."""
    gate_verdict(
        name = name + ".verdict",
        checker = _checker(entry, counterexample),
        counterexample = counterexample["name"] if counterexample else "",
        entry = ":{}/{}.entry".format(entry["area"], entry["slug"]),
        sources = _sources(entry, counterexample),
        tags = ["manual"],
        target_compatible_with = attributes["target_compatible_with"],
    )
    gate_test(
        name = name,
        arguments = ["--repeat", _repeat(name)],
        deps = [_VERDICT_TEST],
        main = "hardgate.kinds.verdict_test",
        size = "small",
        verdict = ":" + name + ".verdict",
        **attributes
    )

def _checker(entry, counterexample):
    """The program that runs a structural gate's check, with the defects of its area where it needs them."""
    check = entry["check"]
    if not check.startswith(_READY):
        return ":_{}_{}".format(entry["area"], "counterexample_checker" if counterexample else "checker")
    library = _READY_CHECKS[check.removeprefix(_READY)]
    if counterexample and not counterexample.get("tree"):
        return _ready_checker("{}_{}_counterexample".format(entry["area"], library.name), [
            library,
            ":{}_defects".format(entry["area"]),
        ])
    return _ready_checker(library.name, [library])

def _ready_checker(stem, deps):
    """The program that runs ready checks, made where the first gate needs it."""
    name = "_{}_checker".format(stem)
    if not native.existing_rule(name):
        python_program(
            name = name,
            main = "hardgate.kinds.structural",
            deps = deps + [_STRUCTURAL],
            tags = ["manual"],
        )
    return ":" + name

def _repeat(name):
    return "bazel test //{}:{}".format(native.package_name(), name)

def _process_test(index, name, entry, counterexample, attributes):
    """A gate of the kinds property and corpus: its check runs in the test's own process."""
    corpus = []
    if entry.get("corpus"):
        folder = entry["corpus"].removeprefix(index.evals_package + "/")
        corpus = ["//{}:{}.members".format(index.evals_package, folder)]
    gate_test(
        name = name,
        size = "medium",
        arguments = ["--repeat", _repeat(name)] + _named(counterexample),
        deps = [_code(entry, counterexample)],
        entry = _entry_label(entry),
        main = "hardgate.kinds." + entry["kind"],
        sources = _sources(entry, counterexample, corpus),
        **attributes
    )

def _case_test(index, name, entry, counterexample, attributes):
    """A gate of the kind case: the run of a case, judged as the gate."""
    case = entry["check"].removeprefix("case:")
    found = _case_of(index, entry)
    command = _starts_agent(found, index.case_main)
    agent = _agent_of(found, index.agent, index.agents)
    if counterexample and counterexample.get("agent"):
        agent = index.broken_agents.get(counterexample["agent"])
        fault = None
        if not command:
            fault = "it names an agent, but the case '{}' starts none".format(case)
        elif not agent:
            fault = "it names the agent '{}'; broken_agents has: {}".format(
                counterexample["agent"],
                ", ".join(sorted(index.broken_agents)) or "none",
            )
        if fault:
            _refused(
                name,
                entry | {"rule": "gate.cannot_run", "message": "counterexample {}: {}".format(counterexample["name"], fault)},
                id = entry["id"],
                kind = entry["kind"],
                milestone = entry["milestone"],
                **attributes
            )
            return
    gate_test(
        name = name,
        # An agent may take its time: see the limits of a case's subject.
        size = "medium" if command else "small",
        agent = agent if command else None,
        agent_name = found["agent"],
        arguments = ["--case-name", case, "--repeat", _repeat(name)] + _named(counterexample),
        deps = [_code(entry, counterexample, "command" if command else "case")] +
               (index.case_worker_deps if found["kills_workers"] and not command else []),
        entry = _entry_label(entry),
        main = _COMMAND_MAIN if command else index.case_main,
        sources = _sources(
            entry,
            counterexample,
            ["//{}:cases/{}.files".format(index.evals_package, case)] + index.case_data,
        ),
        **attributes
    )

def _case_of(index, entry):
    """The case behind a gate of the kind case; None where there is none of this name."""
    name = entry["check"].removeprefix("case:")
    found = [case for case in index.cases if case["name"] == name]
    return found[0] if found else None

def _starts_agent(case, main):
    """Whether a case is a process of an agent: it says so, or there is nothing else to run it."""
    return case["command"] or not main

def _agent_of(case, agent, agents):
    """The program that a case starts; None where there is none of the name that it says."""
    return agents.get(case["agent"]) if case["agent"] else agent

def _unknown_agent(case, agents):
    """Why there is no agent for a case; None where there is one, or none is needed."""
    if not case["agent"] or case["agent"] in agents:
        return None
    return "found subject.agent '{}'; agents has: {}".format(
        case["agent"],
        ", ".join(sorted(agents)) or "none",
    )

def _code(entry, counterexample, kind = None):
    """The library with everything that a gate of these kinds runs, or its twin."""
    return ":_{}_{}_{}".format(entry["area"], kind or entry["kind"], "twins" if counterexample else "gates")

def _code_libraries(index, areas):
    """One library for all gates of an area and kind: its archive is made once, and not for each of them."""
    for area, kinds in areas.items():
        for kind in kinds:
            if kind == "structural":
                continue
            gates = [":{}_checks".format(area), Label("//src:hardgate_" + kind)]
            twins = [":{}_defects".format(area), Label("//src:hardgate_" + kind)]
            if kind == "case":
                gates = index.case_deps + [Label("//src:hardgate_case_gate")]
                twins = gates + [":{}_defects".format(area)]
                commands = [_COMMAND_CASE]
                py_library(name = "_{}_command_gates".format(area), deps = commands)
                py_library(
                    name = "_{}_command_twins".format(area),
                    deps = commands + [":{}_defects".format(area)],
                )
            py_library(name = "_{}_{}_gates".format(area, kind), deps = gates)
            py_library(name = "_{}_{}_twins".format(area, kind), deps = twins)

def _named(counterexample):
    return ["--counterexample", counterexample["name"]] if counterexample else []

def _entry_label(entry):
    return ":{}/{}.entry".format(entry["area"], entry["slug"])

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
    fault = _fault(index, entry)
    if fault:
        _refused(
            name,
            entry | {"rule": "gate.cannot_run", "message": fault},
            id = entry["id"],
            kind = entry["kind"],
            milestone = entry["milestone"],
            tags = _gate_tags(entry, pending),
            target_compatible_with = compatible,
        )
        return [name]
    names = [name]
    make = _MAKERS[entry["kind"]]
    make(index, name, entry, None, {
        "tags": _gate_tags(entry, pending),
        "target_compatible_with": compatible,
    })
    for counterexample in entry.get("counterexamples") or []:
        twin = "{}.counterexample.{}".format(name, counterexample["name"])
        make(index, twin, entry, counterexample, {
            "tags": _gate_tags(entry, pending + ["counterexample"]),
            "target_compatible_with": compatible,
        })
        names.append(twin)
    return names

def _with_cases(index, **attributes):
    fields = {field: getattr(index, field) for field in _INDEX_FIELDS}
    return struct(**(fields | attributes))

_MAKERS = {
    "case": _case_test,
    "corpus": _process_test,
    "property": _process_test,
    "structural": _structural_test,
}

def _fault(index, entry):
    """Why a gate has nothing to run; None where it has."""
    check = entry.get("check")
    if not check:
        return "no check is registered"
    if check.startswith(_READY):
        name = check.removeprefix(_READY)
        if entry["kind"] == "structural" and name in _READY_CHECKS:
            return None
        return "its check names the ready check '{}'; allowed, for the kind structural: {}".format(
            name,
            ", ".join(_READY_CHECKS),
        )
    if entry["kind"] != "case":
        return None
    case = _case_of(index, entry)
    if not case:
        name = entry["check"].removeprefix("case:")
        return "its check names the case '{}', which is not among {}/cases".format(name, index.evals_package)
    if not case["command"] and not index.case_main and not index.agent:
        return "hardgate_gates has neither case_main nor agent, so the case of this gate can't run"
    return _unknown_agent(case, index.agents)

def hardgate_gates(
        name,
        index,
        check_deps = {},
        case_main = None,
        case_deps = [],
        case_worker_deps = [],
        case_data = [],
        agent = None,
        agents = {},
        broken_agents = {}):
    """Makes the targets of a workspace's gates; called once, in the BUILD file of the registry's folder.

    For each gate `<area>/<slug>` and `<area>/<slug>.counterexample.<name>`; the suites `m<N>` and `all`; `milestone` (the flag),
    `report` (run it) and `inventory` (build it). Each entry that can't be read is a failing target `invalid/<file>.<line>.<n>`.

    Args:
      name: string; macros have one, though no target carries it.
      index: INDEX, loaded from the index.bzl of the repository that gates.declare makes.
      check_deps: dict of lists of labels: the Python libraries that an area's checks import besides Hardgate.
      case_main: string, the Python module that runs one case in its process, as in hardgate_cases.
      case_deps: list of labels, the libraries that hold it.
      case_worker_deps: list of labels, what cases that kill workers need on top, as in hardgate_cases.
      case_data: list of labels, the files that every case reads, as in hardgate_cases.
      agent: label, the agent that cases start, as in hardgate_cases.
      agents: dict of labels, more agents by the names that cases use, as in hardgate_cases.
      broken_agents: dict of labels: the agents that counterexamples name in `agent`.
    """
    _check_index(index, "hardgate_gates")
    index = _with_cases(
        index,
        agent = agent,
        agents = agents,
        broken_agents = broken_agents,
        case_data = case_data,
        case_deps = case_deps,
        case_main = case_main,
        case_worker_deps = case_worker_deps,
    )
    if native.package_name() != index.gates_package:
        fail("hardgate_gates belongs in {}/BUILD.bazel, the folder that gates.declare names; found {}".format(
            index.gates_package,
            native.package_name() or "the top folder",
        ))
    milestones = {index.milestone: True}
    for entry in index.gates + index.cases:
        milestones[entry["milestone"]] = True
    milestone_settings("milestone", index.milestone, sorted(milestones))
    areas = {}
    for entry in index.gates:
        kinds = areas.setdefault(entry["area"], [])
        if entry["kind"] not in kinds:
            kinds.append(entry["kind"])
    _area_libraries(areas, check_deps)
    _code_libraries(index, areas)
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

def hardgate_cases(name, index, main = None, deps = [], worker_deps = [], data = [], agent = None, agents = {}):
    """Makes the target `cases/<name>` of each case; called once, in the BUILD file of the cases' folder.

    Args:
      name: string, the name of the suite of all cases.
      index: INDEX, loaded from the index.bzl of the repository that gates.declare makes.
      main: string, the Python module that runs one case in its process, for cases without `subject`; without it, those start `agent`.
      deps: list of labels, the libraries that hold it.
      worker_deps: list of labels, what cases that kill workers need on top.
      data: list of labels, the files that every case reads besides its own, such as policy profiles.
      agent: label, the agent that cases start: an executable in any language.
      agents: dict of labels, more agents by the names that cases use in `subject.agent`.
    """
    _check_index(index, "hardgate_cases")
    if not main and not agent and not agents:
        fail("hardgate_cases needs main, agent or agents: something that cases run against")
    if native.package_name() != index.evals_package:
        fail("hardgate_cases belongs in {}/BUILD.bazel, the folder that gates.declare names; found {}".format(
            index.evals_package,
            native.package_name() or "the top folder",
        ))
    names = []
    for corpus in index.corpora:
        native.filegroup(
            name = corpus + ".members",
            srcs = native.glob([corpus + "/**"], allow_empty = True),
            # Read by the gates, whose package it may not know.
            visibility = ["//{}:__pkg__".format(index.gates_package)],
        )
    for case in index.cases:
        target = "cases/" + case["name"]
        native.filegroup(
            name = target + ".files",
            srcs = case["files"],
            visibility = ["//{}:__pkg__".format(index.gates_package)],
        )
        pending = ["pending"] if case["milestone"] > index.milestone else []
        attributes = {
            "tags": _tags("case", case, ["kind:case"] + pending),
            "target_compatible_with": pending_before(index.gates_package, case["milestone"]),
        }
        names.append(target)
        unknown = _unknown_agent(case, agents)
        if unknown:
            fault = {"path": case["path"], "line": case["line"], "rule": "case.agent", "message": unknown}
            _refused(target, fault, id = "case." + case["name"], kind = "case", milestone = case["milestone"], **attributes)
            continue
        command = _starts_agent(case, main)
        gate_test(
            name = target,
            agent = _agent_of(case, agent, agents) if command else None,
            agent_name = case["agent"],
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
            data = case["files"] + data,
            deps = [_COMMAND_CASE] if command else deps + (worker_deps if case["kills_workers"] else []),
            main = _COMMAND_MAIN if command else main,
            size = "medium" if command else "small",
            **attributes
        )
    if names:
        native.test_suite(name = name, tests = names)
