"""Which paths a file of the workspace may name."""

import pytest

from hardgate.documents.safe_path import UnsafePath, inside_workspace, relative_inside

ROOTS = ("evals/corpora", "evals/fixtures")


@pytest.mark.parametrize("path", ["evals/corpora/injection", "evals/fixtures/models/a.yaml"])
def test_a_path_inside_a_root_is_returned(path):
    assert relative_inside(ROOTS, path) == path


def test_without_roots_the_whole_workspace_is_meant():
    assert relative_inside((), "src/a b+c.py") == "src/a b+c.py"


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("", "which is empty"),
        ("/evals/corpora/x", "which is absolute"),
        ("evals/corpora/../cases", "which has the part '..'"),
        ("evals/corpora/./x", "which has the part '.'"),
        ("evals/corpora//x", "which has an empty part"),
        ("evals/corpora/x/", "which has an empty part"),
        ("evals/corpora", "which is outside"),
        ("evals/corpora2/x", "which is outside"),
        ("src/x", "which is outside"),
        ("evals\\corpora\\x", "which holds a backslash"),
        ("evals/corpora/x\0y", "which holds a control character"),
        ("evals/corpora/x\ny", "which holds a control character"),
        ("evals/corpora/" + "x" * 230, "which is longer than 240 characters"),
        (
            "evals/corpora/\u0430",
            "in which character 15 is U+0430 CYRILLIC SMALL LETTER A, which looks like 'a'",
        ),
    ],
)
def test_other_paths_are_refused(path, why):
    with pytest.raises(UnsafePath) as refused:
        relative_inside(ROOTS, path)
    said = str(refused.value)
    assert f", {why}; allowed: " in said
    assert said.endswith("a path inside evals/corpora/ or a path inside evals/fixtures/")
    assert said.isprintable(), "a path that is refused must not control the terminal"


def test_the_longest_path():
    assert relative_inside((), "x" * 240)
    with pytest.raises(UnsafePath):
        relative_inside((), "x" * 241)


def test_names_from_a_listing_may_have_any_characters_but_not_lead_out():
    assert inside_workspace("docs/größe.md") == "docs/größe.md"
    with pytest.raises(UnsafePath, match=r"has the part '\.\.'; allowed: a path in the workspace"):
        inside_workspace("docs/../../größe.md")
