"""What one episode came to, as a row."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from statistics import median
from typing import Any

from kitchen.contract.bench import Pairings
from kitchen.contract.foreseeing import Foresight, foreseen_in
from kitchen.contract.model import total
from kitchen.contract.reading import Readings, reading_of
from kitchen.contract.together import kinds_of
from kitchen.contract.world import World
from kitchen.experiments.entries import Entry, Head
from kitchen.experiments.log import Log
from kitchen.experiments.plan import Job
from kitchen.experiments.players import counted
from kitchen.experiments.rows import FAILED, NEEDED, Row
from kitchen.registry.figures import share_counts
from kitchen.registry.worlds import get_ground

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
    (completed, failed), figure = _counts(game)
    foresight = Foresight.of(foreseen_in(each.note for each in decided))
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
        played_by=counted(Counter(who for each in decided for who in kinds_of(each.played_by))),
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
        predictions_judged=foresight.judged,
        predictions_right=foresight.right,
        figure=figure,
    )


def _counts(game: World) -> tuple[tuple[int, int], float | None]:
    """What was done and missed; where partners are compared, the figure that they are compared by."""
    ground = get_ground(game.kind)
    if isinstance(ground, Pairings):
        return (0, 0), float(game.score()[ground.figure])
    return share_counts(game), None


def _read(entries: Iterable[Entry], seats: int) -> dict[str, Any]:
    """How the replies were read, as columns."""
    return sum((Readings.of(reading_of(each.note, seats)) for each in entries), Readings()).columns
