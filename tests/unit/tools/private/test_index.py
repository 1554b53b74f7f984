"""The index of a workspace: which entries become targets, and what is said about the others."""

from pathlib import Path

import pytest

from tools.private.index import Index, is_label, starlark

SOUND = """- id: gate.demo.sound
  milestone: 0
  kind: structural
"""


def index_of(folder: Path, files: dict[str, str | bytes]) -> Index:
    for path, content in {"gates/MILESTONE": "0\n", **files}.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.encode() if isinstance(content, str) else content)
    index = Index(folder, "gates", "evals")
    index.read_gates()
    index.read_cases()
    return index


def gate(line: str, key: str = "") -> str:
    """A sound entry with one more line, or one in place of the line that starts with `key`."""
    lines = SOUND.splitlines()
    kept = [each for each in lines if not (key and each[2:].startswith(key + ":"))]
    if key == "id":
        return "\n".join([f"- {line}", *kept]) + "\n"
    return "\n".join([*kept, f"  {line}"]) + "\n"


BAD_GATES = [
    ("- just a text\n", 1, "schema.type", "found 'just a text'; allowed: a gate entry (a map)"),
    ("id: gate.demo.x\n", 1, "schema.type", "allowed: a list of gate entries"),
    (gate("id: 7", "id"), 1, "id_malformed", "found id 7; allowed: gate.demo.<slug>"),
    (gate("id: gate.demo.Big", "id"), 1, "id_malformed", "found id 'gate.demo.Big'"),
    (gate("id: gate.demo.a.b", "id"), 1, "id_malformed", "found id 'gate.demo.a.b'"),
    (gate("id: gate.dem.x", "id"), 1, "id_area_mismatch", "allowed: gate.demo.<slug>"),
    (gate("milestone: -1", "milestone"), 3, "schema.range", "found milestone -1"),
    (gate("milestone: 100", "milestone"), 3, "schema.range", "a whole number from 0 to 99"),
    (gate('milestone: "1"', "milestone"), 3, "schema.range", "found milestone '1'"),
    (gate("milestone: true", "milestone"), 3, "schema.range", "found milestone true"),
    (gate("kind: structurel", "kind"), 3, "schema.value", "did you mean 'structural'?"),
    (gate("kind: [case]", "kind"), 3, "schema.value", "found kind a list"),
    (gate("check: [a]"), 4, "schema.type", "found a list; allowed: a text"),
    (gate("options: [a]"), 4, "schema.type", "found a list; allowed: a map"),
    (gate("spec: 3"), 4, "schema.type", "found 3; allowed: a text"),
    (gate("sources: //src:sources"), 4, "schema.type", "allowed: a list of Bazel labels"),
    (gate("sources: [src/a.py]"), 4, "label_malformed", "found 'src/a.py'"),
    (gate("sources: [//src//a:b]"), 4, "label_malformed", "such as //src:sources"),
    (gate("sources: [//src:../b]"), 4, "label_malformed", "found '//src:../b'"),
    (gate("sources: [//a:b, //a:b]"), 4, "label_malformed", "each one once"),
    (gate("counterexamples: 5"), 4, "schema.type", "found 5; allowed: a list of counterexamples"),
    (gate("counterexamples: [x]"), 4, "schema.type", "allowed: a map with name and reason"),
    (gate("counterexamples: [{reason: x}]"), 4, "name_malformed", "found null"),
    (gate("counterexamples: [{name: ../x}]"), 4, "name_malformed", "found '../x'"),
    (
        gate("counterexamples: [{name: x}, {name: x}]"),
        4,
        "counterexample_duplicate",
        "found 'x' again",
    ),
    (
        gate("counterexamples: [{name: x, tree: ../../x}]"),
        4,
        "tree_malformed",
        "found '../../x'; allowed: gates/defects/demo/x",
    ),
    (gate("counterexamples: [{name: x, agent: //x}]"), 4, "name_malformed", "found '//x'"),
    (gate("counterexamples: [{name: x, agent: 7}]"), 4, "name_malformed", "found 7; allowed"),
    (gate("kind: corpus", "kind"), 1, "corpus_malformed", "found corpus null; allowed: a folder"),
    (
        gate("kind: corpus", "kind") + "  corpus: evals/corpora/../x\n",
        4,
        "corpus_malformed",
        "found corpus 'evals/corpora/../x'; allowed: a folder such as evals/corpora/name",
    ),
    (SOUND + SOUND, 4, "id_duplicate", "first at gates/demo.yaml:1:3"),
    (SOUND + "\tx: 1\n", 4, "yaml.tab", "tab"),
    ("", 1, "yaml.empty_file", "empty"),
]


@pytest.mark.parametrize(("text", "line", "rule", "words"), BAD_GATES)
def test_a_faulty_entry_is_named_and_the_others_stay(
    tmp_path: Path, text: str, line: int, rule: str, words: str
) -> None:
    other = SOUND.replace("demo", "other")
    index = index_of(tmp_path, {"gates/demo.yaml": text, "gates/other.yaml": other})
    (fault,) = index.invalid
    assert (fault["path"], fault["line"], fault["rule"]) == ("gates/demo.yaml", line, rule)
    assert words in fault["message"]
    assert f"(gates/demo.yaml:{line}:" in fault["message"]
    assert "gate.other.sound" in [entry["id"] for entry in index.gates]


def test_all_faults_of_an_entry_are_named(tmp_path: Path) -> None:
    text = "- id: gate.demo.x\n  milestone: x\n  kind: y\n  check: 1\n  sources: 2\n"
    index = index_of(tmp_path, {"gates/demo.yaml": text})
    assert [fault["line"] for fault in index.invalid] == [2, 3, 4, 5]
    assert len({fault["name"] for fault in index.invalid}) == 4
    assert not index.gates


@pytest.mark.parametrize(
    "name", ["Demo.yaml", "a.b.yaml", "demo.yml", "my-area.yaml", "demo.YAML", "demo.Yml"]
)
def test_a_file_that_would_be_left_out_is_named(tmp_path: Path, name: str) -> None:
    index = index_of(tmp_path, {f"gates/{name}": SOUND})
    (fault,) = index.invalid
    assert (fault["path"], fault["rule"]) == (f"gates/{name}", "registry_file_name")
    assert f"found the file name '{name}'; allowed: <area>.yaml" in fault["message"]


@pytest.mark.parametrize(
    ("text", "rule", "words"),
    [
        ("[]\n", "schema.type", "found an empty list; allowed: a case (a map)"),
        ("name: A b\nmilestone: 1\n", "name_malformed", "found case name 'A b'"),
        ("name: ok\nmilestone: x\n", "schema.range", "found milestone 'x'"),
        ("name: taken\nmilestone: 1\n", "case_duplicate", "first in evals/cases/00.yaml"),
        ("name: ok\nmilestone: 1\nsubject: {agent: My agent}\n", "name_malformed", "'My agent'"),
    ],
)
def test_a_faulty_case_is_named(tmp_path: Path, text: str, rule: str, words: str) -> None:
    first = "name: taken\nmilestone: 1\n"
    index = index_of(tmp_path, {"evals/cases/00.yaml": first, "evals/cases/01.yaml": text})
    (fault,) = index.invalid
    assert (fault["path"], fault["rule"]) == ("evals/cases/01.yaml", rule)
    assert words in fault["message"]
    assert [case["name"] for case in index.cases] == ["taken"]


def test_a_case_reads_its_own_fixture_only(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {
        "evals/cases/01.yaml": "name: one\nmilestone: 1\nmodel_fixture: alpha\n",
        "evals/cases/02.yaml": "name: two\nmilestone: 1\nmodel_fixture: missing\n",
        "evals/fixtures/models/alpha.yaml": "turns: []\n",
        "evals/fixtures/models/beta.yaml": "turns: []\n",
    }
    index = index_of(tmp_path, files)
    assert [case["files"] for case in index.cases] == [
        ["cases/01.yaml", "fixtures/models/alpha.yaml"],
        ["cases/02.yaml"],
    ]


def test_a_case_says_whether_it_starts_an_agent_and_which(tmp_path: Path) -> None:
    head = "milestone: 1\n"
    index = index_of(
        tmp_path,
        {
            "evals/cases/01.yaml": f"name: one\n{head}",
            "evals/cases/02.yaml": f"name: two\n{head}subject: {{}}\n",
            "evals/cases/03.yaml": f"name: three\n{head}subject:\n  agent: mine\n",
            "evals/cases/04.yaml": f"name: four\n{head}subject: text\n",
        },
    )
    found = [(one["path"], one["line"], one["command"], one["agent"]) for one in index.cases]
    assert found == [
        ("evals/cases/01.yaml", 1, False, ""),
        ("evals/cases/02.yaml", 3, True, ""),
        ("evals/cases/03.yaml", 4, True, "mine"),
        ("evals/cases/04.yaml", 3, True, ""),
    ]


def test_a_case_says_whether_it_kills_workers(tmp_path: Path) -> None:
    head = "milestone: 1\ninterventions: "
    cancel, kill = "{at: run.started, action: cancel}", "{at: run.started, action: kill_worker}"
    index = index_of(
        tmp_path,
        {
            "evals/cases/01.yaml": "name: one\nmilestone: 1\n",
            "evals/cases/02.yaml": f"name: two\n{head}[{cancel}]\n",
            "evals/cases/03.yaml": f"name: three\n{head}[{cancel}, {kill}]\n",
            "evals/cases/04.yaml": f"name: four\n{head}[kill_worker, 7]\n",
            "evals/cases/05.yaml": f"name: five\n{head}kill_worker\n",
        },
    )
    assert [one["kills_workers"] for one in index.cases] == [False, False, True, False, False]


def test_a_case_reads_every_fixture_that_it_names(tmp_path: Path) -> None:
    case = (
        "name: one\nmilestone: 1\nmodel_fixture: alpha\n"
        "fixtures: {tool_results: times, judge: polite, workspace: notes, skills: [alpha],\n"
        "  mcp_servers: [files, 7, mail]}\n"
        "arms:\n  - {name: a, fixtures: {workspace: other}}\n  - {name: b, model_fixture: beta}\n"
    )
    odd = "name: two\nmilestone: 1\nfixtures: [alpha]\narms: {model_fixture: alpha}\n"
    odder = "name: three\nmilestone: 1\nfixtures: {judge: ../judges/polite, mcp_servers: files}\narms: [alpha]\n"
    fixtures = [
        "models/alpha.yaml",
        "models/beta.yaml",
        "tools/times.yaml",
        "tools/alpha.yaml",
        "judges/polite.yaml",
        "mcp/files.yaml",
        "mcp/mail.yaml",
        "mcp/other.yaml",
        "workspaces/notes/a.txt",
        "workspaces/notes/deep/b.txt",
        "workspaces/notes_too/c.txt",
        "workspaces/other/d.txt",
    ]
    files: dict[str, str | bytes] = {f"evals/fixtures/{path}": "x\n" for path in fixtures}
    cases = {"01": case, "02": odd, "03": odder}
    files.update({f"evals/cases/{number}.yaml": text for number, text in cases.items()})
    index = index_of(tmp_path, files)
    assert [one["files"] for one in index.cases] == [
        [
            "cases/01.yaml",
            "fixtures/models/alpha.yaml",
            "fixtures/tools/times.yaml",
            "fixtures/judges/polite.yaml",
            "fixtures/mcp/files.yaml",
            "fixtures/mcp/mail.yaml",
            "fixtures/workspaces/notes/a.txt",
            "fixtures/workspaces/notes/deep/b.txt",
            "fixtures/workspaces/other/d.txt",
            "fixtures/models/beta.yaml",
        ],
        ["cases/02.yaml"],
        ["cases/03.yaml"],
    ]


def test_the_corpora_are_those_that_gates_read(tmp_path: Path) -> None:
    entries = [
        f"- id: gate.demo.{slug}\n  milestone: 0\n  kind: corpus\n  corpus: evals/corpora/{folder}\n"
        for slug, folder in [("a", "notes"), ("b", "deep/er"), ("c", "notes")]
    ]
    index = index_of(tmp_path, {"gates/demo.yaml": "".join(entries) + SOUND})
    assert index.corpora() == ["corpora/deep/er", "corpora/notes"]


@pytest.mark.parametrize("content", [b"", b"one\n", b"-1\n", b"07\n", b"1 2\n", b"\xff\n"])
def test_a_milestone_that_is_no_number_is_a_fault(tmp_path: Path, content: bytes) -> None:
    index = index_of(tmp_path, {"gates/MILESTONE": content})
    assert index.milestone() == 0
    assert [fault["rule"] for fault in index.invalid] == ["milestone_file"]


def test_a_workspace_without_the_file_is_at_milestone_0(tmp_path: Path) -> None:
    index = index_of(tmp_path, {"gates/MILESTONE": b"3\n"})
    (tmp_path / "gates/MILESTONE").unlink()
    assert (index.milestone(), index.invalid) == (0, [])


def test_the_milestone_is_read(tmp_path: Path) -> None:
    assert index_of(tmp_path, {"gates/MILESTONE": "12\n"}).milestone() == 12


@pytest.mark.parametrize(
    ("text", "good"),
    [
        ("//src:sources", True),
        ("//:sources", True),
        ("@other//a/b", True),
        ("@@other~1.0//a/b:c.py", True),
        (":sources", False),
        ("//", False),
        ("//src:", False),
        ("///src", False),
        ("//src/", False),
        ("//a:/b", False),
        ("//./a:b", False),
        (None, False),
    ],
)
def test_labels(text: str | None, good: bool) -> None:
    assert is_label(text) is good


def test_starlark_holds_every_value() -> None:
    value = {"b": [1, None, True, 'quote " and \\ and größer'], "a": [{"x": 1.5}]}
    assert eval(starlark(value)) == value  # the part of the syntax that Python shares


def test_the_options_of_a_ready_check_are_handed_on_as_they_are(tmp_path: Path) -> None:
    line = "options: {layers: [[a], [b]], imports: [{through_others: false, reason: größer}]}"
    index = index_of(tmp_path, {"gates/demo.yaml": gate(line)})
    (entry,) = index.gates
    expected = {
        "layers": [["a"], ["b"]],
        "imports": [{"through_others": False, "reason": "größer"}],
    }
    assert entry["options"] == expected
    assert eval(starlark(entry["options"])) == expected
