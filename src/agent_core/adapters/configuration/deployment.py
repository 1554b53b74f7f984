"""Reads what a deployment starts with: who may act, under which policies, and in which mode.

Nothing is found by searching: a deployment reads the files that it is told to read.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from agent_core.adapters.configuration.checker import NAME, Checker, Form, one_of
from agent_core.adapters.configuration.principals_file import parse_principals
from agent_core.adapters.configuration.profile_file import SUFFIX, parse_profile
from agent_core.adapters.configuration.yaml_reader import (
    MAXIMUM_BYTES,
    Document,
    Keys,
    read_document,
)
from agent_core.domain.deployment import (
    EVALUATION_PREFIX,
    EVALUATION_TENANT,
    ConfigurationProblem,
    ConfigurationRefused,
    DeploymentMode,
    Identity,
)
from agent_core.domain.policy import RuleSet
from agent_core.domain.sessions import Principal

PRINCIPALS = "principals.yaml"
PROFILES = "profiles"
_FOLDER = Form(re.compile(r"[^\0]+"), "the path of a folder")


class DeploymentSettings(NamedTuple):
    """A deployment file and everything that it names."""

    mode: DeploymentMode
    identity: Identity
    rules: RuleSet


def read_deployment(path: str) -> DeploymentSettings:
    """The deployment that the file at `path` describes.

    Raises `ConfigurationRefused` for the file, for a profile that is not there, and for whatever
    `read_identity` refuses.
    """
    document = _read(path)
    checker = Checker(document)
    checker.keys((), ("schema_version", "mode", "identity", "profile"))
    checker.schema_version()
    mode = checker.choice(("mode",), DeploymentMode)
    root = checker.text(("identity",), _FOLDER)
    profile = checker.text(("profile",), NAME)
    checker.finish()
    identity = read_identity(root, mode)
    if profile not in identity.profiles:
        message = one_of(profile, sorted(identity.profiles))
        checker.complain(("profile",), "deployment.unknown_profile", message)
        checker.finish()
    return DeploymentSettings(mode, identity, identity.profiles[profile])


def read_identity(root: str, mode: DeploymentMode) -> Identity:
    """The principals and profiles of the folder `root`: `principals.yaml` and `profiles/*.yaml`.

    Raises `ConfigurationRefused` with every problem of all files. Outside the mode development
    each principal and profile of evaluations, and their tenant, is one.
    """
    problems: list[ConfigurationProblem] = []
    principals: list[Principal] = []
    profiles: list[RuleSet] = []
    with _gathered(problems):
        principals += _read_principals(f"{root}/{PRINCIPALS}", mode)
    paths: list[str] = []
    with _gathered(problems):
        paths += _profile_paths(f"{root}/{PROFILES}")
    for path in paths:
        with _gathered(problems):
            profiles.append(_read_profile(path, mode))
    if problems:
        raise ConfigurationRefused(problems)
    return Identity({one.id: one for one in principals}, {one.name: one for one in profiles})


@contextmanager
def _gathered(problems: list[ConfigurationProblem]) -> Iterator[None]:
    """Adds what is refused inside to `problems` and goes on after it."""
    try:
        yield
    except ConfigurationRefused as refused:
        problems += refused.problems


def _read(path: str) -> Document:
    try:
        with open(path, "rb") as file:
            data = file.read(MAXIMUM_BYTES + 1)
    except OSError as error:
        raise _unreadable(path, error) from None
    return read_document(path, data)


def _unreadable(path: str, error: OSError) -> ConfigurationRefused:
    message = f"cannot be read: {error.strerror}"
    return ConfigurationRefused([ConfigurationProblem(path, 1, 1, "file.unreadable", message)])


def _read_principals(path: str, mode: DeploymentMode) -> list[Principal]:
    document = _read(path)
    principals = parse_principals(document)
    problems = []
    for one in () if mode.has_evaluation else principals:
        keys = ("principals", one.id)
        if one.id.startswith(EVALUATION_PREFIX):
            problems.append(_evaluation(document, keys, "principal", one.id, mode, at_key=True))
        if one.tenant_id == EVALUATION_TENANT:
            tenant = (*keys, "tenant")
            problems.append(_evaluation(document, tenant, "tenant", one.tenant_id, mode))
    if problems:
        raise ConfigurationRefused(problems)
    return principals


def _read_profile(path: str, mode: DeploymentMode) -> RuleSet:
    document = _read(path)
    profile = parse_profile(document)
    if profile.name.startswith(EVALUATION_PREFIX) and not mode.has_evaluation:
        raise ConfigurationRefused(
            [_evaluation(document, ("name",), "profile", profile.name, mode)]
        )
    return profile


def _evaluation(
    document: Document,
    keys: Keys,
    what: str,
    name: str,
    mode: DeploymentMode,
    *,
    at_key: bool = False,
) -> ConfigurationProblem:
    message = f"found the {what} {name!r}; allowed in the mode development only, and this is {mode}"
    return document.problem(keys, f"deployment.evaluation_{what}", message, at_key=at_key)


def _profile_paths(folder: str) -> list[str]:
    try:
        names = sorted(os.listdir(folder))
    except OSError as error:
        raise _unreadable(folder, error) from None
    problems = [
        ConfigurationProblem(
            f"{folder}/{name}", 1, 1, "file.unknown", f"found {name!r}; allowed: <profile>{SUFFIX}"
        )
        for name in names
        if not name.endswith(SUFFIX)
    ]
    if not names:
        message = "found an empty folder; allowed: at least one profile"
        problems = [ConfigurationProblem(folder, 1, 1, "file.no_profile", message)]
    if problems:
        raise ConfigurationRefused(problems)
    return [f"{folder}/{name}" for name in names]
