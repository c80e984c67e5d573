"""Judge agents' predictions by the last step of an episode, after which no agent decides any more.

Agents compare their predictions with what others finished when they decide in the next step. The last step
has no next one, so it is compared here, when the predictions are read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from django.db.models import F

from kitchen.contract.agent_skills import SeatObservation
from kitchen.contract.decision_notes import Prediction
from kitchen.contract.world import Json
from kitchen.contract.world_errors import StateError
from kitchen.play.models import Episode, Step
from kitchen.play.turn.state_store import current_world, known_events
from kitchen.registry.agent_registry import get_skills
from kitchen.registry.dotted_paths import UnknownNameError

ByMind = Mapping[int, Sequence[Prediction]]
"""Predictions by agent number, in the order of steps."""


def judge_by_last_step(found: Mapping[int, ByMind]) -> dict[int, ByMind]:
    """Return these predictions, by episode id, with the outcomes that the last steps of ended episodes show.

    An episode whose world has no skills, or whose state cannot be read, stays as it is.
    """
    waits = [pk for pk, by_mind in found.items() if any(map(_open_ones, by_mind.values()))]
    ended = Episode.objects.filter(pk__in=waits).exclude(status=Episode.Status.PLAYING)
    last = Step.objects.filter(episode__in=ended, number=F("episode__step"))
    events = dict(last.values_list("episode_id", "events"))
    judged: dict[int, ByMind] = dict(found)
    for episode in ended:
        judged[episode.pk] = {
            mind: list(_judged(episode, several, events.get(episode.pk, ())))
            for mind, several in found[episode.pk].items()
        }
    return judged


def _open_ones(several: Sequence[Prediction]) -> bool:
    return any(one.right is None for one in several)


def _judged(episode: Episode, several: Sequence[Prediction], events: Sequence[Json]) -> Iterator[Prediction]:
    try:
        world, skills = current_world(episode), get_skills(episode.world)
    except (StateError, UnknownNameError):
        yield from several
        return
    for one in several:
        if one.right is not None or one.step > episode.step:  # of a step that was not played
            yield one
            continue
        known = known_events(world, (one.by,), events)
        sight = SeatObservation(one.by, world.brief(one.by), world.observe(one.by), (), known)
        outcomes = (
            (done, skills.agrees(sight, one.predicted, done)) for done in skills.finished(sight, one.of)
        )
        told = next(((done, right) for done, right in outcomes if right is not None), None)
        yield one.judged(told[0], episode.step, right=told[1]) if told else one
