"""Words that are not shown."""

from __future__ import annotations

import unicodedata

import pytest

from kitchen.contract.team_messages import MASK, mask_blocked_words


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


@pytest.mark.parametrize("invisible", ["\u200b", "\ufeff", "\u00b4", "\u0301", " \u00ad "])
def test_entries_without_a_visible_character_mask_nothing(invisible: str) -> None:
    assert mask_blocked_words("You idiot", (invisible,)) == "You idiot"
    assert mask_blocked_words("You idiot", (invisible, "idiot")) == f"You {MASK}"


@pytest.mark.parametrize(
    ("blocked", "other"),
    [
        ("ano", "año"),
        ("ano", "an\u0303o"),
        ("an", "an\u0303o"),
        ("かき", "がき"),
        ("かき", "か\u3099き"),
        ("мои", "мой"),
        ("कम", "कमी"),
        ("가", "각"),
    ],
)
def test_marks_that_make_another_letter_count(blocked: str, other: str) -> None:
    assert mask_blocked_words(f"- {other} -", (blocked,)) == f"- {other} -"
    assert mask_blocked_words(f"- {other} -", (other,)) == f"- {MASK} -"
    assert mask_blocked_words(f"- {unicodedata.normalize('NFD', other)} -", (other,)) == f"- {MASK} -"


def test_marks_on_latin_letters_do_not_count() -> None:
    for text in ("Ïdíot", "i\u0308dio\u0301t", "ídiot\u0301", "i\u200b\u0308diot"):
        assert mask_blocked_words(f"{text}!", ("idiot",)) == f"{MASK}!"
    assert mask_blocked_words("바보야", ("바보",)) == f"{MASK}야"
