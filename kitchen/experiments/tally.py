"""What one episode came to, as a row."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from statistics import median
from typing import Any

from kitchen.agents.teams import DecisionMade
from kitchen.contract.bench import Comparison
from kitchen.contract.foreseeing import Foresight, foreseen_in
from kitchen.contract.model import total
from kitchen.contract.reading import Readings, reading_of
from kitchen.contract.together import kinds_of
from kitchen.contract.world import Json
from kitchen.experiments.course import Course
from kitchen.experiments.entries import Entry
from kitchen.experiments.log import Log
from kitchen.experiments.plan import Job
from kitchen.experiments.players import counted
from kitchen.experiments.rows import FAILED, NEEDED, Row
from kitchen.registry.figures import counts_of_share
from kitchen.registry.worlds import get_ground

_TEXTS = ("fallback_codes", "played_by", "model", "state_hash")


def failed_row(job: Job, reason: str) -> Row:
    """The row of an episode that an error ended."""
    variant, level, agents = job.column.key
    values: dict[str, Any] = dict.fromkeys(NEEDED, 0) | dict.fromkeys(_TEXTS, "")
    values |= {"variant": variant, "level": level, "agents": agents, "alpha": job.alpha, "cost": None}
    return Row(**values | {"episode": job.episode, "seed": job.seed, "outcome": FAILED, "reason": reason})


def row_of(course: Course, log: Log) -> Row:
    """The row of an episode that came to its end, from its log. What was asked in vain counts as well."""
    head, game = course.head, course.game
    decided = [made for entry in log.entries for made in _decisions(entry)]
    calls, why = log.calls, Counter(each.fallback for each in decided if each.fallback)
    times = [each.milliseconds for each in decided] or [0.0]
    (completed, failed), figure = _counts(head.world, course.score())
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
        **_read(course, decided),
        predictions_judged=foresight.judged,
        predictions_right=foresight.right,
        figure=figure,
    )


def _decisions(entry: Entry) -> tuple[Entry | DecisionMade, ...]:
    """Every decision of a step: that of each member in an organisation, else the joint one, if any."""
    return entry.decisions or ((entry,) if entry.asked else ())


def _counts(world: str, score: Mapping[str, Json]) -> tuple[tuple[int, int], float | None]:
    """What was done and missed; where one figure is compared, that figure, None where it is undefined."""
    ground = get_ground(world)
    if not isinstance(ground, Comparison):
        return counts_of_share(world, score), None
    value = score[ground.figure]
    return (0, 0), None if value is None else float(value)


def _read(course: Course, decided: Iterable[Entry | DecisionMade]) -> dict[str, Any]:
    """How the replies were read, as columns."""
    seats = {member.number: len(member.seats) for member in course.team.members}
    if course.team.organisation is None:
        seats = {}
    made = ((each.note, seats.get(getattr(each, "member", -1), course.game.seats)) for each in decided)
    return sum((Readings.of(reading_of(*each)) for each in made), Readings()).columns
