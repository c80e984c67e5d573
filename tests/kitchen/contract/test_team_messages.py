"""Words that are not shown."""

from __future__ import annotations

import pytest

from kitchen.contract.team_messages import mask_blocked_words


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("You IDIOT, fetch rice", "You ***, fetch rice"),
        ("idiotic is another word", "idiotic is another word"),
        ("what  the\nHell is this", "*** is this"),
        ("hell", "***"),
        ("a+b and (x", "*** and (x"),
        ("你这个笨蛋快来", "你这个***快来"),
        ("", ""),
    ],
)
def test_each_blocked_word_is_taken_out_and_nothing_else(text: str, shown: str) -> None:
    assert mask_blocked_words(text, ("idiot", "hell", "what the hell", "a+b", "笨蛋", " ")) == shown


def test_without_words_a_text_stays_as_it_is() -> None:
    assert mask_blocked_words("You idiot", ()) == mask_blocked_words("You idiot", ("", " ")) == "You idiot"
