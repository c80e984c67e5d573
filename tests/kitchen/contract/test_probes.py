"""Probes of a condition are checked, are due at their times, and keep count of what was asked."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from kitchen.contract.probes import (
    RatingSlider,
    begun_hold,
    due_probes,
    ended_hold,
    read_probes,
)
from kitchen.contract.world import Json
from kitchen.contract.world_errors import SettingsError
from kitchen.words.foreign_text import ForeignText

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)
LIKERT = {"text": "I trust it.", "low": "no", "high": "yes"}


def probe(**given: Json) -> dict[str, Json]:
    return {"items": [LIKERT], **given}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ([probe()], "give one of step"),
        ([probe(step=1, every_steps=2)], "give one of step"),
        ([probe(every_seconds=1)], "from 5 to"),
        ([probe(event="eaten")], "'eaten' is not one of refused, served"),
        ([probe(step=1, items=[])], "ask 1 to 2 items"),
        ([probe(step=1, items=[{"text": "Why?", "kind": "essay"}])], "kind is one of"),
        ([probe(step=1, items=[{"text": "Why?", "kind": "choice", "options": ["a"]}])], "2 to 9 options"),
        ([probe(step=1, items=[{"text": "How much?"}])], "both ends"),
        ([probe(step=1, colour="red")], "'colour' is not one of"),
        ([probe(step=1, key="a"), probe(step=2, key="a")], "a is there twice"),
        ([probe(step=True)], "whole number"),
        ("step 1", "write a list"),
    ],
)
def test_a_probe_that_cannot_be_asked_is_refused_in_words(given: Any, said: str) -> None:
    with pytest.raises(SettingsError, match=said):
        read_probes(given, ["served"])


def due(
    given: Json, state: Json, step: int, *, kinds: tuple[str, ...] = (), tick_ms: int | None = None
) -> bool:
    read = read_probes([given], ["served"])
    now = NOW + timedelta(seconds=step)
    return bool(due_probes(read, state, step=step, kinds=kinds, tick_ms=tick_ms, began=NOW, now=now))


def test_probes_are_due_at_a_step_every_few_steps_or_seconds_and_at_events() -> None:
    steps = range(1, 21)
    assert [step for step in steps if due(probe(step=3), {}, step)] == [3]
    assert [step for step in steps if due(probe(every_steps=8), {}, step)] == [8, 16]
    assert [step for step in steps if due(probe(every_seconds=5), {}, step, tick_ms=1000)] == [5, 10, 15, 20]
    assert not due(probe(every_seconds=5), {}, 4) and due(probe(every_seconds=5), {}, 5)
    assert due(probe(event="served"), {}, 2, kinds=("served",)) and not due(probe(event="served"), {}, 2)


def test_after_an_answer_the_seconds_begin_anew_and_the_limit_of_times_counts() -> None:
    given = probe(every_seconds=5, at_most=1, key="a")
    read = read_probes([given], [])
    began = begun_hold({}, read, [1, 0], now=NOW, timed=False)
    assert began["hold"]["seats"] == [0, 1] and began["asked"] == {"a": 1}
    ended = ended_hold(began, now=NOW + timedelta(seconds=2))
    assert (ended["pause_ms"], "hold" in ended) == (2000, False)
    assert not due(given, ended, 30)
    assert not due({**given, "at_most": 0}, ended, 6) and due({**given, "at_most": 0}, ended, 7)


def test_answers_fit_their_items_and_texts_are_in_the_readers_language() -> None:
    words = {"es": {"text": "Confío.", "options": ["sí", ""]}}
    items = [
        LIKERT,
        {
            "key": "b",
            "kind": "choice",
            "text": "?",
            "options": ["yes", "no"],
            "words": words,
            "language": "en",
        },
    ]
    (read,) = read_probes([probe(step=1, items=items)], [])
    scale, choice = read.items
    assert (scale.read_answer("7"), choice.read_answer(2)) == (7, 2)
    for item, wrong in ((scale, 8), (scale, 0), (scale, "x"), (scale, True), (choice, 3), (choice, None)):
        with pytest.raises(ValueError, match="number"):
            item.read_answer(wrong)
    spanish = choice.in_language("es")
    assert (spanish.text, spanish.options) == ("Confío.", ("sí", "no"))
    assert [getattr(text, "lang", "") for text in (spanish.text, *spanish.options)] == ["", "", "en"]
    assert not any(isinstance(text, ForeignText) for text in choice.in_language("en").options)
    assert read_probes([read.to_json()], []) == (read,)


def test_a_slider_needs_a_text_and_both_ends() -> None:
    assert RatingSlider.read({}) is None
    with pytest.raises(SettingsError, match="both ends"):
        RatingSlider.read({"text": "Trust", "low": "none"})
