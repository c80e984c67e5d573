"""Where episodes are right now, for staff who watch: any number of them in a fixed number of queries.

What changes is told by `stream.tell_audience` (`told.EpisodeNews`); the whole picture is read here.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from functools import reduce
from operator import or_
from typing import Any

from django.db.models import Count, Exists, F, Max, OuterRef, Q, Sum

from kitchen.contract.world import WorldError
from kitchen.play import stored
from kitchen.play.clock import NOBODY, PERSON, TIMEOUT
from kitchen.play.models import Episode, Message, ModelCall, Seat, SeatCommand, Ticking
from kitchen.registry.figures import standing


@dataclass(frozen=True, slots=True)
class EpisodeFacts:
    """One episode as staff see it."""

    id: int
    key: str
    audience: str
    status: str
    ended_because: str
    step: int
    """Steps taken."""
    standing: tuple[str, ...]
    """What episodes are compared by, as it stands, figure by figure in words."""
    length: int | None
    """Steps of the whole episode, None if it has no fixed end or its state cannot be read."""
    turn_opened_at: datetime
    turn_closes_at: datetime | None
    people_missing: tuple[int, ...]
    """Seats of people whose command the open step waits for."""
    minds_missing: tuple[int, ...]
    """Seats of co-players whose command it waits for."""
    opened: bool
    """Every person has opened their page at least once."""
    fallbacks: int
    """Commands that a fallback gave for a co-player."""
    ran_out: int
    """Steps in which a person's time ran out, and no outage had to do with it."""
    model_failures: int
    """Calls of language models that ended without an answer."""
    spent: Decimal
    """US dollars that its calls cost, as far as their price is known."""
    last_command_at: datetime | None
    """When a person commanded last."""
    late: int | None = None
    """Steps that a clock took too late; None where there is no clock."""


def episode_facts(episode_ids: Iterable[int]) -> dict[int, EpisodeFacts]:
    """The facts of these episodes by id; one that is erased is left out."""
    episodes = list(Episode.objects.filter(pk__in=list(episode_ids)))
    ids = [episode.pk for episode in episodes]
    commands, calls, seats, given = _commands(ids), _calls(ids), _seats(ids), _given(ids)
    late = _late([episode.pk for episode in episodes if episode.tick_ms])
    return {
        episode.pk: _facts(
            episode,
            seats[episode.pk],
            given[episode.pk],
            commands.get(episode.pk, {}) | calls.get(episode.pk, {}),
            late.get(episode.pk),
        )
        for episode in episodes
    }


def last_command_at(seats: Iterable[tuple[int, int]]) -> datetime | None:
    """When the person in one of these seats, each (episode, number), commanded last, or wrote to others; None
    if nobody did; no world is read."""
    theirs, said = [], []
    for episode, seat in seats:
        theirs.append(Q(episode=episode, seat=seat))
        said.append(Q(episode=episode, sender=seat))
    if not theirs:
        return None
    rows = SeatCommand.objects.filter(reduce(or_, theirs), chosen_by=PERSON, planned_in=None).order_by()
    people = Seat.objects.filter(episode=OuterRef("episode"), number=OuterRef("sender"), mind=None)
    words = Message.objects.filter(Exists(people), reduce(or_, said)).order_by()
    times = rows.aggregate(last=Max("received_at"))["last"], words.aggregate(last=Max("sent_at"))["last"]
    return max(filter(None, times), default=None)


@dataclass(frozen=True, slots=True)
class EpisodeCounts:
    """What went wrong in one episode so far, and its money; the fields as in `EpisodeFacts`."""

    fallbacks: int = 0
    ran_out: int = 0
    model_failures: int = 0
    spent: Decimal = Decimal(0)


def episode_counts(episode_ids: Iterable[int]) -> dict[int, EpisodeCounts]:
    """The counts by id in two queries, no world is read; an episode without any command is left out."""
    ids = list(episode_ids)
    commands, calls = _commands(ids), _calls(ids)
    return {
        episode_id: EpisodeCounts(
            fallbacks=row["fallbacks"],
            ran_out=row["ran_out"],
            model_failures=calls.get(episode_id, {}).get("failures", 0),
            spent=calls.get(episode_id, {}).get("spent") or Decimal(0),
        )
        for episode_id, row in commands.items()
    }


def _facts(
    episode: Episode, seats: list[Seat], given: set[int], counts: dict[str, Any], late: int | None
) -> EpisodeFacts:
    playing = episode.status == Episode.Status.PLAYING and not episode.tick_ms  # a clock waits for nobody
    waited = (seat for seat in seats if playing and seat.acts and seat.may_act_in != episode.step + 1)
    missing = [seat for seat in waited if seat.number not in given]
    return EpisodeFacts(
        id=episode.pk,
        key=str(episode.key),
        audience=episode.audience,
        status=episode.status,
        ended_because=episode.ended_because,
        step=episode.step,
        standing=standing(episode.world, episode.score),
        length=_length(episode),
        turn_opened_at=episode.turn_opened_at,
        turn_closes_at=episode.turn_closes_at,
        people_missing=tuple(seat.number for seat in missing if seat.is_person),
        minds_missing=tuple(seat.number for seat in missing if not seat.is_person),
        opened=all(seat.page for seat in seats if seat.is_person),
        fallbacks=counts.get("fallbacks", 0),
        ran_out=counts.get("ran_out", 0),
        model_failures=counts.get("failures", 0),
        spent=counts.get("spent") or Decimal(0),
        last_command_at=counts.get("last"),
        late=late,
    )


def _late(ids: list[int]) -> dict[int, int]:
    return dict(Ticking.objects.filter(pk__in=ids).values_list("pk", "late")) if ids else {}


def _length(episode: Episode) -> int | None:
    """Of one damaged episode nobody knows it; the others are shown all the same."""
    try:
        return stored.episode_world(episode).length
    except WorldError:
        return None


def _commands(ids: list[int]) -> dict[int, dict[str, Any]]:
    rows = SeatCommand.objects.filter(episode__in=ids).order_by().values("episode")
    counted = rows.annotate(
        fallbacks=Count("pk", filter=~Q(fallback="") & ~Q(chosen_by__in=NOBODY)),
        ran_out=Count("pk", filter=Q(chosen_by=TIMEOUT)),
        last=Max("received_at", filter=Q(chosen_by=PERSON, planned_in=None)),
    )
    return {row["episode"]: row for row in counted}


def _calls(ids: list[int]) -> dict[int, dict[str, Any]]:
    rows = ModelCall.objects.filter(decision__mind__episode__in=ids).order_by()
    counted = rows.values(episode=F("decision__mind__episode")).annotate(
        failures=Count("pk", filter=~Q(error="")), spent=Sum("cost")
    )
    return {row["episode"]: row for row in counted}


def _seats(ids: list[int]) -> dict[int, list[Seat]]:
    seats_by_episode: dict[int, list[Seat]] = defaultdict(list)
    for seat in Seat.objects.filter(episode__in=ids):
        seats_by_episode[seat.episode_id].append(seat)
    return seats_by_episode


def _given(ids: list[int]) -> dict[int, set[int]]:
    """By episode: the seats that have commanded in the open step."""
    seats_by_episode: dict[int, set[int]] = defaultdict(set)
    rows = SeatCommand.objects.filter(episode__in=ids, step=F("episode__step") + 1)
    for episode, seat in rows.values_list("episode_id", "seat"):
        seats_by_episode[episode].add(seat)
    return seats_by_episode
