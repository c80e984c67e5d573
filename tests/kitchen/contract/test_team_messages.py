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
        ("you i\u200bdi\u200dot!", "you ***!"),  # zero-width
        ("an id\u00adiot", "an ***"),  # soft hyphen
        ("ｉｄｉｏｔ 笨\u200b蛋", "*** ***"),  # full-width  # noqa: RUF001
        ("іdіоt, иdiot", "***, иdiot"),  # Cyrillic letters that look alike, and one that does not  # noqa: RUF001
        ("ιdιοt", "***"),  # Greek  # noqa: RUF001
        ("ídïot, IDIOT\u0301", "***, ***"),  # accents
        ("𝐢𝐝𝐢𝐨𝐭 and ⓗⓔⓛⓛ", "*** and ***"),  # noqa: RUF001
        ("Straße, ﬁne, привет, ñandú", "Straße, ﬁne, привет, ñandú"),
    ],
)
def test_each_blocked_word_is_taken_out_and_nothing_else(text: str, shown: str) -> None:
    assert mask_blocked_words(text, ("idiot", "hell", "what the hell", "a+b", "笨蛋", " ")) == shown


def test_without_words_a_text_stays_as_it_is() -> None:
    assert mask_blocked_words("You idiot", ()) == mask_blocked_words("You idiot", ("", " ")) == "You idiot"
