"""The catalogues in `locale/`, the house's and those of worlds: every sentence is translated, whole, and
compiled as it is written."""

from __future__ import annotations

import re
from collections import Counter
from gettext import GNUTranslations
from io import BytesIO
from pathlib import Path

import pytest
from babel.messages.catalog import Message as Entry

from kitchen.registry.world_registry import get_world, known_worlds
from tests.messages import HOMES, SPOKEN, Message, catalogue_of, compiled, gathered, translations

PLACEHOLDERS = re.compile(r"%\(\w+\)s|\{\w*\}|%s")
languages = pytest.mark.parametrize("language", SPOKEN)
homes = pytest.mark.parametrize("home", HOMES, ids=lambda home: home.name)


@pytest.fixture(scope="module")
def messages() -> dict[Path, list[Message]]:
    return {home: gathered(home) for home in HOMES}


@languages
@homes
def test_every_sentence_is_translated_and_no_other_stands_there(
    language: str, home: Path, messages: dict[Path, list[Message]]
) -> None:
    there = {(one.context, singular(one)): one for one in translations(language, home) if one.id}
    assert [one.singular for one in messages[home] if one.key not in there] == []
    assert there.keys() - {one.key for one in messages[home]} == set()
    assert [singular(one) for one in there.values() if one.fuzzy or not all(said(one))] == []


@languages
@homes
def test_a_translation_has_the_placeholders_of_its_sentence(language: str, home: Path) -> None:
    different = [
        (singular(one), text)
        for one in translations(language, home)
        if one.id
        for text in said(one)
        if (names_in(text) ^ names_in(singular(one))) - OPTIONAL
    ]
    assert different == []


@homes
def test_spanish_addresses_one_reader_as_tu_and_several_as_ustedes(home: Path) -> None:
    texts = [text for one in translations("es", home) if one.id for text in said(one)]
    assert [text for text in texts if OTHERS.search(text)] == []


OTHERS = re.compile(
    r"\b(usted|vosotros|os|vuestr[ao]s?|\w+([áé]is|[ae]steis)|"
    r"(?<!se )(responda|elija|pulse|mueva|escriba|haga(?! falta)|lea|mire|seleccione|dé|no tiene que))\b",
    re.IGNORECASE,
)


OPTIONAL = {"{place}", "{place_mid}", "{number}"}
"""Two forms of one word, of which a sentence has either; a number that a plural form may leave out."""


@languages
@homes
def test_what_the_app_reads_is_what_translators_wrote(language: str, home: Path) -> None:
    """After `make messages`, which also a merge calls for."""
    stored = GNUTranslations(BytesIO(catalogue_of(language, home).with_suffix(".mo").read_bytes()))
    fresh = GNUTranslations(BytesIO(compiled(translations(language, home))))
    own = {key: text for key, text in vars(fresh)["_catalog"].items() if key}
    assert {key: text for key, text in vars(stored)["_catalog"].items() if key} == own


@pytest.mark.parametrize("world", known_worlds())
def test_the_nouns_of_the_metrics_that_participants_see_are_gathered(world: str) -> None:
    known = {(one.singular, one.plural) for one in gathered()}
    assert {one.words for one in get_world(world).figures if one.words} <= known


def test_no_two_sentences_differ_by_their_end_alone() -> None:
    """`Go on` and `Go on.` would be translated twice, and differently."""
    bare = Counter(one.singular.rstrip(" .:") for one in gathered() if one.context is None)
    assert [text for text, times in bare.items() if times > 1] == []


def singular(entry: Entry) -> str:
    """The English sentence of an entry."""
    return entry.id[0] if isinstance(entry.id, tuple | list) else str(entry.id)


def said(entry: Entry) -> tuple[str, ...]:
    """Its translation, in every form."""
    return tuple(entry.string) if isinstance(entry.string, tuple | list) else (str(entry.string),)


def names_in(text: str) -> set[str]:
    """The placeholders of a text."""
    return set(PLACEHOLDERS.findall(text))
