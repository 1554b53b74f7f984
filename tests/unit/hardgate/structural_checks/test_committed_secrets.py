"""The five families of secrets. Every sample is made up and put together from parts, so that the
scan of this repository does not find it here."""

import pytest

from hardgate.registry.allowances import line_digest
from hardgate.registry.check_options import ALLOWANCE_FILE
from hardgate.structural_checks.secret_lines import PIECE_CHARACTERS, secrets_in_line
from tests.unit.hardgate.structural_checks.examining import examine, said

WORD = "correct-horse-" + "battery"
BODY = "Zq7" * 12
PEM = "PRIVATE " + "KEY"
DSN = "://"
BEARER = "Bea" + "rer "
SECRET = "sec" + "ret"
PASSWORD = "pass" + "word"
TOKEN = "to" + "ken"


@pytest.mark.parametrize(
    ("path", "line", "family"),
    [
        ("a.py", f"KEY = 'sk-{'ant'}-api03-{BODY}'", "provider_key"),
        ("a.py", f"KEY = 'sk-{'proj'}-{BODY}'", "provider_key"),
        ("a.md", f"`sk-{BODY}`", "provider_key"),
        ("a.txt", "AK" + "IA" + "A1B2C3D4E5F6G7H8", "provider_key"),
        ("a.yaml", "url: x?key=AI" + "za" + "b" * 35, "provider_key"),
        ("a.sh", "gh" + "p_" + "a1" * 18, "provider_key"),
        ("a.pem", f"-----BEGIN RSA {PEM}-----", "private_key"),
        ("a.pem", f"-----BEGIN {PEM}-----", "private_key"),
        ("a.py", f"'-----BEGIN ENCRYPTED {PEM}-----'", "private_key"),
        ("a.md", f"curl -H 'Authorization: {BEARER}{BODY}'", "bearer_literal"),
        ("a.py", f"headers = {{'x': '{BEARER}abcdef0123456789'}}", "bearer_literal"),
        ("a.py", "{'Authori" + "zation': 'Basic dXNlcjpwYXNzd29yZA=='}", "bearer_literal"),
        ("a.py", f"dsn = 'postgresql{DSN}app:hunter2@db/agent'", "dsn_password"),
        ("a.yaml", f"url: redis{DSN}:hunter2@db:6379/0", "dsn_password"),
        ("a.toml", f"url = 'amqp{DSN}app:pa!ss%40@[::1]/x'", "dsn_password"),
        ("a.sh", f"psql 'host=db user=a {PASSWORD}=hunter2'", "dsn_password"),
        ("a.py", f"api_key = '{WORD}'", "assigned_secret"),
        ("a.py", f"api_key: str = '{WORD}'", "assigned_secret"),
        ("a.py", f"client({TOKEN}='{WORD}')", "assigned_secret"),
        ("a.py", f"d['{PASSWORD}'] = '{WORD}'", "assigned_secret"),
        ("a.py", f"if {PASSWORD} == '{WORD}':", "assigned_secret"),
        ("a.json", f'{{"clientSecret": "{WORD}"}}', "assigned_secret"),
        ("a.json", f'{{"accessToken": "{WORD}"}}', "assigned_secret"),
        ("a.yaml", f"  {PASSWORD}: {WORD}", "assigned_secret"),
        ("a.yaml", f"- db_{PASSWORD}: '{WORD}'", "assigned_secret"),
        ("a.env", f"WEBHOOK_{SECRET.upper()}={WORD}", "assigned_secret"),
        (".env.example", f"API_KEY={WORD}", "assigned_secret"),
        ("a.md", f"    export API_{TOKEN.upper()}={WORD}", "assigned_secret"),
    ],
)
def test_a_secret_is_found(path, line, family):
    assert family in secrets_in_line(path, line)


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("a.py", f"{PASSWORD} = os.environ['DATABASE_{PASSWORD.upper()}']"),
        ("a.py", f"{TOKEN} = tokens.find(some_long_function_name)"),
        ("a.py", f"{PASSWORD} = 'short'"),
        ("a.py", f"{PASSWORD}_help = 'type the {PASSWORD} twice here'"),
        ("a.py", f"REASON_{SECRET.upper()} = 'reason_{SECRET}'"),
        ("a.py", f"dsn = f'postgresql{DSN}app:{{word}}@db/agent'"),
        ("a.yaml", f"dsn: postgresql{DSN}app:${{WORD}}@db/agent"),
        ("a.yaml", f"{TOKEN}: ${{{{ {SECRET}s.GITHUB_{TOKEN.upper()} }}}}"),
        ("a.yaml", f"{PASSWORD}: <your-{PASSWORD}-goes-here>"),
        ("a.yaml", f"{SECRET}_file: /run/{SECRET}s/database_{PASSWORD}"),
        ("a.yaml", f"max_{TOKEN}s: 1000000000000000"),
        ("a.yaml", f"{TOKEN}izer: some_encoding_of_ours"),
        ("a.md", f"The {SECRET} is read from the environment of the process."),
        ("a.md", "See https://example.invalid/a:b and user@example.invalid"),
        ("a.lock", "requests==2.34.2 --hash=sha256:" + "0123456789abcdef" * 4),
        ("a.py", "task-force = 'disk-usage-of-everything-here'"),
    ],
)
def test_what_is_no_secret_is_left_alone(path, line):
    assert secrets_in_line(path, line) == {}


def test_a_secret_is_found_anywhere_in_a_long_line():
    key = f"sk-{'ant'}-api03-{BODY}"
    for start in (0, PIECE_CHARACTERS - 20, 3 * PIECE_CHARACTERS):
        line = " " * start + key + " " * PIECE_CHARACTERS
        assert "provider_key" in secrets_in_line("a.txt", line)


LINE = f"{PASSWORD}: {WORD}"
SETTINGS = {"evals/settings.yaml": f"timeout: 5\n{LINE}\n"}


def allowance(**changes):
    entry = {
        "path": "evals/settings.yaml",
        "rule": "assigned_secret",
        "line_sha256": line_digest(LINE),
        "reason": "A sample that opens nothing.",
        **changes,
    }
    keys = [f"{key}: '{value}'" for key, value in entry.items() if value is not None]
    return {ALLOWANCE_FILE: "- " + "\n  ".join(keys) + "\n"}


def test_a_finding_names_the_place_and_shows_nothing():
    examination = examine("committed_secrets", SETTINGS)
    assert said(examination) == ["evals/settings.yaml:2: assigned_secret"]
    (finding,) = examination.findings
    pieces = [WORD[start : start + 4] for start in range(len(WORD) - 3)]
    assert [piece for piece in pieces if piece in finding.render()] == []
    assert (examination.examined, examination.unit) == (1, "files")


def test_an_exact_allowance_allows_its_line_wherever_it_moves():
    moved = {"evals/settings.yaml": f"\n\n{LINE}\r\n"}
    assert said(examine("committed_secrets", {**moved, **allowance()})) == []


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"path": "evals/other.yaml"}, ["evals/settings.yaml:2: assigned_secret", "unused"]),
        ({"rule": "provider_key"}, ["evals/settings.yaml:2: assigned_secret", "unused"]),
        (
            {"line_sha256": line_digest(LINE + " ")},
            ["evals/settings.yaml:2: assigned_secret", "unused"],
        ),
        ({"reason": "sample"}, ["evals/settings.yaml:2: assigned_secret", "reason"]),
        ({"reason": None}, ["evals/settings.yaml:2: assigned_secret", "malformed"]),
        ({"path": None}, ["evals/settings.yaml:2: assigned_secret", "malformed"]),
        ({"line": "2"}, ["evals/settings.yaml:2: assigned_secret", "malformed"]),
    ],
)
def test_an_allowance_that_is_not_exact_allows_nothing(changes, expected):
    found = said(examine("committed_secrets", {**SETTINGS, **allowance(**changes)}))
    assert found[0] == expected[0]
    (about,) = found[1:]
    assert about.startswith(f"{ALLOWANCE_FILE}:") and expected[1] in about.split(": ")[1]


@pytest.mark.parametrize("text", ["a: 1\n", "- text\n", "- path: [\n", ""])
def test_a_list_of_allowances_that_cannot_be_read_is_a_finding(text):
    found = said(examine("committed_secrets", {ALLOWANCE_FILE: text}))
    assert found and {one.split(": ")[1] for one in found} == {"allowance_malformed"}


@pytest.mark.parametrize(
    "content",
    [
        b"\x00\x01" + f"KEY='sk-{'ant'}-api03-{BODY}'".encode() + b"\xff",
        f"KEY='sk-{'ant'}-api03-{BODY}'".encode("utf-16"),
    ],
    ids=["binary", "utf16"],
)
def test_a_file_that_is_no_plain_text_is_scanned_too(content):
    assert said(examine("committed_secrets", {"a.bin": content})) == ["a.bin:1: provider_key"]


def test_a_file_too_large_to_scan_is_a_finding():
    found = said(examine("committed_secrets", {"a.txt": "a\n" * (3 * 1024 * 1024)}))
    assert found == ["a.txt:1: file_too_large"]
