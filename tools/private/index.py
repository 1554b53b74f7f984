"""Reads a workspace's registry and cases and prints them as a Starlark list for BUILD files.

It runs in a repository rule, before any target exists, with whatever python3 (3.9 or newer) the
machine has; PyYAML comes from the one hash-locked line of the requirements. Only what decides a
target's name, tags and inputs is looked at; `hardgate lint` and the gates check everything else.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import re
import subprocess
import sys

KINDS = ("case", "corpus", "property", "structural")
SLUG = re.compile(r"[a-z][a-z0-9_]*")
LARGEST_MILESTONE = 99


def install_yaml(lock, folder):
    """Installs the locked PyYAML into a folder and puts it on the import path.

    Raises SystemExit with pip's message when that fails.
    """
    lines = pathlib.Path(lock).read_text("utf-8").split("\n")
    start = next(i for i, line in enumerate(lines) if line.startswith("pyyaml=="))
    stop = start
    while lines[stop].endswith("\\"):
        stop += 1
    folder.mkdir(exist_ok=True)
    requirement = folder / "pyyaml.lock"
    requirement.write_text("\n".join(lines[start : stop + 1]) + "\n")
    pip = [sys.executable, "-I", "-m", "pip", "install", "--quiet", "--no-deps", "--require-hashes"]
    pip += ["--disable-pip-version-check", "--target", str(folder), "--requirement", str(requirement)]
    done = subprocess.run(pip, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit("installing PyYAML failed; is a Python package index reachable?\n" + done.stderr)
    sys.path.insert(0, str(folder))


class Index:
    """Collects gates, cases and problems of one workspace."""

    def __init__(self, root, gates, evals):
        self.root, self.gates_folder, self.evals_folder = pathlib.Path(root), gates, evals
        self.gates, self.cases, self.invalid = [], [], []
        self.seen = {}

    def problem(self, path, line, column, rule, message):
        """Records a problem; each one becomes a failing target."""
        stem = pathlib.PurePath(path).stem
        name = "{}.{}.{}".format(stem, line, len(self.invalid) + 1)
        place = "column {}: {}".format(column, message)
        self.invalid.append(
            {"name": name, "path": path, "line": line, "rule": rule, "message": place}
        )

    def load(self, file):
        """Returns (path, value, position lookup) of a YAML file, or None after recording why not."""
        from hardgate.documents.problems import DefinitionError
        from hardgate.documents.strict_yaml import load

        path = file.relative_to(self.root).as_posix()
        try:
            document = load(path, file.read_bytes())
        except DefinitionError as error:
            for problem in error.problems:
                self.problem(path, problem.line, problem.column, problem.rule, problem.message)
            return None
        except OSError as error:
            self.problem(path, 1, 1, "file.unreadable", error.strerror or str(error))
            return None
        return path, document.value, lambda *keys: document.position(keys)

    def entry_fault(self, area, entry):
        """Returns (key, rule, message) of what keeps an entry from becoming a target, or None."""
        if not isinstance(entry, dict):
            return (), "registry.entry_type", "an entry is a map of keys; see docs/reference/schemas"
        identity = entry.get("id")
        expected = "gate.{}.".format(area)
        if not isinstance(identity, str) or not identity.startswith(expected):
            message = "found id {!r}; allowed: {}<slug>, the file's name being the area"
            return ("id",), "registry.id", message.format(identity, expected)
        if not SLUG.fullmatch(identity[len(expected) :]):
            message = "found {!r}; allowed: a lowercase letter, then letters, digits and underscores"
            return ("id",), "registry.id", message.format(identity)
        if identity in self.seen:
            message = "{} is declared twice; the first is at {}"
            return ("id",), "registry.duplicate_id", message.format(identity, self.seen[identity])
        milestone = entry.get("milestone")
        if type(milestone) is not int or not 0 <= milestone <= LARGEST_MILESTONE:
            message = "found milestone {!r}; allowed: an integer from 0 to {}"
            rule = "registry.milestone"
            return ("milestone",), rule, message.format(milestone, LARGEST_MILESTONE)
        if entry.get("kind") not in KINDS:
            message = "found kind {!r}; allowed: {}"
            return ("kind",), "registry.kind", message.format(entry.get("kind"), ", ".join(KINDS))
        return self.list_fault(entry)

    @staticmethod
    def list_fault(entry):
        """Returns the fault of an entry's sources or counterexamples, or None."""
        sources = entry.get("sources") or []
        if not isinstance(sources, list) or not all(isinstance(label, str) for label in sources):
            return ("sources",), "registry.sources", "allowed: a list of Bazel labels"
        names = set()
        for counterexample in entry.get("counterexamples") or []:
            name = counterexample.get("name") if isinstance(counterexample, dict) else None
            if not isinstance(name, str) or not SLUG.fullmatch(name) or name in names:
                message = "found name {!r}; allowed: a name of its own, like a function's"
                return ("counterexamples",), "registry.counterexample", message.format(name)
            names.add(name)
        return None

    def read_gates(self):
        """Reads every area's file."""
        for file in sorted((self.root / self.gates_folder).glob("*.yaml")):
            if file.stem == "retired":
                continue
            loaded = self.load(file)
            if not loaded:
                continue
            path, entries, position = loaded
            if not isinstance(entries, list):
                self.problem(path, 1, 1, "registry.not_a_list", "allowed: a list of gate entries")
                continue
            for number, entry in enumerate(entries):
                fault = self.entry_fault(file.stem, entry)
                if fault:
                    key, rule, message = fault
                    self.problem(path, *position(number, *key), rule, message)
                    continue
                line, column = position(number)
                self.seen[entry["id"]] = "{}:{}:{}".format(path, line, column)
                area, slug = entry["id"].split(".")[1:]
                where = {"area": area, "slug": slug, "path": path, "line": line}
                self.gates.append(dict(entry, **where))

    def read_cases(self):
        """Reads every case's file."""
        for file in sorted((self.root / self.evals_folder / "cases").glob("*.yaml")):
            loaded = self.load(file)
            if not loaded:
                continue
            path, case, position = loaded
            name = case.get("name") if isinstance(case, dict) else None
            if not isinstance(name, str) or not SLUG.fullmatch(name) or ("case", name) in self.seen:
                message = "found case name {!r}; allowed: a name of its own in snake case"
                self.problem(path, *position(), "case.name", message.format(name))
                continue
            milestone = case.get("milestone")
            if type(milestone) is not int or not 0 <= milestone <= LARGEST_MILESTONE:
                message = "found milestone {!r}; allowed: an integer from 0 to {}"
                message = message.format(milestone, LARGEST_MILESTONE)
                self.problem(path, *position("milestone"), "case.milestone", message)
                continue
            self.seen["case", name] = path
            self.cases.append(
                {"name": name, "milestone": milestone, "files": self.case_files(file, case)}
            )

    def case_files(self, file, case):
        """Returns the files a case reads, relative to the folder of the cases' package."""
        package = self.root / self.evals_folder
        files = [file.relative_to(package).as_posix()]
        stem = case.get("model_fixture")
        if isinstance(stem, str) and SLUG.fullmatch(stem):
            fixture = package / "fixtures" / "models" / (stem + ".yaml")
            if fixture.is_file():
                files.append(fixture.relative_to(package).as_posix())
        return files

    def milestone(self):
        """Returns the repository's checked-in milestone."""
        path = self.gates_folder + "/MILESTONE"
        try:
            text = (self.root / path).read_text("utf-8").strip()
        except (OSError, UnicodeDecodeError):
            text = ""
        if not re.fullmatch(r"[0-9]{1,2}", text):
            message = "found {!r}; allowed: one integer from 0 to {}"
            message = message.format(text[:20], LARGEST_MILESTONE)
            self.problem(path, 1, 1, "registry.repository_milestone", message)
            return 0
        return int(text)


def starlark(value):
    """Returns a value as a Starlark expression, one list element a line."""
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return "[\n" + "".join("    {},\n".format(starlark(one)) for one in value) + "]"
    if isinstance(value, dict):
        pairs = ("{}: {}".format(starlark(k), starlark(value[k])) for k in sorted(value))
        return "{" + ", ".join(pairs) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(starlark(one) for one in value) + "]"
    if value is None or isinstance(value, bool):
        return repr(value)
    return json.dumps(value, ensure_ascii=False)


def main():
    """Prints the index of the workspace named on the command line."""
    parser = argparse.ArgumentParser()
    for name in ("source", "lock", "root", "gates", "evals"):
        parser.add_argument("--" + name, required=True)
    options = parser.parse_args()
    sys.path.insert(0, options.source)
    install_yaml(options.lock, pathlib.Path("pyyaml"))
    index = Index(options.root, options.gates, options.evals)
    index.read_gates()
    index.read_cases()
    print("INDEX = struct(")
    print("milestone = {},".format(index.milestone()))
    print("gates_package = {},".format(starlark(options.gates)))
    print("evals_package = {},".format(starlark(options.evals)))
    for name in ("gates", "cases", "invalid"):
        print("{} = {},".format(name, starlark(getattr(index, name))))
    print(")")


if __name__ == "__main__":
    main()
