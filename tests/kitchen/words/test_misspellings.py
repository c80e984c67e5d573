"""Words count as misspelt if one letter is wrong, missing, added or swapped with its neighbour."""

from __future__ import annotations

import pytest

from kitchen.words.misspellings import is_misspelling, without_doubles


@pytest.mark.parametrize("word", ["samon", "salmn", "sallmon", "slamon", "salmo", "salmons", "silmon"])
def test_one_wrong_letter_is_a_misspelling(word: str) -> None:
    assert is_misspelling(word, "salmon")


@pytest.mark.parametrize("word", ["almon", "sermon", "salmonss", "", "dalmon"])
def test_two_wrong_letters_or_another_first_letter_are_another_word(word: str) -> None:
    assert not is_misspelling(word, "salmon")


def test_doubled_letters_are_ignored_on_both_sides() -> None:
    assert without_doubles("chopp") == "chop" and without_doubles("arozz") == without_doubles("arroz")
