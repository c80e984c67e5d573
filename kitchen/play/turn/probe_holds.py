"""Hold the game after a step in which probes are due, store answers to them, and let the game go on.

Everything is derived from stored rows: `Episode.probing` and `Episode.probe_state` say what is asked and who
still has to answer. So a reloaded page, or another process, asks the same question after the same step.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta

from django.utils import timezone

from kitchen.contract.probes import (
    Probe,
    answered_by,
    begun_hold,
    due_probes,
    ended_hold,
    stored_probes,
    without_pause,
)
from kitchen.contract.world import Event, Json
from kitchen.play.models import Episode, ProbeAnswer, Seat
from kitchen.play.turn.open_turn import OpenTurn
from kitchen.play.turn.step_timer import schedule_turn_close

PROBE_PAUSE = "probe_pause"
"""The event of a step before which probes held the game."""
LIMIT, LEFT, ENDED = "limit", "left", "ended"
"""Why an answer is missing: the time was over, the person had left, or the episode ended."""
Answers = Mapping[str, Mapping[str, Json]]
"""Answers by probe and item."""


def pause_events(turn: OpenTurn) -> tuple[Event, ...]:
    """Return the event of the coming step about the hold before it. Empty if there was none."""
    pause = turn.probe_state.get("pause_ms")
    return () if pause is None else (Event(PROBE_PAUSE, None, {"milliseconds": pause}),)


def hold_if_due(turn: OpenTurn, events: Iterable[Mapping[str, Json]], opened_at: datetime) -> None:
    """Hold the game if probes are due after the step that was just taken. `events` are those of the step, and
    `opened_at` is when it opened. Call this in the step's transaction, after the state was stored."""
    episode, people = turn.episode, turn.people | turn.leaders
    if not episode.probes or not people:
        return
    state, probes = episode.probe_state or {"began": opened_at.isoformat()}, stored_probes(episode.probes)
    due = due_probes(
        probes,
        state,
        step=episode.step,
        kinds=(str(event["kind"]) for event in events),
        tick_ms=episode.tick_ms and turn.world.tick_ms,
        began=datetime.fromisoformat(state["began"]),
        now=episode.turn_opened_at,
    )
    fresh: dict[str, Json] = {"probe_state": without_pause(state)}
    if due:
        timed = episode.turn_closes_at is not None
        state = begun_hold(state, due, people, now=episode.turn_opened_at, timed=timed)
        until = datetime.fromisoformat(state["hold"]["until"])
        fresh = {"probe_state": state, "probing": True, "turn_closes_at": until}
    if due or fresh["probe_state"] != episode.probe_state:
        _store(turn, fresh)


def open_probes(turn: OpenTurn) -> list[Probe]:
    """Return the probes that hold the game now, in the order of the condition."""
    if not turn.is_probing:
        return []
    keys = turn.probe_state["hold"]["probes"]
    return [probe for probe in stored_probes(turn.episode.probes) if probe.key in keys]


def read_answers(probes: Sequence[Probe], given: Answers) -> dict[str, dict[str, Json]]:
    """Return the answers to these probes as they are stored. Raises ValueError if one is missing or does not
    fit its item."""
    return {
        probe.key: {
            item.key: item.read_answer(given.get(probe.key, {}).get(item.key)) for item in probe.items
        }
        for probe in probes
    }


def store_answers(turn: OpenTurn, seat: int, answers: Answers) -> None:
    """Store a person's answers to the open probes. The person is then no longer waited for."""
    _insert(turn, [seat], answers)
    _store(turn, {"probe_state": answered_by(turn.probe_state, seat)})


def end_hold(turn: OpenTurn) -> None:
    """Let the game go on. People who have not answered get rows without an answer: their time was over, or
    they have left. A time limit of the step begins anew."""
    episode, now = turn.episode, timezone.now()
    hold = turn.probe_state["hold"]
    silent = turn.probed_seats
    _insert(turn, sorted(silent), None, LIMIT)
    _insert(turn, sorted({*hold["seats"]} - silent), None, LEFT)
    seconds = episode.step_seconds
    closes_at = now + timedelta(seconds=seconds) if hold["timed"] and seconds is not None else None
    state = ended_hold(turn.probe_state, now=now)
    _store(turn, {"probe_state": state, "probing": False, "turn_closes_at": closes_at, "asked_at": now})
    schedule_turn_close(episode)


def mark_unanswered(episode: Episode) -> None:
    """Store rows without an answer if the episode ends while probes hold it. Call this before its seal.

    A person has left if an agent has the seat, or if no page plays it.
    """
    if episode.probing and episode.probe_state:
        waited_for = {*episode.probe_state["hold"]["seats"]}
        present = Seat.objects.filter(episode=episode, mind=None).exclude(page="")
        ended = waited_for.intersection(present.values_list("number", flat=True))
        rows = _rows(episode, sorted(ended), None, ENDED)
        rows += _rows(episode, sorted(waited_for - ended), None, LEFT)
        ProbeAnswer.objects.bulk_create(ProbeAnswer(**row) for row in rows)
        Episode.objects.filter(pk=episode.pk).update(probing=False)
        episode.probing = False


def _insert(turn: OpenTurn, seats: Iterable[int], answers: Answers | None, missing: str = "") -> None:
    turn.store.insert(ProbeAnswer, _rows(turn.episode, seats, answers, missing))


def _rows(
    episode: Episode, seats: Iterable[int], answers: Answers | None, missing: str
) -> list[dict[str, Json]]:
    hold, now = (episode.probe_state or {})["hold"], timezone.now()
    return [
        {
            "episode_id": episode.pk,
            "step": episode.step,
            "seat": seat,
            "probe": key,
            "answers": None if answers is None else answers[key],
            "missing": missing,
            "asked_at": datetime.fromisoformat(hold["at"]),
            "answered_at": now,
        }
        for seat in seats
        for key in hold["probes"]
    ]


def _store(turn: OpenTurn, fresh: Mapping[str, Json]) -> None:
    turn.store.change(Episode, fresh, where={"id": turn.episode.pk})
    for name, value in fresh.items():
        setattr(turn.episode, name, value)
