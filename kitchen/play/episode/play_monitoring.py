"""Read the state, errors, delays and costs of episodes for staff, and decide which episodes a user may see.

The module changes no data. Superusers see all episodes. Other staff see the episodes that a registered rule
allows (`register_visibility_rule`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from decimal import Decimal
from functools import reduce
from operator import or_
from statistics import quantiles
from typing import Any

from django.db.models import Count, Exists, F, Max, OuterRef, Q, QuerySet, Sum
from django.utils import timezone

from kitchen.contract.automatic_commands import NOT_ASKED
from kitchen.contract.episode_log import EpisodeLog
from kitchen.contract.world import Json
from kitchen.contract.world_errors import WorldError
from kitchen.play.episode.log_metrics import has_log_metrics, read_logs
from kitchen.play.models import Decision, Episode, Message, ModelCall, Seat, SeatCommand, Step, Ticking
from kitchen.play.turn import state_store
from kitchen.play.turn.step_timer import NO_CHOICE_CODES, PERSON, TIMEOUT
from kitchen.play.turn.turn_searches import overdue_turns, undecided_turns
from kitchen.registry.agent_registry import agent_kinds, get_agent
from kitchen.registry.world_metrics import metric_summary, with_log_metrics


@dataclass(frozen=True, slots=True)
class EpisodeCounts:
    """Numbers of faults in one episode so far, and the cost of its model calls."""

    fallbacks: int = 0
    """Commands that a fallback gave for an agent."""
    ran_out: int = 0
    """Steps in which a person's time ran out, not counting outages."""
    model_failures: int = 0
    """Language model calls that ended without an answer."""
    spent: Decimal = Decimal(0)
    """US dollars that the model calls cost. Calls of unknown price are left out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodeFacts(EpisodeCounts):
    """The present state of one episode, for pages of staff."""

    id: int
    key: str
    audience: str
    status: str
    ended_because: str
    step: int
    """Number of steps taken."""
    standing: tuple[str, ...]
    """The present values of the metrics that episodes are compared by, as text."""
    length: int | None
    """Number of steps of the whole episode. None without a fixed end, or if its state cannot be read."""
    turn_opened_at: datetime
    turn_closes_at: datetime | None
    people_missing: tuple[int, ...]
    """Seats of people whose command the open step waits for."""
    minds_missing: tuple[int, ...]
    """Seats of agents whose command the open step waits for."""
    opened: bool
    """True if every person has opened their page at least once."""
    last_command_at: datetime | None
    """Time of the last command by a person."""
    late: int | None = None
    """Real-time steps that were taken too late. None in a turn-based episode."""


def episode_facts(episode_ids: Iterable[int]) -> dict[int, EpisodeFacts]:
    """Return the present state of these episodes by id. Erased episodes are left out."""
    episodes = list(Episode.objects.filter(pk__in=list(episode_ids)))
    ids = [episode.pk for episode in episodes]
    commands, calls, seats, given = _commands(ids), _calls(ids), _seats(ids), _given(ids)
    late = _late([episode.pk for episode in episodes if episode.tick_ms])
    scores = _scores_so_far(episodes)
    return {
        episode.pk: _facts(
            episode,
            scores.get(episode.pk, episode.score),
            seats[episode.pk],
            given[episode.pk],
            commands.get(episode.pk, {}) | calls.get(episode.pk, {}),
            late.get(episode.pk),
        )
        for episode in episodes
    }


def last_command_at(seats: Iterable[tuple[int, int]]) -> datetime | None:
    """Return the time of the newest command or message by a person in one of these seats. Seats are given as
    (episode id, seat number). None if there is none."""
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


def episode_counts(episode_ids: Iterable[int]) -> dict[int, EpisodeCounts]:
    """Return the numbers of faults and the cost of these episodes by id, in two queries.

    Episodes without any command are left out.
    """
    ids = list(episode_ids)
    commands, calls = _commands(ids), _calls(ids)
    return {
        episode_id: EpisodeCounts(**_counts(row | calls.get(episode_id, {})))
        for episode_id, row in commands.items()
    }


def _counts(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of `EpisodeCounts` for one episode. `row` has the counts that the queries
    `_commands` and `_calls` found."""
    return {
        "fallbacks": row.get("fallbacks", 0),
        "ran_out": row.get("ran_out", 0),
        "model_failures": row.get("failures", 0),
        "spent": row.get("spent") or Decimal(0),
    }


def _scores_so_far(episodes: Sequence[Episode]) -> dict[int, dict[str, Json]]:
    """Return the scores of running episodes with the metrics computed from the log so far, by id.

    Episodes whose world has no such metrics are left out. Messages in the open step do not count yet, because
    an answer may follow.
    """
    running = [one for one in episodes if one.status == Episode.Status.PLAYING and has_log_metrics(one.world)]
    logs = read_logs(running) if running else {}
    return {one.pk: with_log_metrics(one.score, _of_steps_taken(logs[one.pk], one.step)) for one in running}


def _of_steps_taken(log: EpisodeLog, taken: int) -> EpisodeLog:
    return replace(log, messages=tuple(said for said in log.messages if said.step <= taken))


def _facts(
    episode: Episode,
    score: Mapping[str, Json],
    seats: list[Seat],
    given: set[int],
    counts: dict[str, Any],
    late: int | None,
) -> EpisodeFacts:
    # a real-time step waits for nobody
    playing = episode.status == Episode.Status.PLAYING and not episode.tick_ms
    acting = (seat for seat in seats if playing and seat.acts and seat.may_act_in != episode.step + 1)
    led = (seat for seat in seats if playing and not seat.acts and seat.answer_awaited_in == episode.step + 1)
    missing = [*(seat for seat in acting if seat.number not in given), *led]
    return EpisodeFacts(
        id=episode.pk,
        key=str(episode.key),
        audience=episode.audience,
        status=episode.status,
        ended_because=episode.ended_because,
        step=episode.step,
        standing=metric_summary(episode.world, score),
        length=_length(episode),
        turn_opened_at=episode.turn_opened_at,
        turn_closes_at=episode.turn_closes_at,
        people_missing=tuple(seat.number for seat in missing if seat.is_person),
        minds_missing=tuple(seat.number for seat in missing if not seat.is_person),
        opened=all(seat.page for seat in seats if seat.is_person),
        **_counts(counts),
        last_command_at=counts.get("last"),
        late=late,
    )


def _late(ids: list[int]) -> dict[int, int]:
    return dict(Ticking.objects.filter(pk__in=ids).values_list("pk", "late")) if ids else {}


def _length(episode: Episode) -> int | None:
    """Return the length of the episode in steps. Return None if its settings are damaged, so that other
    episodes are still shown."""
    try:
        return state_store.current_world(episode).length
    except WorldError:
        return None


def _commands(ids: list[int]) -> dict[int, dict[str, Any]]:
    rows = SeatCommand.objects.filter(episode__in=ids).order_by().values("episode")
    counted = rows.annotate(
        fallbacks=Count("pk", filter=~Q(fallback="") & ~Q(chosen_by__in=NO_CHOICE_CODES)),
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
    """Return, by episode, the seats that have given a command in the open step."""
    seats_by_episode: dict[int, set[int]] = defaultdict(set)
    rows = SeatCommand.objects.filter(episode__in=ids, step=F("episode__step") + 1)
    for episode, seat in rows.values_list("episode_id", "seat"):
        seats_by_episode[episode].add(seat)
    return seats_by_episode


NEWEST_ROWS = 2000
"""Maximum number of rows read."""
LATE_AFTER = timedelta(seconds=5)
"""Extra time beyond a turn's limit before it counts as late. Workers' checks normally find it earlier."""


@dataclass(frozen=True, slots=True)
class PlayPace:
    """Number and duration of recent steps. A duration is the seconds from the last command to the stored
    step.

    Only turns that waited for nothing but the server have a duration: no agent had to think, and no real-
    time clock ran.
    """

    steps: int
    capped: bool
    """True if there were more steps than are read."""
    half: float | None
    """The median in seconds. None without such steps."""
    most: float | None
    """The 95th percentile in seconds."""


@dataclass(frozen=True, slots=True)
class RecentFaults:
    """Numbers of recent decisions and model calls, and how many of them failed."""

    decisions: int
    fallbacks: int
    calls: int
    failures: int


def running_episode_counts() -> dict[str, int]:
    """Return the number of running episodes, by world."""
    playing = Episode.objects.filter(status=Episode.Status.PLAYING).order_by()
    return dict(playing.values_list("world").annotate(Count("pk")))


def count_late_turns() -> int:
    """Return the number of episodes in which a step is overdue: the agents have not decided in time, or a
    turn was not closed at its deadline."""
    waiting = (*undecided_turns(LATE_AFTER), *overdue_turns(LATE_AFTER))
    return len({pk for pk, _ in waiting})


def recent_pace(minutes: float = 1) -> PlayPace:
    """Return the number and the duration of the steps in the last `minutes`."""
    rows = Step.objects.order_by("-pk").values_list("taken_at", "commands", "episode__tick_ms")[:NEWEST_ROWS]
    since = timezone.now() - timedelta(minutes=minutes)
    fresh = [(taken_at, commands, ticks) for taken_at, commands, ticks in rows if taken_at >= since]
    turns = [(taken_at, commands) for taken_at, commands, ticks in fresh if not ticks]
    took = [seconds for row in turns if (seconds := _own_seconds(*row)) is not None]
    cuts = quantiles([*took, *took], n=20) if took else None
    return PlayPace(
        steps=len(fresh),
        capped=len(fresh) == NEWEST_ROWS,
        half=cuts[9] if cuts else None,
        most=cuts[18] if cuts else None,
    )


def _own_seconds(taken_at: datetime, commands: Sequence[Json]) -> float | None:
    """Return the seconds from the last person's command until the step was stored. Return None if agents also
    decided in this step."""
    asked = [entry for entry in commands if "planned_in" not in entry]
    by = {entry["chosen_by"] for entry in asked}
    if PERSON not in by or any(entry["fallback"] for entry in asked) or not all(map(_is_instant, by)):
        return None
    came = (datetime.fromisoformat(each["received_at"]) for each in asked if each["chosen_by"] == PERSON)
    return max(0.0, (taken_at - max(came)).total_seconds())


def _is_instant(chosen_by: str) -> bool:
    return chosen_by in {PERSON, *NOT_ASKED} or (chosen_by in agent_kinds() and get_agent(chosen_by).instant)


def recent_faults(minutes: float = 15) -> RecentFaults:
    """Return the numbers of agents' decisions and model calls in the last `minutes`, and how many of them
    failed."""
    since = timezone.now() - timedelta(minutes=minutes)
    made = Decision.objects.order_by("-pk").values_list("decided_at", "fallback", "dropped")[:NEWEST_ROWS]
    decided = [fallback for at, fallback, dropped in made if at >= since and not dropped]
    asked = ModelCall.objects.order_by("-pk").values_list("decision__decided_at", "error")[:NEWEST_ROWS]
    called = [error for at, error in asked if at >= since]
    return RecentFaults(len(decided), sum(map(bool, decided)), len(called), sum(map(bool, called)))


VisibilityRule = Callable[[Any], QuerySet[Episode]]
"""Function from a staff member (not a superuser) to the episodes that this person may see."""

_rules: list[VisibilityRule] = []


def register_visibility_rule(rule: VisibilityRule) -> None:
    """Register a function that returns the episodes that a staff member may see. Several rules add up: staff
    see the episodes of all of them."""
    if rule not in _rules:
        _rules.append(rule)


def visible_episodes(user: Any) -> QuerySet[Episode]:
    """Return the episodes that this user may see. Empty for users who are not staff."""
    if not (user.is_active and user.is_staff):
        return Episode.objects.none()
    if user.is_superuser:
        return Episode.objects.all()
    visible = Episode.objects.none()
    for rule in _rules:
        visible = visible | rule(user)
    return visible
