"""Figures of a fast-and-slow partner from the log: changes of aims, and the time from words to aims."""

from __future__ import annotations

from typing import Any

from kitchen.contract.episode_log import EpisodeLog, LoggedDecision
from kitchen.worlds.overcooked.aim_measures import AIM_METRICS


def change(message: int | None, ms: int | None, by: str = "words") -> dict[str, Any]:
    aims = {"first": ["onion"], "left": ["dish", "serve"], "mode": "work"}
    steps = None if message is None else 1
    return {"aims": aims, "by": by, "message": message, "written_in": 4, "steps": steps, "ms": ms}


def log_of(*notes: Any, kind: str = "fast_and_slow") -> EpisodeLog:
    decisions = (LoggedDecision(step, 1, "seat", kind, "", 1.0, note) for step, note in enumerate(notes, 1))
    return EpisodeLog("overcooked", {}, 2, 1, decisions=tuple(decisions))


def test_changes_and_times_are_counted_by_who_caused_them() -> None:
    log = log_of(
        {"heard": 0},
        {"aim_changes": [change(1, 100), change(2, 300)]},
        {"aim_changes": [change(None, None, "stand-in")], "dropped_thought": {"why": "too_old"}},
        None,
    )
    assert AIM_METRICS.measure(log) == {
        "aim_changes": 3,
        "aim_changes_by_words": 2,
        "aim_milliseconds": 200.0,
        "dropped_thoughts": 1,
    }


def test_episode_without_such_a_partner_has_no_values() -> None:
    assert set(AIM_METRICS.measure(log_of({"heard": 0}, kind="greedy")).values()) == {None}
    assert set(AIM_METRICS.measure(log_of()).values()) == {None}


def test_each_change_by_words_is_an_event_with_its_message() -> None:
    (event,) = AIM_METRICS.events(log_of({"aim_changes": [change(7, 150), change(None, None)]}))
    assert (event.step, event.messages, event.values["aims_ms"]) == (1, (7,), 150)
    assert event.values["aims_first"] == "onion"
    assert event.explanation[1] == "By words, 1 steps after message 7."
