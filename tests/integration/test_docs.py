"""What the documents name exists: links, files, targets, options, and the numbers they give.

Bazel is not asked. A target's name comes from a BUILD file, a test file, the registry or a case, as
it does when Bazel loads them.
"""

import ast
import posixpath
import re
import shlex
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest

from hardgate.documents.strict_yaml import load
from hardgate.documents.tree import DirectoryTree
from hardgate.registry.loader import load_registry
from hardgate.registry.markdown import Markdown

TREE = DirectoryTree(".", outside_links=True)
NOT_OURS = ("gates/defects/", "benchmarks/peers/")
PAGES = tuple(path for path in TREE.glob("**/*.md") if not path.startswith(NOT_OURS))
COMMAND_PAGES = tuple(
    path
    for path in PAGES
    if path in ("README.md", "CONTRIBUTING.md") or path.startswith("docs/guide/")
    # It is about another workspace, and a test of its own does what it says.
    if path != "docs/guide/ten-minutes.md"
)


@cache
def page(path):
    return Markdown(TREE.read(path).decode())


def test_there_are_pages_to_look_at():
    assert {"README.md", "CONTRIBUTING.md", "docs/guide/commands.md"} <= set(COMMAND_PAGES)
    assert sum(len(page(path).links) for path in PAGES) > 50
    assert len(list(commands())) > 20


# Links.


@pytest.mark.parametrize("path", PAGES)
def test_every_relative_link_leads_to_a_file_and_a_heading(path):
    broken = []
    for link in page(path).links:
        if re.match(r"[a-z]+:", link.target):
            continue
        file, _, anchor = link.target.partition("#")
        target = posixpath.normpath(posixpath.join(posixpath.dirname(path), file)) if file else path
        if not TREE.exists(target):
            broken.append(f"{path}:{link.line}: no {target}")
        elif anchor and anchor not in page(target).anchors:
            broken.append(f"{path}:{link.line}: no heading #{anchor} in {target}")
    assert broken == []


# Files and folders named in code spans.

TOP = "benchmarks|config|docs|evals|examples|gates|src|tests|third_party|tools"
NAMED = re.compile(rf"`((?:\./)?(?:{TOP})/[\w./-]*[\w/]|[\w-]+\.(?:bazel|bzl|md))`")
# What a page names on purpose although it is not there, with the reason.
ABSENT = {
    "evals/quarantine.yaml": "there is one only while a test is in it",
    "tools/call": "a method of MCP",
    "tools/list": "a method of MCP",
}


def files_named():
    """(page, line, path) of each path in a code span; fenced code may show other workspaces."""
    for path in PAGES:
        document = page(path)
        for number, line in enumerate(document.lines, start=1):
            if document.without_code[number - 1]:
                for match in NAMED.finditer(line):
                    yield path, number, posixpath.normpath(match[1])


def test_every_file_that_a_page_names_is_there():
    corpora = {gate.corpus for gate in registry().gates}
    found = {
        f"{path}:{line}: no {name}"
        for path, line, name in files_named()
        if name not in ABSENT and name not in corpora and not _is_there(path, name)
    }
    assert found == set()


def _is_there(path, name):
    """A bare name may be that of any file; a module may be named without its ending."""
    if "/" not in name:
        return bool(TREE.glob(f"**/{name}"))
    beside = posixpath.normpath(posixpath.join(posixpath.dirname(path), name))
    return any(TREE.exists(one) for one in (name, f"{name}.py", beside))


def test_no_exception_is_left_over():
    named = {name for _, _, name in files_named()}
    assert {name for name in ABSENT if name not in named or TREE.exists(name)} == set()


# Gates that a page shows as the registry has them.


@pytest.mark.parametrize("kind", ["case", "corpus", "property", "structural"])
def test_the_gate_that_a_kind_shows_is_registered_so(kind):
    text = TREE.read(f"docs/kinds/{kind}.md").decode()
    (example,) = re.findall(r"^```yaml\n(- id: .*?)^```$", text, re.M | re.S)
    (shown,) = load("example.yaml", example.encode()).value
    (gate,) = [one for one in registry().gates if one.id == shown["id"]]
    assert shown["kind"] == kind
    for key in ("milestone", "kind", "spec", "statement", "trials", "corpus", "minimum_members"):
        assert shown.get(key) == getattr(gate, key, None), key
    assert shown.get("check") in (None, gate.check)


# Commands.

_FENCE = re.compile(r"^(`{3,})(\w*)\n(.*?)^\1\s*$", re.M | re.S)
# A mistake that a page shows on purpose, with its answer.
MISTAKE = re.compile(r"[\w ]+: found no ")
VERBS = ("build", "coverage", "doctor", "info", "query", "run", "test", "version")
# Options of Bazel itself that the pages use; .bazelrc's own are known without being listed here.
BAZEL_OPTIONS = {
    "--build_event_json_file",
    "--disk_cache",
    "--enable_workspace",
    "--noenable_bzlmod",
    "--output",
    "--remote_cache",
    "--test_env",
    "--test_output",
    "--test_tag_filters",
    "--test_timeout",
}
OWN_PROGRAMS = {
    "//gates:report": ["hardgate", "gates"],
    "//src:agent": ["agent"],
    "//src:hardgate": ["hardgate"],
}


def commands():
    """(page, words) of each command in a block of the language console or sh."""
    for path in COMMAND_PAGES:
        for _, language, body in _FENCE.findall(TREE.read(path).decode()):
            lines = [*body.replace("\\\n", " ").splitlines(), ""]
            for line, following in pairwise(lines):
                if language == "console" and line.startswith("$ "):
                    if not MISTAKE.match(following):
                        yield path, shlex.split(line[2:], comments=True)
                elif language == "sh" and line.strip() and not line.startswith("#"):
                    yield path, shlex.split(line, comments=True)


def commands_of(*programs):
    return [(path, words) for path, words in commands() if words and words[0] in programs]


def identify(one):
    return " ".join(one[1])[:80] if isinstance(one, tuple) else None


@pytest.mark.parametrize("command", commands_of("./bazelw", "bazel"), ids=identify)
def test_every_bazel_command_names_what_exists(command):
    _, words = command
    assert words[1] in VERBS
    if "--" in words:
        own = words[words.index("--") + 1 :]
        words = words[: words.index("--")]
        labels = [word for word in words[2:] if word.startswith("//")]
        program = OWN_PROGRAMS[labels[0]]
        check_own([*program, *own])
    for word in words[2:]:
        if word.startswith("--"):
            check_option(word)
        elif words[1] == "query":
            check_query(word)
        else:
            assert label_exists(word), f"no target {word}"


def check_option(word):
    option, _, value = word.partition("=")
    if option.startswith("--//"):
        assert label_exists(option[2:]), f"no flag {option}"
    elif option == "--config":
        assert value in configs(), f"no --config={value} in .bazelrc"
    elif option == "--test_tag_filters":
        for tag in value.split(","):
            assert tag.removeprefix("-") in tags(), f"no tag {tag}"
    else:
        assert option in BAZEL_OPTIONS | rc_options(), f"{option} is not known to exist"


def check_query(expression):
    for function in re.findall(r"([a-z]+)\(", expression):
        assert function in ("attr", "deps", "kind", "labels", "rdeps", "set", "tests")
    for label in re.findall(r"@?//[\w./+-]*(?::[\w./+-]+)?", expression):
        assert label_exists(label), f"no target {label}"
    for tag in re.findall(r"\[\\\[ \]([\w:-]+)\[,\\\]\]", expression):
        assert tag in tags(), f"no tag {tag}"


@pytest.mark.parametrize("command", commands_of("hardgate", "agent"), ids=identify)
def test_every_own_command_names_commands_and_options_that_exist(command):
    check_own(command[1])


def check_own(words):
    """Every word before the first option may be a command; every option is in that one's help."""
    from agent_cli.__main__ import main as agent
    from hardgate.cli.app import COMMANDS
    from hardgate.cli.app import main as hardgate

    program, rest = (agent, words[1:]) if words[0] == "agent" else (hardgate, words[1:])
    if rest[:1] == ["eval"]:
        program, rest = hardgate, rest[1:]
    if not rest or rest[0].startswith("-"):
        return
    assert program is agent or rest[0] in COMMANDS, f"no command {rest[0]}"
    depth = 2 if rest[0] == "new" and not rest[1].startswith("-") else 1
    text = help_of(program, tuple(rest[:depth]))
    for word in rest[depth:]:
        if word.startswith("--"):
            option = word.partition("=")[0]
            assert re.search(rf"(^|[\s\[]){option}\b", text), f"{rest[0]} has no {option}"


@cache
def help_of(program, words):
    import contextlib
    import io

    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        assert program([*words, "--help"]) == 0
    return out.getvalue()


@cache
def configs():
    return set(re.findall(r"^\w+:(\w[\w-]*)\s", TREE.read(".bazelrc").decode(), re.M))


@cache
def rc_options():
    return set(re.findall(r"(--[\w-]+)", TREE.read(".bazelrc").decode()))


@cache
def registry():
    return load_registry(TREE)


@cache
def tags():
    """The tags that the generated targets carry."""
    kinds = {f"kind:{gate.kind}" for gate in registry().gates} | {"kind:case"}
    areas = {f"area:{gate.area}" for gate in registry().gates}
    milestones = {f"milestone:{gate.milestone}" for gate in registry().gates}
    ours = {"gate", "case", "counterexample", "pending", "postgres", "resilience"}
    return kinds | areas | milestones | ours


def label_exists(label):
    """Whether Bazel would find a label of this repository, or a pattern something."""
    package, _, name = label.removeprefix("//").partition(":")
    if package.endswith("..."):
        return TREE.exists(package.removesuffix("...").rstrip("/") or "src")
    if not name:
        name = posixpath.basename(package)
    return name in declared(package) | generated(package) or (
        package == "tests" and TREE.exists(f"tests/{name}.py")
    )


@cache
def declared(package):
    """The names in a package's BUILD file."""
    file = f"{package}/BUILD.bazel" if package else "BUILD.bazel"
    assert TREE.exists(file), f"no package //{package}"
    return {
        keyword.value.value
        for node in ast.walk(ast.parse(TREE.read(file)))
        if isinstance(node, ast.Call)
        for keyword in node.keywords
        if keyword.arg == "name" and isinstance(keyword.value, ast.Constant)
    }


@cache
def generated(package):
    """The names that the macros of tools/private/targets.bzl make."""
    if package == "evals":
        names = TREE.glob("evals/cases/*.yaml")
        return {f"cases/{Path(name).stem.partition('_')[2]}" for name in names}
    if package != "gates":
        return set()
    macros = TREE.read("tools/private/targets.bzl").decode()
    fixed = set(re.findall(r'name = "(\w+)"', macros)) | {"milestone"}
    assert 'milestone_settings("milestone"' in macros
    gates = {f"{gate.area}/{gate.slug}": gate for gate in registry().gates}
    twins = {
        f"{name}.counterexample.{example.name}"
        for name, gate in gates.items()
        for example in gate.counterexamples
    }
    return fixed | set(gates) | twins | {f"m{gate.milestone}" for gate in gates.values()}


# Numbers.

_COUNTED = re.compile(
    r"(?<![\w.-])\d+(?:,\d{3})* (?:gates?|cases?|counterexamples?|specs?|areas?)\b"
)
_DERIVED = re.compile(r"<!-- derived: \S+ -->.*?<!-- /derived -->")
# Pages with numbers that are no count of what this repository holds now.
SAID = {
    "CHANGELOG.md": "what was true when it was written",
    "benchmarks/README.md": "the sizes that are measured",
    "docs/adr/0006-the-forty-nine.md": "a decision about a number",
}


@pytest.mark.parametrize("path", [path for path in PAGES if path not in SAID])
def test_no_number_of_gates_or_cases_is_typed(path):
    lines = page(path).without_code
    typed = [
        f"{path}:{number}: {found}"
        for number, line in enumerate(lines, start=1)
        for found in _COUNTED.findall(_DERIVED.sub("", line))
    ]
    assert typed == []
