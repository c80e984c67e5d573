"""Handing in what minds decided, and again while the database is away for a moment: models were paid for it.
What is not taken is kept with what it cost (`dropping`)."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from kitchen.contract.model import Call, total
from kitchen.machine.failures import traced
from kitchen.machine.outage import outlast
from kitchen.machine.storage import trouble_of
from kitchen.play.asking import UNSTORABLE, Asked, to_hand_in
from kitchen.play.dropping import decisions_drop, told_of
from kitchen.play.models import Decision, Episode
from kitchen.play.queue import is_aside
from kitchen.play.services import Receipt, commands_submit
from kitchen.play.stream import nudge_pages
from kitchen.registry.worlds import get_world

log = logging.getLogger(__name__)


def decided_submit(episode: Episode, step: int, claim: str, asked: Sequence[Asked]) -> Receipt | None:
    """Hand in what was decided; None if the episode is gone. What the database refuses is raised."""
    submit = partial(_submit, episode, step, claim, asked, [])
    return outlast(submit, f"handing in step {step} of episode {episode.pk}")


def _submit(
    episode: Episode, step: int, claim: str, asked: Sequence[Asked], tried: list[Decision]
) -> Receipt | None:
    """One try, with rows of its own, which are added to those that were `tried`."""
    commands, made = to_hand_in(asked, step=step, idle=get_world(episode.world).idle)
    tried += [each.row for each in made]
    try:
        receipt = commands_submit(
            episode_id=episode.pk, step=step, commands=commands, decisions=made, claim=claim
        )
    except Episode.DoesNotExist:  # its person has left
        return None
    if not receipt.accepted and _is_stored(tried):
        return _accepted_unsaid(episode, receipt)
    return receipt


def _is_stored(tried: Sequence[Decision]) -> bool:
    """Whether an earlier try was stored although that could not be said, and not what somebody else
    decided."""
    ours = {(row.mind_id, row.step, row.decided_at) for row in tried}
    rows = Decision.objects.filter(mind__in={row.mind_id for row in tried}, step=tried[0].step)
    return any(row in ours for row in rows.values_list("mind_id", "step", "decided_at"))


def _accepted_unsaid(episode: Episode, receipt: Receipt) -> Receipt:
    """What was to be done after that commit was not: the pages look now, and a look finds what waits for
    workers."""
    if not is_aside():
        nudge_pages(episode.pk)
    return Receipt("accepted", receipt.step)


def decided_drop(episode: Episode, step: int, asked: Sequence[Asked], why: str) -> None:
    """Keep what was decided in vain, and say so. What cannot be stored stands in the log of the program and,
    with its money, in the ledger."""
    kept = partial(_drop, episode, step, asked, why)
    try:
        stored = outlast(kept, f"keeping what was decided in vain for step {step} of episode {episode.pk}")
    except UNSTORABLE as failure:
        if trouble_of(failure):
            raise
        log.error("what was decided in vain could not be stored: %s", traced(failure))
        stored = False
    tell_vain(episode.pk, step, asked, why if stored else f"{why}, and not in the data")


def _drop(episode: Episode, step: int, asked: Sequence[Asked], why: str) -> bool:
    told = [
        replace(each, outcome=replace(each.outcome, decision=told_of(each.outcome.decision)))
        for each in asked
    ]
    _, made = to_hand_in(told, step=step, idle=())
    return decisions_drop(episode=episode, rows=[(each.row, each.calls) for each in made], why=why)


def tell_vain(episode_id: int, step: int, asked: Sequence[Asked], why: str) -> None:
    """Say that a decision came to nothing, and what it cost."""
    calls = [call for each in asked for call in each.outcome.decision.calls]
    told = ("step %s of episode %s: decided in vain (%s); %s", step, episode_id, why, _told_calls(calls))
    log.warning(*told)


def _told_calls(calls: Sequence[Call]) -> str:
    """`2 calls of models, 0.0012 USD`."""
    cost = total(call.cost for call in calls)
    money = "at an unknown price" if cost is None else f"{cost:.4f} USD"
    return f"{len(calls)} calls of models, {money}"
