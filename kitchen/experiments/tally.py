"""What one episode came to, as a row."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from statistics import median
from typing import Any

from kitchen.contract.model import total
from kitchen.contract.reading import Readings, reading_of
from kitchen.contract.world import World
from kitchen.experiments.entries import Entry, Head
from kitchen.experiments.log import Log
from kitchen.experiments.plan import Job
from kitchen.experiments.players import counted
from kitchen.experiments.rows import FAILED, NEEDED, Row
from kitchen.registry.figures import share_counts

_TEXTS = ("fallback_codes", "played_by", "model", "state_hash")


def failed_row(job: Job, reason: str) -> Row:
    """The row of an episode that an error ended."""
    variant, level, agents = job.column.key
    values: dict[str, Any] = dict.fromkeys(NEEDED, 0) | dict.fromkeys(_TEXTS, "")
    values |= {"variant": variant, "level": level, "agents": agents, "alpha": job.alpha, "cost": None}
    return Row(**values | {"episode": job.episode, "seed": job.seed, "outcome": FAILED, "reason": reason})


def row_of(head: Head, game: World, log: Log) -> Row:
    """The row of an episode that came to its end, from its log. What was asked in vain counts as well."""
    decided = [each for each in log.entries if each.asked]
    calls, why = log.calls, Counter(each.fallback for each in decided if each.fallback)
    times = [each.milliseconds for each in decided] or [0.0]
    completed, failed = share_counts(game)
    cost = total(call.cost for call in calls)
    return Row(
        variant=head.variant,
        level=head.level,
        agents=head.agents,
        alpha=head.alpha,
        episode=head.episode,
        seed=head.seed,
        completed=completed,
        failed=failed,
        steps=game.clock,
        fallbacks=why.total(),
        fallback_codes=counted(why),
        played_by=counted(Counter(each.played_by for each in decided)),
        calls=len(calls),
        tokens_input=sum(call.usage.input for call in calls),
        tokens_output=sum(call.usage.output for call in calls),
        tokens_cache_read=sum(call.usage.cache_read for call in calls),
        tokens_cache_write=sum(call.usage.cache_write for call in calls),
        cost=None if cost is None else float(cost),
        model=", ".join(sorted({call.reply.model for call in calls if call.reply and call.reply.model})),
        ms_median=round(median(times), 3),
        ms_max=round(max(times), 3),
        state_hash=game.state_hash(),
        log=log.hash,
        **_read(decided, head.agents),
    )


def _read(entries: Iterable[Entry], seats: int) -> dict[str, Any]:
    """How the replies were read, as columns."""
    return sum((Readings.of(reading_of(each.note, seats)) for each in entries), Readings()).columns
