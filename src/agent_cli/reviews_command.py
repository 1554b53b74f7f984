"""`agent reviews`: the calls of which nobody knows what they did, and what was found out."""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Sequence

from agent_cli.stores import (
    CODES,
    DEPLOYMENT,
    add_deployment,
    add_store,
    guarded,
    store_errors,
    the_only,
)
from agent_core.application.reviews import ReviewService
from agent_core.bootstrap import build_reviews, load_deployment, open_storage
from agent_core.domain.reviews import EffectReview, ReviewResolution
from agent_core.domain.sessions import Principal
from hardgate.cli.console import Console
from hardgate.cli.exits import OK, UsageError
from hardgate.cli.parser import CommandParser, one_of

PROGRAM = "agent reviews"
DESCRIPTION = """\
Lists the calls of tools of which nobody knows whether they had their effect, because a worker died
in between, the oldest first. With REVIEW, says what a person found out about one of them."""


def main(arguments: Sequence[str]) -> int:
    """The command; returns the exit code."""
    return guarded(PROGRAM, arguments, _options, _run)


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = CommandParser(
        PROGRAM,
        "[REVIEW --found WHAT [--note TEXT]] --store URL [OPTION...]",
        DESCRIPTION,
        "--store sqlite:///records.db",
        CODES,
        in_workspace=False,
    )
    parser.add_argument("review", metavar="REVIEW", nargs="?", help="the review's id, to resolve it")
    found = [str(one) for one in ReviewResolution]
    parser.add_argument(
        "--found", metavar="WHAT", type=one_of(found), help=f"{', '.join(found[:-1])} or {found[-1]}"
    )
    parser.add_argument("--note", metavar="TEXT", default="", help="what else there is to say")
    add_store(parser)
    add_deployment(parser)
    who = "who acts (default: the only one there is)"
    parser.add_argument("--principal", metavar="NAME", help=who)
    options = parser.parse(arguments)
    if (options.review is None) != (options.found is None):
        parser.error("REVIEW and --found go together")
    if options.note and options.review is None:
        parser.error("found --note without REVIEW")
    return options


def _run(options: argparse.Namespace, console: Console) -> int:
    rules = load_deployment(str(options.deployment or DEPLOYMENT))
    principal = rules.principals[the_only("principal", options.principal, rules.principals)]
    with store_errors(principal.tenant_id):
        storage = open_storage(options.store, tenant_id=principal.tenant_id)
    try:
        reviews = asyncio.run(_asked(build_reviews(storage.units), principal, options))
    except ValueError as error:
        raise UsageError(str(error)) from None
    finally:
        storage.close()
    if options.json:
        found = [_plain(review) for review in reviews]
        console.json({"schema_version": 1, "ok": True, "reviews": found})
    else:
        console.result("\n".join(map(_line, reviews)) or "no open reviews")
    return OK


async def _asked(
    service: ReviewService, principal: Principal, options: argparse.Namespace
) -> tuple[EffectReview, ...]:
    """The open reviews, or the one that was resolved."""
    if options.review is None:
        return await service.list_open(principal)
    found = ReviewResolution(options.found)
    return (await service.resolve(principal, options.review, found, options.note),)


def _line(review: EffectReview) -> str:
    state = review.resolution or "open"
    return (
        f"{review.id}  {state}  {review.tool_name}  {review.reason_code}  run {review.run_id}  "
        f"{review.opened_at.isoformat()}"
    )


def _plain(review: EffectReview) -> dict[str, str | None]:
    resolved = review.resolved_at
    return {
        **{name: value for name, value in review._asdict().items() if name != "tenant_id"},
        "opened_at": review.opened_at.isoformat(),
        "resolved_at": resolved and resolved.isoformat(),
    }
