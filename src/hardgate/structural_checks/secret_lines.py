"""Finds secrets in texts: five families, each a list of detect-secrets plugins.

The plugins are used directly. So none of the settings of detect-secrets applies: nothing is
verified over the network, no filter leaves a file or a value out, and no comment in a file can
switch the scan off. Only gates/allowances/secrets.yaml can allow something.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator, Sequence
from pathlib import PurePosixPath

from detect_secrets.plugins.aws import AWSKeyDetector
from detect_secrets.plugins.azure_storage_key import AzureStorageKeyDetector
from detect_secrets.plugins.base import BasePlugin, RegexBasedDetector
from detect_secrets.plugins.basic_auth import BasicAuthDetector
from detect_secrets.plugins.github_token import GitHubTokenDetector
from detect_secrets.plugins.gitlab_token import GitLabTokenDetector
from detect_secrets.plugins.keyword import KeywordDetector
from detect_secrets.plugins.openai import OpenAIDetector
from detect_secrets.plugins.private_key import PrivateKeyDetector

ASSIGNED_SECRET = "assigned_secret"
LONGEST_HARMLESS_LITERAL = 12
# Some patterns look back and forth; a line is searched in overlapping pieces of this length.
PIECE_CHARACTERS = 4096
PIECE_OVERLAP = 512

_SECRET_NAME = (
    r"(?:secret|token|passwd|password|passphrase|pwd|credential"
    r"|(?:api|access|auth|account|client|encryption|private|service|signing)[_-]?key)"
    r"(?:s|[_-]\w+|\d+)?"
)
_NAME = rf"(?<![A-Za-z0-9])[\w.-]{{0,60}}?{_SECRET_NAME}"
# In these a value needs no quotes; in program text an unquoted value is an expression.
_PLAIN_VALUE_SUFFIXES = frozenset(
    {"", ".cfg", ".conf", ".env", ".example", ".ini", ".md", ".properties", ".rst", ".sh", ".toml"}
    | {".txt", ".yaml", ".yml"}
)


class ProviderKeyDetector(RegexBasedDetector):
    """Keys of model providers that no plugin of detect-secrets knows."""

    secret_type = "Provider key"
    denylist = (
        re.compile(r"(?<![A-Za-z0-9])sk-ant-[A-Za-z0-9_-]{16,}"),
        re.compile(r"(?<![A-Za-z0-9])sk-(?=[A-Za-z0-9_-]*[0-9])[A-Za-z0-9_-]{20,}"),
        re.compile(r"(?<![A-Za-z0-9])AIza[A-Za-z0-9_-]{35}"),
        re.compile(r"(?<![A-Za-z0-9])hf_[A-Za-z0-9]{30,}"),
        re.compile(r"(?<![A-Za-z0-9])(?:gsk|xai)[_-][A-Za-z0-9]{32,}"),
    )


class EncryptedKeyDetector(RegexBasedDetector):
    """PEM blocks that the plugin of detect-secrets does not know."""

    secret_type = "Encrypted private key"
    denylist = (re.compile(r"-{5}BEGIN (?:[A-Z0-9]+ )*(?:PRIVATE KEY|PRIVATE KEY BLOCK)-{5}"),)


class BearerLiteralDetector(RegexBasedDetector):
    """A literal credential in an authorization header."""

    secret_type = "Authorization header"
    denylist = (
        re.compile(r"(?i)\bbearer\s+(?=[A-Za-z._~+/=-]*[0-9])[A-Za-z0-9._~+/=-]{16,}"),
        re.compile(
            r"(?i)\bauthorization\W{1,4}(?:basic|token|apikey)\s+"
            r"(?=[A-Za-z._~+/=-]*[0-9=])[A-Za-z0-9._~+/=-]{12,}"
        ),
    )


class DsnPasswordDetector(RegexBasedDetector):
    """A password in a connection string; a reference such as `$NAME` or `<name>` is none."""

    secret_type = "Connection string"
    denylist = (
        re.compile(r"(?i)\b[a-z][a-z0-9+.-]*://[^\s:/@'\"`]*:(?![${<%\[])[^\s/@'\"`]+@[\w\[.-]"),
        re.compile(r"(?i)\bhost=\S+.*\bpassword=(?![${<%\[])[^\s'\"`]+"),
    )


class AssignedSecretDetector(RegexBasedDetector):
    """A quoted literal that is assigned to, or keyed by, the name of a secret."""

    secret_type = "Assigned secret"
    denylist = (
        re.compile(
            rf"(?i){_NAME}[\"'\]]{{0,2}}(?:\s*:\s*[\w.\[\]| ]+?)?\s*(?::=|=>|={{1,3}}|:)\s*"
            r"[rbuf]{0,2}(?P<quote>[\"'`])(?P<value>[^\"'`]+)(?P=quote)"
        ),
    )

    def analyze_string(self, string: str) -> Generator[str, None, None]:
        for pattern in self.denylist:
            for match in pattern.finditer(string):
                yield match.group("value")


class PlainAssignedSecretDetector(AssignedSecretDetector):
    """The same without quotes, as in a settings file or an `export` of a shell."""

    secret_type = "Assigned secret without quotes"
    denylist = (
        re.compile(
            rf"(?i)(?:^|[\s,;-])(?:export\s+)?{_NAME}"
            r"\s*[=:]\s*(?P<value>[A-Za-z0-9+_!#%^&*~@?-][^\s\"'`(]*)(?![^\s]*\()"
        ),
    )


FAMILIES: dict[str, tuple[BasePlugin, ...]] = {
    "provider_key": (
        ProviderKeyDetector(),
        OpenAIDetector(),
        AWSKeyDetector(),
        AzureStorageKeyDetector(),
        GitHubTokenDetector(),
        GitLabTokenDetector(),
    ),
    "private_key": (PrivateKeyDetector(), EncryptedKeyDetector()),
    "bearer_literal": (BearerLiteralDetector(),),
    "dsn_password": (BasicAuthDetector(), DsnPasswordDetector()),
    ASSIGNED_SECRET: (KeywordDetector(), AssignedSecretDetector()),
}
_PLAIN = PlainAssignedSecretDetector()
# A value that is filled in somewhere else: `$NAME`, `{name}`, `<name>`, `%(name)s`, `[name]`.
_REFERENCE = re.compile(r"[${<%\[]")
_PLACE = re.compile(r"\.{0,2}/|[\w+-]+://")
# What a line holds in any case, if a plugin of the last family is to find something in it.
_MAY_ASSIGN = re.compile(r"(?i)key|pass|pwd|secret|token|credential|contrase")
MEANING = {
    "provider_key": "looks like a key of a model provider or a cloud vendor",
    "private_key": "looks like a private key",
    "bearer_literal": "looks like an authorization header with a literal credential",
    "dsn_password": "looks like a connection string with a password in it",
    ASSIGNED_SECRET: "a literal of more than 12 characters is assigned to the name of a secret",
}


def secrets_in_line(path: str, line: str) -> dict[str, set[str]]:
    """What each family finds in a line, by the family's name; no key where it finds nothing.

    The values are for comparing only. Whoever calls this must never show them.
    """
    plain = _is_plain(path)
    found: dict[str, set[str]] = {}
    for piece in _pieces(line):
        for family, plugins in FAMILIES.items():
            if family == ASSIGNED_SECRET:
                values = _literals((*plugins, _PLAIN) if plain else plugins, piece)
            else:
                values = _values(plugins, piece)
            if values:
                found.setdefault(family, set()).update(values)
    return found


def _values(plugins: Sequence[BasePlugin], text: str) -> set[str]:
    found = (value for plugin in plugins for value in plugin.analyze_string(text))
    return {value for value in found if _REFERENCE.match(value) is None}


def _literals(plugins: Sequence[BasePlugin], text: str) -> set[str]:
    if _MAY_ASSIGN.search(text) is None:
        return set()
    return {value for value in _values(plugins, text) if is_secret_literal(value, text)}


def is_secret_literal(value: str, line: str) -> bool:
    """Whether a value is long enough for a secret, and neither prose nor a place nor a name.

    A constant such as `REASON_A = "reason_a"` repeats its own name; a secret does not.
    """
    return (
        len(value) > LONGEST_HARMLESS_LITERAL
        and re.search(r"\s", value) is None
        and re.search(r"[A-Za-z]", value) is not None
        and _PLACE.match(value) is None
        and line.lower().count(value.lower()) == 1
    )


def _is_plain(path: str) -> bool:
    return PurePosixPath(path).suffix in _PLAIN_VALUE_SUFFIXES or "/.env" in f"/{path}"


def _pieces(line: str) -> Iterator[str]:
    step = PIECE_CHARACTERS - PIECE_OVERLAP
    for start in range(0, max(len(line) - PIECE_OVERLAP, 1), step):
        yield line[start : start + PIECE_CHARACTERS]
