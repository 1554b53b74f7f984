"""Reads a workspace's registry and cases and writes them as a Starlark value for BUILD files.

It runs in a repository rule, before any target exists, with whatever python3 (3.9 or newer) the
machine has. Only what decides a target's name, tags and inputs is looked at; `hardgate lint` and
the gates check everything else.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import re
import sys

KINDS = ("case", "corpus", "property", "structural")
WORD = re.compile(r"[a-z][a-z0-9_]*")
GATE_ID = re.compile(r"gate\.[a-z][a-z0-9_]*\.[a-z][a-z0-9_]*")
LABEL = re.compile(r"(?:@@?[A-Za-z0-9._+~-]*)?//([A-Za-z0-9._/+~-]*)(?::([A-Za-z0-9._/+=,@~-]+))?")
FOLDER = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*(?:/[A-Za-z0-9_][A-Za-z0-9_.-]*)*")
LARGEST_MILESTONE = 99
ONE_NAME = "a lowercase letter, then lowercase letters, digits and underscores"


def is_label(text):
    """Would Bazel read the text as a label from the top of a repository?"""
    match = LABEL.fullmatch(text) if isinstance(text, str) else None
    if not match:
        return False
    package, name = match.groups()
    parts = (package.split("/") if package else []) + (name or "x").split("/")
    return bool(package or name) and not {"", ".", ".."}.intersection(parts)


def milestone_faults(value):
    """Yields what is wrong with an entry's milestone."""
    from hardgate.documents.wording import shown

    if type(value) is not int or not 0 <= value <= LARGEST_MILESTONE:
        message = "found milestone {}; allowed: a whole number from 0 to {}"
        message = message.format(shown(value), LARGEST_MILESTONE)
        yield ("milestone",), "schema.range", message


def source_faults(sources):
    """Yields what is wrong with the labels of the files that a gate reads."""
    from hardgate.documents.wording import shown

    if not isinstance(sources, list):
        message = f"found {shown(sources)}; allowed: a list of Bazel labels"
        yield ("sources",), "schema.type", message
        return
    for number, label in enumerate(sources):
        if not is_label(label) or label in sources[:number]:
            message = "found {}; allowed: a Bazel label such as //src:sources, each one once"
            yield ("sources", number), "label_malformed", message.format(shown(label))


def corpus_faults(corpus, folder):
    """Yields what is wrong with the folder of a corpus; all corpora are in `folder`."""
    from hardgate.documents.wording import shown

    inside = isinstance(corpus, str) and corpus.startswith(folder)
    if not inside or not FOLDER.fullmatch(corpus[len(folder) :]):
        message = f"found corpus {shown(corpus)}; allowed: a folder such as {folder}name"
        yield ("corpus",), "corpus_malformed", message


def counterexample_faults(counterexamples, folder):
    """Yields what is wrong with the names, trees and agents of counterexamples.

    Trees are in `folder`.
    """
    from hardgate.documents.wording import shown

    if not isinstance(counterexamples, list):
        message = f"found {shown(counterexamples)}; allowed: a list of counterexamples"
        yield ("counterexamples",), "schema.type", message
        return
    names = set()
    for number, counterexample in enumerate(counterexamples):
        here = ("counterexamples", number)
        if not isinstance(counterexample, dict):
            message = f"found {shown(counterexample)}; allowed: a map with name and reason"
            yield here, "schema.type", message
            continue
        name, tree = counterexample.get("name"), counterexample.get("tree")
        agent = counterexample.get("agent")
        if not isinstance(name, str) or not WORD.fullmatch(name):
            message = f"found {shown(name)}; allowed: {ONE_NAME}"
            yield (*here, "name"), "name_malformed", message
            continue
        if name in names:
            message = f"found {shown(name)} again; allowed: each name once in a gate"
            yield (*here, "name"), "counterexample_duplicate", message
        names.add(name)
        if tree is not None and tree != folder + name:
            message = f"found {shown(tree)}; allowed: {folder}{name}"
            yield (*here, "tree"), "tree_malformed", message
        if agent is not None and not (isinstance(agent, str) and WORD.fullmatch(agent)):
            message = f"found {shown(agent)}; allowed: {ONE_NAME}"
            yield (*here, "agent"), "name_malformed", message


def command_agent(case):
    """Returns the name of the agent that a case starts; "" where it names none."""
    subject = case.get("subject")
    agent = subject.get("agent") if isinstance(subject, dict) else None
    return agent if isinstance(agent, str) else ""


def kills_workers(case):
    """Does a case have a worker process killed?"""
    interventions = case.get("interventions")
    actions = [
        one.get("action")
        for one in (interventions if isinstance(interventions, list) else [])
        if isinstance(one, dict)
    ]
    return "kill_worker" in actions


class Index:
    """Collects gates, cases and problems of one workspace."""

    def __init__(self, root, gates, evals):
        self.root, self.gates_folder, self.evals_folder = pathlib.Path(root), gates, evals
        self.gates, self.cases, self.invalid = [], [], []
        self.seen = {}

    def problem(self, path, line, column, rule, message):
        """Records a problem; each one becomes a failing target."""
        path = path.encode("utf-8", "backslashreplace").decode("utf-8")
        stem = re.sub(r"[^A-Za-z0-9_.-]", "_", pathlib.PurePath(path).stem)
        name = f"{stem}.{line}.{len(self.invalid) + 1}"
        place = f"{message} ({path}:{line}:{column})"
        self.invalid.append(
            {"name": name, "path": path, "line": line, "rule": rule, "message": place}
        )

    def load(self, file):
        """Returns the Document of a YAML file, or None after recording why there is none."""
        from hardgate.documents.problems import DefinitionError
        from hardgate.documents.strict_yaml import load

        path = file.relative_to(self.root).as_posix()
        try:
            return load(path, file.read_bytes())
        except DefinitionError as error:
            for problem in error.problems:
                self.problem(path, problem.line, problem.column, problem.rule, problem.message)
        except OSError as error:
            self.problem(path, 1, 1, "file.unreadable", error.strerror or str(error))
        return None

    def files(self, folder, rule, allowed, accept):
        """Returns the YAML files of a folder; records those that would be left out in silence."""
        from hardgate.documents.wording import quoted

        found = []
        for file in sorted(folder.glob("*")):
            if file.suffix.lower() not in (".yaml", ".yml"):
                continue
            if file.suffix == ".yaml" and accept(file.stem):
                found.append(file)
                continue
            message = f"found the file name {quoted(file.name)}; allowed: {allowed}"
            self.problem(file.relative_to(self.root).as_posix(), 1, 1, rule, message)
        return found

    def gate_faults(self, document, area, entry):
        """Yields (keys, rule, message) of what keeps an entry from becoming a target."""
        from hardgate.documents.wording import choices, did_you_mean, shown

        if not isinstance(entry, dict):
            yield (), "schema.type", f"found {shown(entry)}; allowed: a gate entry (a map)"
            return
        identity, kind = entry.get("id"), entry.get("kind")
        if not isinstance(identity, str) or not GATE_ID.fullmatch(identity):
            message = "found id {}; allowed: gate.{}.<slug>, the slug being {}"
            yield ("id",), "id_malformed", message.format(shown(identity), area, ONE_NAME)
        elif identity.split(".")[1] != area:
            message = "found {} in {}; allowed: gate.{}.<slug>, the area being the stem of the file"
            message = message.format(shown(identity), document.path, area)
            yield ("id",), "id_area_mismatch", message
        elif identity in self.seen:
            message = "found {} again, first at {}; allowed: each id once"
            yield ("id",), "id_duplicate", message.format(shown(identity), self.seen[identity])
        yield from milestone_faults(entry.get("milestone"))
        if kind not in KINDS:
            hint = did_you_mean(kind, KINDS) if isinstance(kind, str) else ""
            message = f"found kind {shown(kind)}; allowed: {choices(KINDS)}"
            yield ("kind",), "schema.value", message + hint
        for key in ("check", "spec"):
            if not isinstance(entry.get(key), (str, type(None))):
                message = f"found {shown(entry[key])}; allowed: a text"
                yield (key,), "schema.type", message
        if not isinstance(entry.get("options"), (dict, type(None))):
            message = f"found {shown(entry['options'])}; allowed: a map"
            yield ("options",), "schema.type", message
        if kind == "corpus":
            yield from corpus_faults(entry.get("corpus"), self.evals_folder + "/corpora/")
        yield from source_faults(entry.get("sources", []))
        trees = f"{self.gates_folder}/defects/{area}/"
        yield from counterexample_faults(entry.get("counterexamples", []), trees)

    def read_gates(self):
        """Reads every area's file."""
        folder = self.root / self.gates_folder
        allowed = "<area>.yaml (a-z, 0-9, _)"
        for file in self.files(folder, "registry_file_name", allowed, WORD.fullmatch):
            document = None if file.stem == "retired" else self.load(file)
            if not document:
                continue
            if not isinstance(document.value, list):
                message = "found something else; allowed: a list of gate entries"
                self.problem(document.path, *document.position(), "schema.type", message)
                continue
            for number, entry in enumerate(document.value):
                faults = list(self.gate_faults(document, file.stem, entry))
                for keys, rule, message in faults:
                    place = document.position((number, *keys))
                    self.problem(document.path, *place, rule, message)
                if not faults:
                    self.add_gate(document, number, entry)

    def add_gate(self, document, number, entry):
        """Adds a sound entry."""
        line, column = document.position((number,))
        self.seen[entry["id"]] = f"{document.path}:{line}:{column}"
        area, slug = entry["id"].split(".")[1:]
        self.gates.append(dict(entry, area=area, slug=slug, path=document.path, line=line))

    def case_faults(self, case):
        """Yields (keys, rule, message) of what keeps a case from becoming a target."""
        from hardgate.documents.wording import shown

        if not isinstance(case, dict):
            yield (), "schema.type", f"found {shown(case)}; allowed: a case (a map)"
            return
        name = case.get("name")
        if not isinstance(name, str) or not WORD.fullmatch(name):
            message = f"found case name {shown(name)}; allowed: {ONE_NAME}"
            yield ("name",), "name_malformed", message
        elif ("case", name) in self.seen:
            message = "found case name {} again, first in {}; allowed: each name once"
            message = message.format(shown(name), self.seen["case", name])
            yield ("name",), "case_duplicate", message
        yield from milestone_faults(case.get("milestone"))
        agent = command_agent(case)
        if agent and not WORD.fullmatch(agent):
            message = f"found {shown(agent)}; allowed: {ONE_NAME}"
            yield ("subject", "agent"), "name_malformed", message

    def read_cases(self):
        """Reads every case's file."""
        folder = self.root / self.evals_folder / "cases"
        for file in self.files(folder, "case_file_name", "<name>.yaml", bool):
            document = self.load(file)
            if not document:
                continue
            faults = list(self.case_faults(document.value))
            for keys, rule, message in faults:
                self.problem(document.path, *document.position(keys), rule, message)
            if not faults:
                name = document.value["name"]
                self.seen["case", name] = document.path
                files = self.case_files(file, document.value)
                milestone = document.value["milestone"]
                self.cases.append(
                    {
                        "name": name,
                        "milestone": milestone,
                        "files": files,
                        "path": document.path,
                        "line": document.position(("subject",))[0],
                        "command": "subject" in document.value,
                        "agent": command_agent(document.value),
                        "kills_workers": kills_workers(document.value),
                    }
                )

    def case_files(self, file, case):
        """Returns the files a case reads, relative to the folder of the cases' package."""
        package = self.root / self.evals_folder
        arms = case.get("arms")
        found = [file]
        for one in [case] + (arms if isinstance(arms, list) else []):
            found += self.fixtures(package / "fixtures", one)
        paths = (each.relative_to(package).as_posix() for each in found)
        return list(dict.fromkeys(paths))

    def fixtures(self, folder, case):
        """Yields the fixture files that a case or an arm of one names, as far as they exist."""
        if not isinstance(case, dict):
            return
        named = case.get("fixtures")
        named = named if isinstance(named, dict) else {}
        servers = named.get("mcp_servers")
        for kind, stem in (
            ("models", case.get("model_fixture")),
            ("tools", named.get("tool_results")),
            ("judges", named.get("judge")),
            *(("mcp", each) for each in (servers if isinstance(servers, list) else [])),
            ("workspaces", named.get("workspace")),
        ):
            if not isinstance(stem, str) or not WORD.fullmatch(stem):
                continue
            one = folder / kind / (stem + ".yaml")
            within = sorted((folder / kind / stem).rglob("*")) if kind == "workspaces" else [one]
            yield from (each for each in within if each.is_file())

    def corpora(self):
        """Returns the folders of members that gates read, below the folder of the cases."""
        start = len(self.evals_folder) + 1
        return sorted({gate["corpus"][start:] for gate in self.gates if gate["kind"] == "corpus"})

    def milestone(self):
        """Returns the repository's checked-in milestone; 0 for one that has no such file yet."""
        from hardgate.documents.wording import shown

        path = self.gates_folder + "/MILESTONE"
        try:
            text = (self.root / path).read_bytes().decode("utf-8", "replace")
        except FileNotFoundError:
            return 0
        except OSError as error:
            self.problem(path, 1, 1, "milestone_file", f"cannot be read: {error.strerror}")
            return 0
        if not re.fullmatch(r"(0|[1-9][0-9]?)\n?", text):
            message = "found {}; allowed: one whole number from 0 to {}"
            message = message.format(shown(text), LARGEST_MILESTONE)
            self.problem(path, 1, 1, "milestone_file", message)
            return 0
        return int(text)


def starlark(value):
    """Returns a value as a Starlark expression, one list element a line."""
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return "[\n" + "".join(f"    {starlark(one)},\n" for one in value) + "]"
    if isinstance(value, dict):
        pairs = (f"{starlark(k)}: {starlark(value[k])}" for k in sorted(value))
        return "{" + ", ".join(pairs) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(starlark(one) for one in value) + "]"
    if value is None or isinstance(value, bool):
        return repr(value)
    return json.dumps(value, ensure_ascii=False)


def main():
    """Writes the index of the workspace named on the command line."""
    parser = argparse.ArgumentParser()
    for name in ("source", "yaml", "root", "gates", "evals", "out"):
        parser.add_argument("--" + name, required=True)
    options = parser.parse_args()
    sys.path[:0] = [options.source, options.yaml]
    index = Index(options.root, options.gates, options.evals)
    index.read_gates()
    index.read_cases()
    fields = {
        "milestone": index.milestone(),
        "gates_package": options.gates,
        "evals_package": options.evals,
        "gates": index.gates,
        "cases": index.cases,
        "corpora": index.corpora(),
        "invalid": index.invalid,
    }
    lines = [f"    {name} = {starlark(value)},\n" for name, value in fields.items()]
    pathlib.Path(options.out).write_text("INDEX = struct(\n" + "".join(lines) + ")\n", "utf-8")


if __name__ == "__main__":
    main()
