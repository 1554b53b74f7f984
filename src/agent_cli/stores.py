"""What the commands that use a store have in common: its options, who acts, and how they end."""

from __future__ import annotations

import argparse
import contextlib
import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path

from agent_core.domain.deployment import ConfigurationRefused
from agent_core.domain.errors import AgentCoreError, NotFound, SchemaMismatch, StorageUnavailable
from agent_core.domain.sessions import Principal
from hardgate.cli.console import Console
from hardgate.cli.exits import (
    FAILED,
    INTERRUPTED,
    OK,
    REFUSED,
    UNREACHABLE,
    USAGE,
    RefusedError,
    UsageError,
)
from hardgate.cli.parser import CommandParser, unknown_name
from hardgate.documents.problems import DefinitionError

DEPLOYMENT = "config/deployment.yaml"
CODES = (OK, FAILED, USAGE, REFUSED, UNREACHABLE)
_SQLITE = "sqlite:///"
_MIGRATE = "agent migrate makes or updates it"


def here() -> Path:
    """The folder where the command was called."""
    return Path(os.environ.get("BUILD_WORKING_DIRECTORY") or os.getcwd())


def add_store(parser: CommandParser) -> None:
    """The option that names the store."""
    parser.add_argument(
        "--store",
        required=True,
        type=_store,
        metavar="URL",
        help="sqlite:///PATH or postgresql+psycopg://...",
    )


def add_deployment(parser: CommandParser) -> None:
    """The option that names the deployment."""
    parser.add_argument(
        "--deployment",
        type=here().joinpath,
        metavar="FILE",
        help=f"default: {DEPLOYMENT} of the workspace",
    )


def _store(url: str) -> str:
    """The path of a file of SQLite is the caller's. A store in memory would be nobody else's."""
    if url == "memory":
        raise argparse.ArgumentTypeError("found memory, which no other process sees")
    if not url.startswith(_SQLITE) or url == _SQLITE:
        return url
    return _SQLITE + str(here() / url.removeprefix(_SQLITE))


def guarded(
    program: str,
    arguments: Sequence[str],
    options: Callable[[Sequence[str]], argparse.Namespace],
    run: Callable[[argparse.Namespace, Console], int],
) -> int:
    """Run a command in its workspace; every error that is nobody's defect becomes an exit code and
    a line on stderr."""
    console = Console(program)
    try:
        chosen = options(arguments)
        with contextlib.chdir(os.environ.get("BUILD_WORKSPACE_DIRECTORY") or os.getcwd()):
            return run(chosen, console)
    except SystemExit as ended:
        return int(ended.code or OK)
    except (UsageError, RefusedError) as error:
        console.note(str(error))
        return error.code
    except (DefinitionError, ConfigurationRefused) as refused:
        console.plain(str(refused))
        return REFUSED
    except SchemaMismatch as error:
        console.note(f"--store: {error}; {_MIGRATE}")
        return REFUSED
    except StorageUnavailable as error:
        console.note(f"--store: it cannot be used: {error}")
        return UNREACHABLE
    except AgentCoreError as error:
        console.note(str(error))
        return FAILED
    except OSError as error:
        console.note(f"{error.filename or 'a file'}: {error.strerror or error}")
        return REFUSED
    except KeyboardInterrupt:
        console.note("interrupted")
        return INTERRUPTED


@contextlib.contextmanager
def store_errors(tenant_id: str, options: str = "--store") -> Iterator[None]:
    """Around the opening of a store: what is wrong with its URL, or with what else `options`
    say, and who is not registered."""
    try:
        yield
    except ValueError as error:
        raise UsageError(f"{options}: {error}") from None
    except ImportError as error:
        raise RefusedError(f"--store: this program has no {error.name}, which it takes") from None
    except NotFound:
        message = f"--store: it does not know {tenant_id}; agent migrate --tenant registers it"
        raise RefusedError(message) from None


def the_only(kind: str, name: str | None, names: Collection[str]) -> str:
    """The name that was chosen for --`kind`, or the only one there is. Raises UsageError."""
    known = sorted(names)
    if name is None and len(known) == 1:
        return known[0]
    if name is None:
        raise UsageError(f"--{kind}: name one of {', '.join(known) or 'none'}")
    if name not in known:
        raise UsageError(f"--{kind}: {unknown_name(kind, name, known)}")
    return name


def tenants(principals: Mapping[str, Principal]) -> frozenset[str]:
    """For whom a deployment acts."""
    return frozenset(principal.tenant_id for principal in principals.values())
