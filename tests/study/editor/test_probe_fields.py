"""Researchers write probes and the slider as plain lines, and read them as they wrote them."""

from __future__ import annotations

import pytest
from django import forms

from kitchen.contract.probes import read_probes
from study.design.probe_texts import probes_in_words, slider_in_words
from study.editor.probe_fields import ProbesField, RatingSliderField, probes_help

WRITTEN = """every 10 steps, 45 seconds, at most 3 times
I trust my partner: fully. [likert 5: not at all | completely]
Why? [text]

when completed
who = Who leads? [choice: I do | My partner]
"""


def test_lines_become_probes_and_probes_become_lines() -> None:
    field = ProbesField()
    stored = field.clean(WRITTEN)
    first, second = read_probes(stored, ["completed"])
    assert (first.every_steps, first.limit_seconds, first.at_most, first.items[0].points) == (10, 45, 3, 5)
    assert (second.event, second.limit_seconds, second.items[0].key) == ("completed", 60, "who")
    lines = field.prepare_value([first.to_json(), second.to_json()])
    assert read_probes(field.clean(lines), ["completed"]) == (first, second)
    assert field.clean("") == [] and not field.has_changed(stored, WRITTEN)
    assert probes_in_words("cuisine", stored).startswith(
        "every 10 steps, at most 3 times, for 45 s: “I trust"
    )
    assert "completed (an order was served)" in probes_help("cuisine")


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("sometimes\nWhy? [text]", "“sometimes” is no time"),
        ("60 seconds\nWhy? [text]", "begin with when it is asked"),
        ("every 3 steps", "write a question on the next line"),
        ("every 3 steps\nWhy?", "end the question with its answers"),
        ("every 3 steps\nHow? [slider: low]", "both ends"),
    ],
)
def test_a_line_that_cannot_be_read_is_named(written: str, said: str) -> None:
    with pytest.raises(forms.ValidationError, match=said):
        ProbesField().clean(written)


def test_the_slider_is_one_line() -> None:
    field = RatingSliderField()
    stored = field.clean("Trust: in it: none | full")
    assert stored == {"text": "Trust: in it", "low": "none", "high": "full"}
    assert field.prepare_value(stored) == "Trust: in it: none | full" and field.clean("") == {}
    assert slider_in_words(stored) == "“Trust: in it”, from 0 (none) to 100 (full)"
    with pytest.raises(forms.ValidationError, match="Write it as"):
        field.clean("Trust")
