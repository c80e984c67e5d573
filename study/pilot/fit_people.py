"""Fit the habits of people (`kitchen.agents.human_like.play_habits`) to the finished episodes of a study.

Programs can then play as these people do. The result has a line of rates for each person, sorted by the
counts. It holds no code, no answer and no time of day.
"""

from __future__ import annotations

import logging
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from hashlib import sha256

from django.db.models import QuerySet

from kitchen.agents.human_like.count_habits import count_habits
from kitchen.agents.human_like.play_habits import MAX_PEOPLE, Changes, PlayHabits, fitted_habits, habits_text
from kitchen.contract.world_errors import WorldError
from kitchen.play.models import Episode, ImportedEpisode
from kitchen.registry.dotted_paths import UnknownNameError
from kitchen.registry.world_registry import get_world
from kitchen.replay.episode_record import EPISODES_PER_READ, EpisodeRecord, read_episode_records
from study.design.models import Study
from study.participants.models import Round

MAX_STEPS = 20_000
"""Number of steps after which no further episode is read. That many take less than a minute."""
MOST_GAMES = 400
"""Number of imported games that are looked at."""
ROUNDS_IN_FORM = 50
"""Number of rounds that a form looks at."""

log = logging.getLogger(__name__)


def rounds_to_fit(study: Study, *, synthetic: bool = False) -> QuerySet[Round]:
    """Return the rounds whose episodes can be fitted, the newest first: finished, played by people (or by
    programs with `synthetic`), and not taken over by a co-player."""
    played = Round.objects.filter(
        participant__study=study,
        participant__synthetic=synthetic,
        participant__preview=False,
        episode__ended_at__isnull=False,
    )
    return played.order_by("-episode__ended_at", "-pk")


def has_people_to_fit(study: Study) -> bool:
    """Return whether one of the newest rounds of people can be fitted. Quick enough for a form."""
    newest = rounds_to_fit(study).select_related("episode")[:ROUNDS_IN_FORM]
    return any(map(can_replay, newest))


def people_of_study(study: Study, *, synthetic: bool = False) -> tuple[PlayHabits, ...]:
    """Return the habits of everybody who played episodes of the study; with `synthetic`, of programs instead.
    Empty if there is no episode that can be played again.

    The newest `MAX_STEPS` steps count.
    """
    counted: dict[int, Changes] = defaultdict(Counter)
    for one, record in _newest(rounds_to_fit(study, synthetic=synthetic)):
        try:
            counted[one.participant_id].update(count_habits(record.log, one.seat))
        except (WorldError, UnknownNameError) as error:
            log.warning("episode %s is left out: %s", record.episode.pk, error)
    people = sorted(counted.values(), key=lambda one: sorted(one.items()))  # no order of people or times
    return fitted_habits(people[:MAX_PEOPLE])


def people_of_imported(file_hash: str = "") -> tuple[PlayHabits, ...]:
    """Return the habits of the people in imported games: one line for each person of each game, because files
    do not say who played several. With `file_hash`, the beginning of a file's SHA-256, only its games count.

    The newest `MAX_STEPS` steps count.
    """
    games = ImportedEpisode.objects.filter(file_hash__startswith=file_hash).order_by("-episode")
    ids = [pk for pk, people in games.values_list("episode", "people") if any(people)]
    left, counted = MAX_STEPS, list[Changes]()
    for record in read_episode_records(Episode.objects.filter(pk__in=ids[:MOST_GAMES])):
        people = record.episode.imported.people
        try:
            counted += [count_habits(record.log, seat) for seat, is_person in enumerate(people) if is_person]
        except (WorldError, UnknownNameError) as error:
            log.warning("episode %s is left out: %s", record.episode.pk, error)
        left -= len(record.steps)
        if left <= 0:
            break
    return fitted_habits(sorted(counted, key=lambda one: sorted(one.items()))[:MAX_PEOPLE])


def people_digest(people: Sequence[PlayHabits]) -> str:
    """Return the number of people and steps, and the start of the SHA-256 of the rates, in one line."""
    steps, digest = sum(each.steps for each in people), sha256(habits_text(people).encode()).hexdigest()
    return f"{len(people)} people, {steps} steps, {digest[:12]}"


def _newest(rounds: QuerySet[Round]) -> Iterator[tuple[Round, EpisodeRecord]]:
    """Yield rounds with their episodes, at most `MAX_STEPS` steps in all."""
    left = MAX_STEPS
    playable = [one for one in rounds.select_related("episode") if can_replay(one)]
    for begin in range(0, len(playable), EPISODES_PER_READ):
        some = playable[begin : begin + EPISODES_PER_READ]
        ids = [one.episode_id for one in some if one.episode_id]
        records = {
            record.episode.pk: record for record in read_episode_records(Episode.objects.filter(pk__in=ids))
        }
        for one in some:
            record = records.get(one.episode_id or 0)
            if record and left > 0:
                left -= len(record.steps)
                yield one, record
        if left <= 0:
            return


def can_replay(one: Round) -> bool:
    """Return whether this round's episode was played to its end by its person, with the present version of
    its world."""
    if one.is_given_up or one.episode is None:
        return False
    try:
        return get_world(one.episode.world).version == one.episode.world_version
    except UnknownNameError:
        return False
