"""Scores of scales, against values computed by hand."""

from __future__ import annotations

import pytest

from study.design.questions.item_fields import ItemPlan
from study.design.questions.questionnaires import (
    Score,
    ScoringError,
    instrument,
    reversed_answer,
    scale_score,
)


def likert(key: str, *, reversed: bool = False, points: int = 5, scale: str = "s") -> ItemPlan:
    return ItemPlan(key=key, measure=key, text=key, scale=scale, points=points, reversed=reversed)


def number(key: str, low: float, high: float, *, reversed: bool = False) -> ItemPlan:
    plain = ItemPlan(key=key, measure=key, text=key, scale="s", kind="number", minimum=low, maximum=high)
    return plain.model_copy(update={"reversed": reversed})


def test_reversed_items_are_turned_round_within_their_range() -> None:
    assert [reversed_answer(likert("a", reversed=True), value) for value in (1, 2, 5)] == [5, 4, 1]
    assert reversed_answer(likert("a", reversed=True, points=7), 3) == 5
    assert reversed_answer(number("a", 10, 100, reversed=True), 30) == 80
    assert reversed_answer(likert("a"), 2) == 2


def test_a_scale_is_the_mean_of_its_items_with_the_reversed_ones_turned() -> None:
    items = [likert("a"), likert("b", reversed=True), likert("c")]
    assert scale_score(items, {"a": 4, "b": 2, "c": 5}) == Score((4 + 4 + 5) / 3)


def test_any_missing_answer_leaves_the_score_open_and_names_the_item() -> None:
    items = [likert("a"), likert("b"), likert("c")]
    assert scale_score(items, {"a": 4, "c": None}) == Score(None, ("b", "c"))


def test_rounding_leads_nobody_off_the_scale() -> None:
    assert reversed_answer(number("a", 0.1, 0.9, reversed=True), 0.9) == 0.1
    items = [number(key, 0, 0.8) for key in "abc"]
    assert scale_score(items, dict.fromkeys("abc", 0.8)) == Score(0.8)


@pytest.mark.parametrize(
    ("answers", "score"),
    [
        ((5, 1) * 5, 100),
        ((1, 5) * 5, 0),
        ((3,) * 10, 50),
        ((5,) * 10, 50),
        # (4-1)+(5-2)+(3-1)+(5-1)+(4-1)+(5-3)+(5-1)+(5-2)+(4-1)+(5-2) = 30, times 2.5
        ((4, 2, 3, 1, 4, 3, 5, 2, 4, 2), 75),
        # 3+1+2+4+2+4+3+1+2+1 = 23, times 2.5
        ((4, 4, 3, 1, 3, 1, 4, 4, 3, 4), 57.5),
    ],
)
def test_the_sus_by_hand(answers: tuple[int, ...], score: float) -> None:
    sus = instrument("sus")
    values = {item.key: value for item, value in zip(sus.items, answers, strict=True)}
    assert scale_score(sus.items, values, sus.score) == Score(score)


def test_the_raw_nasa_tlx_is_the_mean_of_its_six_ratings() -> None:
    tlx = instrument("nasa_tlx")
    ratings = (70, 10, 55, 25, 60, 20)  # 240 in all
    values = {item.key: value for item, value in zip(tlx.items, ratings, strict=True)}
    assert scale_score(tlx.items, values, tlx.score) == Score(40)
    without = {**values, "tlx_effort": None}
    assert scale_score(tlx.items, without, tlx.score) == Score(None, ("tlx_effort",))


def test_what_cannot_be_scored_is_refused_with_words() -> None:
    with pytest.raises(ScoringError, match="a: 6 is not from 1 to 5"):
        scale_score([likert("a")], {"a": 6})
    with pytest.raises(ScoringError, match="one range"):
        scale_score([likert("a"), likert("b", points=7)], {})
    with pytest.raises(ScoringError, match="no items"):
        scale_score([], {})
    with pytest.raises(ScoringError, match="ten Likert items"):
        scale_score([likert("a")], {"a": 3}, "sus")
    with pytest.raises(ScoringError, match="a: only Likert items"):
        scale_score([ItemPlan(key="a", measure="a", text="a", scale="s", kind="text")], {"a": 1})
