"""`hardgate new gate`: an entry, a check and a counterexample that fail until they are written."""

import json

import pytest

from hardgate.documents.tree import DirectoryTree
from hardgate.kinds.context import StructuralContext
from hardgate.kinds.entry import GateEntry, load_check
from hardgate.registry.check_options import OPTIONS_OF
from hardgate.registry.loader import load_registry
from tests.unit.hardgate.cli.samples import FakeSubject, answer, edit, files_of, write

SAYS = ["--statement", "No tool shadows another one."]


def new(hardgate, words, *more, **named):
    return hardgate(["new", "gate", *words.split(), *more], **named)


def item_of(capsys):
    """The item that was printed for the spec."""
    lines = capsys.readouterr().out.split("`## Hard gates`:\n\n")[1].split("\n\n")[0]
    return lines + "\n"


def test_it_writes_three_files_and_prints_the_item_of_the_spec(workspace, hardgate, capsys):
    before = files_of(workspace)
    assert new(hardgate, "tool.no_shadowing --kind property --milestone 1", *SAYS) == 0
    assert capsys.readouterr().out == (
        "wrote gates/tool.yaml\nwrote gates/checks/tool.py\nwrote gates/defects/tool.py\n"
        "add to docs/specs/tool.md, as the next item of `## Hard gates`:\n\n"
        "N. **`gate.tool.no_shadowing`** — No tool shadows another one. **M1.**\n\n"
        "write what the functions say that they are missing, then\n"
        "  hardgate lint\n  bazel test //gates:tool/no_shadowing\n"
    )
    after = files_of(workspace)
    changed = {path for path in after if after[path] != before.get(path)}
    assert changed == {"gates/tool.yaml", "gates/checks/tool.py", "gates/defects/tool.py"}
    for path in changed:
        assert after[path].startswith(before[path])
        assert after[path].endswith("\n")
        assert not after[path].endswith("\n\n")


KINDS = [
    ("property", "", {"trials": 200}),
    ("property", "--trials 50", {"trials": 50}),
    ("corpus", "", {"corpus": "evals/corpora/fresh", "minimum_members": 10}),
    (
        "corpus",
        "--corpus evals/corpora/marks --minimum-members 40",
        {"corpus": "evals/corpora/marks", "minimum_members": 40},
    ),
    (
        "structural",
        "--source //src:sources --source //docs:sources",
        {"sources": ("//src:sources", "//docs:sources")},
    ),
    ("case", "", {"check": "case:fresh"}),
    ("case", "--case greeting", {"check": "case:greeting"}),
]


@pytest.mark.parametrize("milestone", [1, 4])
@pytest.mark.parametrize(("kind", "options", "values"), KINDS)
def test_the_entry_of_each_kind_is_one_that_the_loader_accepts(
    kind, options, values, milestone, workspace, hardgate
):
    words = f"tool.fresh --kind {kind} --milestone {milestone} {options}"
    assert new(hardgate, words, *SAYS) == 0
    gate = load_registry(DirectoryTree(workspace)).by_id["gate.tool.fresh"]
    expected = {"check": "gates/checks/tool.py::fresh", **values}
    assert {key: getattr(gate, key) for key in expected} == expected
    assert (str(gate.kind), gate.milestone) == (kind, milestone)
    assert gate.statement.strip() == SAYS[1]
    assert [(one.name, one.reason) for one in gate.counterexamples] == [("fresh_broken", "fresh")]


@pytest.mark.parametrize("name", sorted(OPTIONS_OF))
def test_a_ready_check_needs_options_and_no_code(name, workspace, hardgate, capsys):
    before = files_of(workspace)
    words = f"tool.fresh --kind structural --milestone 1 --check hardgate:{name} --source //:all"
    assert new(hardgate, words, *SAYS) == 0
    assert "fill in the options in gates/tool.yaml" in capsys.readouterr().out
    after = files_of(workspace)
    changed = {path for path in after if after[path] != before.get(path)}
    assert changed == {"gates/tool.yaml", "gates/defects/tool.py"}
    gate = load_registry(DirectoryTree(workspace)).by_id["gate.tool.fresh"]
    assert gate.check == f"hardgate:{name}"
    write(workspace, "src/app.py", "x = 1")
    place = GateEntry(gate.id, gate.area, gate.slug, "structural", 1, "gates/tool.yaml", 1,
                      check=gate.check, options=gate.options)  # fmt: skip
    made = load_check(place)(StructuralContext(DirectoryTree(workspace), place))
    said = {one.rule for one in made.findings}
    unfilled = {"unknown_module", "callable_missing", "unused_exception"}
    # What is to be filled in has no place yet; only a scan of every file has nothing to fill in.
    assert bool(said & unfilled) is (name != "committed_secrets")


def test_a_ready_check_that_there_is_not(hardgate, capsys):
    words = "tool.fresh --kind structural --milestone 1 --source //:all --check hardgate:layers"
    assert new(hardgate, words, *SAYS) == 2
    assert "hardgate:import_layers" in capsys.readouterr().err


def test_with_its_item_in_the_spec_only_the_code_is_missing(workspace, hardgate, capsys):
    new(hardgate, "gate.tool.fresh --kind property --milestone 1", *SAYS)
    write(workspace, "docs/specs/tool.md", (workspace / "docs/specs/tool.md").read_text()
          + item_of(capsys).replace("N.", "5.", 1))  # fmt: skip
    assert hardgate("lint", FakeSubject()) == 0
    capsys.readouterr()
    assert hardgate("run gate.tool.fresh --json") == 1
    out, err = capsys.readouterr()
    (result,) = json.loads(out)["results"]
    (finding,) = result["verdict"]["findings"]
    assert finding["rule"] == "check_crashed"
    assert "gates/checks/tool.py::fresh is not written: call context.for_all" in finding["message"]


@pytest.mark.parametrize(("kind", "options", "values"), KINDS)
def test_what_was_written_raises_until_it_is_written(kind, options, values, workspace, hardgate):
    new(hardgate, f"fresh.fresh --kind {kind} --milestone 1 --spec docs/specs/tool.md {options}",
        *SAYS)  # fmt: skip
    names = {"defects": "fresh_broken"} | ({} if kind == "case" else {"checks": "fresh"})
    for folder, name in names.items():
        module = {}
        exec((workspace / f"gates/{folder}/fresh.py").read_text(), module)
        with pytest.raises(NotImplementedError, match=f"{folder}/fresh.py::{name} is not written"):
            module[name](None)
    assert (workspace / "gates/checks/fresh.py").exists() is (kind != "case")


def test_without_a_statement_the_entry_is_refused_until_it_has_one(workspace, hardgate, capsys):
    assert new(hardgate, "tool.fresh --kind property --milestone 1") == 0
    assert "N. **`gate.tool.fresh`** — <say in one sentence" in capsys.readouterr().out
    assert hardgate("lint --json") == 4
    (problem,) = answer(capsys)["problems"]
    assert (problem["path"], problem["rule"]) == ("gates/tool.yaml", "statement_placeholder")


def test_a_gate_of_the_kind_case_leads_to_its_case(hardgate, capsys):
    assert new(hardgate, "tool.fresh --kind case --milestone 1 --json", *SAYS) == 0
    found = answer(capsys)
    assert found["next"] == [
        "hardgate new case fresh",
        "hardgate lint",
        "bazel test //gates:tool/fresh",
    ]
    assert found["written"] == ["gates/tool.yaml", "gates/defects/tool.py"]
    assert found["spec"] == "docs/specs/tool.md"
    assert found["spec_item"].startswith("N. **`gate.tool.fresh`** — No tool")


def test_a_long_statement_is_wrapped_in_both_places(workspace, hardgate, capsys):
    says = "Every " + "very " * 40 + "long statement is one statement."
    new(hardgate, "tool.fresh --kind property --milestone 1", "--statement", says)
    item = item_of(capsys)
    lines = [*item.splitlines(), *(workspace / "gates/tool.yaml").read_text().splitlines()]
    assert max(map(len, lines)) <= 100
    gate = load_registry(DirectoryTree(workspace)).by_id["gate.tool.fresh"]
    assert gate.statement.strip() == says
    assert " ".join(item.split()) == f"N. **`gate.tool.fresh`** — {says} **M1.**"


REFUSED = [
    ("fresh --kind case --milestone 1", 2, "found 'fresh'; allowed: AREA.SLUG"),
    ("a.b.c --kind case --milestone 1", 2, "found 'a.b.c'; allowed: AREA.SLUG"),
    ("../x.y --kind case --milestone 1", 2, "found '../x.y'; allowed: AREA.SLUG"),
    (
        "tool.x --kind proprety --milestone 1",
        2,
        "--kind: found 'proprety'; allowed: case, property, corpus or structural; "
        "did you mean 'property'?",
    ),
    ("tool.x --kind case", 2, "the following arguments are required: --milestone"),
    ("tool.x --kind structural --milestone 1", 2, "the kind structural needs --source"),
    ("tool.x --kind case --milestone 1 --trials 9", 2, "--trials belongs to the kind property"),
    (
        "tool.x --kind case --milestone 1 --minimum-members 9",
        2,
        "--minimum-members belongs to the kind corpus, found the kind case",
    ),
    ("tool.x --kind property --milestone 1 --trials 0", 2, "found '0'; allowed: a whole number"),
    (
        "tool.x --kind case --milestone 1 --spec docs/specs/tol.md",
        2,
        "--spec: found no spec 'docs/specs/tol.md'; did you mean 'docs/specs/tool.md'?",
    ),
    ("fresh.x --kind case --milestone 1", 2, "found no docs/specs/fresh.md; name the spec with"),
    ("tool.x --kind case --milestone 1 --statement a\x1bb", 2, "allowed: text that prints"),
]
TAKEN = [
    ("tool.greets --kind case --milestone 1", "found 'gate.tool.greets' again"),
    ("tool.greet_s --kind case --milestone 1", "easily taken for 'gate.tool.greets'"),
    ("tool.tidy --kind corpus --milestone 4", "found a function tidy in gates/checks/tool.py"),
    ("tool.x --kind structural --milestone 1 --source src", "label_malformed"),
    ("tool.x --kind corpus --milestone 1 --corpus ../x", "corpus_malformed"),
    ("tool.x --kind case --milestone 1 --case A", "check_malformed"),
]


@pytest.mark.parametrize(("words", "code", "complaint"), REFUSED)
def test_what_is_refused_leaves_nothing_behind(words, code, complaint, workspace, hardgate, capsys):
    before = files_of(workspace)
    says = [] if "--statement" in words else SAYS
    assert new(hardgate, words, *says) == code
    assert complaint in capsys.readouterr().err
    assert files_of(workspace) == before


@pytest.mark.parametrize(("words", "complaint"), TAKEN)
def test_what_the_registry_would_refuse_is_not_written(
    words, complaint, workspace, hardgate, capsys
):
    before = files_of(workspace)
    assert new(hardgate, words, *SAYS) == 4
    assert complaint in capsys.readouterr().err
    assert files_of(workspace) == before


def test_a_retired_id_is_not_used_again(workspace, hardgate, capsys):
    write(workspace, "gates/retired.yaml", "- id: gate.tool.old\n  reason: Nobody needs it now.\n")
    assert new(hardgate, "tool.old --kind case --milestone 1", *SAYS) == 4
    assert "id_retired" in capsys.readouterr().err


def test_a_broken_registry_is_mended_first(workspace, hardgate, capsys):
    edit(workspace, "gates/tool.yaml", "kind: case", "kind: cases")
    before = files_of(workspace)
    assert new(hardgate, "tool.fresh --kind case --milestone 1", *SAYS) == 4
    assert "gates/tool.yaml:14:9: schema.value" in capsys.readouterr().err
    assert files_of(workspace) == before


@pytest.mark.parametrize(
    "text",
    ["[{id: gate.flow.x, milestone: 3, kind: case, spec: docs/specs/tool.md#hard-gates,\n"
     "  statement: Something has to hold.}]\n", "  - " + "id: gate.flow.x\n    milestone: 3\n"
     "    kind: case\n    spec: docs/specs/tool.md#hard-gates\n    statement: It has to hold.\n"],
)  # fmt: skip
def test_a_list_in_another_style_is_left_alone(text, workspace, hardgate, capsys):
    write(workspace, "gates/flow.yaml", text)
    before = files_of(workspace)
    assert new(hardgate, "flow.fresh --kind case --milestone 3", *SAYS) == 4
    err = capsys.readouterr().err
    assert "found gates/flow.yaml, to which `- id: ...` can't be appended; add the entry by" in err
    assert "- id: gate.flow.fresh\n" in err
    assert files_of(workspace) == before


def test_a_module_that_is_no_python_is_left_alone(workspace, hardgate, capsys):
    edit(workspace, "gates/checks/tool.py", "def plus", "deff plus")
    before = files_of(workspace)
    assert new(hardgate, "tool.fresh --kind property --milestone 1", *SAYS) == 4
    assert "found gates/checks/tool.py, of which line 6 is no Python" in capsys.readouterr().err
    assert files_of(workspace) == before


@pytest.mark.parametrize("says", ["TODO write this", "Two words", "x" * 2001 + " y z"])
def test_a_statement_that_says_nothing_is_refused(says, workspace, hardgate, capsys):
    before = files_of(workspace)
    words = "tool.fresh --kind property --milestone 1"
    assert new(hardgate, words, "--statement", says) == 4
    assert "gates/tool.yaml:" in capsys.readouterr().err
    assert files_of(workspace) == before
