"""Hold the words in which people write to program players, and find them in a text.

`words.toml` has English, Spanish and Chinese phrases, by meaning. A text is read in the language of which it
has most words. Words that differ from a known one by one letter count as that word. Worlds add the names of
things.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache, cached_property
from itertools import zip_longest
from pathlib import Path

from pydantic import TypeAdapter

from kitchen.agents.plain_sentences.verb_forms import BASE, OWN, PAST, Form, english_forms, spanish_forms
from kitchen.contract.data_files import Record, read_toml
from kitchen.words.misspellings import is_misspelling, without_doubles

ENGLISH, SPANISH, CHINESE = "en", "es", "zh"
VERB, THING, PLAYERS, UNKNOWN = "verb", "thing", "players", "unknown"
END, ASKS, COMMA = "end", "asks", "comma"
"""Meanings of tokens besides those of the file. `ASKS` is a question mark."""
FILLER = "filler"
HANDLED = "handled"
LOCATED = "located"
"""The forms of a thing after the Chinese `把`, with which something is done, and after `在`, where something
is."""
_FORMS = {"ba": HANDLED, "zai": LOCATED}
_POLITE = ("请", "麻烦", "劳驾", "劳烦")
"""Chinese words with which an order begins."""
SUBJECTS = frozenset({"self", "we", "you", "all", "anyone", "nobody", "lets", PLAYERS})
SHORTEST_CORRECTED, LONG_WORD = 4, 5
"""Smallest number of letters of a word that people may have misspelt, and of one with any wrong letter."""

_BEFORE_PAST = SUBJECTS | {"have", "aux", "past", "done"}
"""Meanings of words before a past form that tells what somebody did, and is not a part of a name."""
_LETTER = r"[a-zà-öø-ÿ]"
_UNIT = re.compile(rf"⟦[\d,]*⟧|{_LETTER}+(?:'{_LETTER}+)*|\d+|[\u3400-\u9fff]|[.!?;,:。！？；，：、\n¿¡&…]")  # noqa: RUF001
_MARKS = {
    **dict.fromkeys(".!;。！；\n…", END),  # noqa: RUF001
    **dict.fromkeys("?？", ASKS),  # noqa: RUF001
    **dict.fromkeys(",:，：", COMMA),  # noqa: RUF001
    **dict.fromkeys("¿¡", FILLER),
}
_WRITTEN_NUMBERS = {
    word: number
    for words in (
        ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine"),
        ("uno", "dos", "tres", "cuatro", "cinco", "seis", "siete", "ocho", "nueve"),
        "一二三四五六七八九",
    )
    for number, word in enumerate(words, start=1)
}
_DIGITS = r"(?:\d{1,2}(?!\d)|" + "|".join(word for word in _WRITTEN_NUMBERS if len(word) > 1) + r")\b"
_NEXT = r"\s*(?:,\s*(?=\d)|(?:,\s*)?\b(?:and|y)\b|&)\s*(?:el )?"
_NUMERAL = r"(?:\d{1,2}(?!\d)|[一二三四五六七八九](?![起个样点些份会下]))号?"
_OR_NEXT = r"\s*[和、与跟,]\s*"
_OBJECTS = re.compile(r"(?<=[aeiorznd])(?:(?:me|te|se|nos)?(?:lo|la|los|las)|me|nos|le|les|te|se)$")
"""Pronouns at the end of a Spanish verb."""


class LanguageWords(Record):
    """The words of one language: regular phrases by meaning, verbs by what they mean, and irregular forms of
    verbs for *I*."""

    tags: Mapping[str, str]
    verbs: Mapping[str, str]
    players: str
    """Words before the number of a player, as a regular expression."""
    own: Mapping[str, str] = {}


@dataclass(frozen=True, slots=True)
class Token:
    """A phrase of a text, with its meaning."""

    meaning: str
    text: str
    value: str = ""
    """What a verb means, or the name of a thing as the world gave it."""
    form: str = ""
    players: tuple[int, ...] = ()
    """The numbers of named players, counted from 0."""


Units = tuple[str, ...]
"""A phrase as words; in Chinese, as characters."""
Vocabulary = dict[Units, Token]


@cache
def language_words() -> Mapping[str, LanguageWords]:
    """Read `words.toml`. Raises DataError with file, key and reason if the file is wrong."""
    source, values = read_toml(Path(__file__).with_name("words.toml"))
    return source.read(TypeAdapter(Mapping[str, LanguageWords]), values)


class PhraseBook:
    """All phrases of one language, with the names of a world's things."""

    def __init__(self, language: str, names: Iterable[tuple[str, str]]) -> None:
        self.language = language
        self.phrases = dict(_phrases(language))
        self.phrases |= {units_of(name): Token(THING, name, value) for name, value in names}
        self.phrases.pop((), None)
        for units in list(self.phrases):
            self.phrases.setdefault(tuple(map(_without_accents, units)), self.phrases[units])
        self.longest = max(map(len, self.phrases))
        self.known = {unit for units in self.phrases for unit in units}
        self.right = frozenset(language_words()[language].tags["not_misspelt"].split("|"))

    def count(self, units: Iterable[str]) -> int:
        """Return how many of these words the language has."""
        return sum(unit in self.known or bool(self._verb_and_object(unit)) for unit in units)

    def tokens(self, units: list[str]) -> Iterator[Token]:
        """Yield the longest known phrases of a text, and its unknown words one by one."""
        units, place, before = [usual for unit in units for usual in self._usual_units(unit)], 0, ""
        while place < len(units):
            found, length = self._longest(units, place)
            if before in _BEFORE_PAST and length > 1 and found.meaning == THING:
                found, length = self._told(units[place]) or found, 1 if self._told(units[place]) else length
            place += length
            before = found.meaning if found.meaning != FILLER else before
            yield found

    def _told(self, unit: str) -> Token | None:
        """Return the verb of a past form. After a subject, as in *you baked bread*, it is not a part of a
        name."""
        token = self.phrases.get((unit,))
        return token if token and token.meaning == VERB and token.form == PAST else None

    def _longest(self, units: list[str], place: int) -> tuple[Token, int]:
        for length in range(min(self.longest, len(units) - place), 0, -1):
            if found := self.phrases.get(tuple(units[place : place + length])):
                return found, length
        return _single(units[place]), 1

    def _usual_units(self, unit: str) -> list[str]:
        """Return a word as the book has it. Pronouns at the end of a Spanish verb are words of their own."""
        return self._verb_and_object(unit) or [self._corrected(unit)]

    def _verb_and_object(self, unit: str) -> list[str]:
        """Return the verb and the pronoun of a Spanish word such as `córtalo`; nothing for other words."""
        found = _OBJECTS.search(_without_accents(unit)) if self.language == SPANISH else None
        if found is None or unit in self.known:
            return []
        verb = found.string[: found.start()]
        token = self.phrases.get((verb,))
        objects = ["lo"] if "l" in found[0] else []
        return [verb, *objects] if token and token.meaning == VERB else []

    def _corrected(self, unit: str) -> str:
        """Return the known word of which a word is a misspelling; otherwise the word itself."""
        if unit in self.known or _without_accents(unit) in self.known:
            return unit if unit in self.known else _without_accents(unit)
        if len(unit) < SHORTEST_CORRECTED - 1 or not unit[0].isalpha() or unit in self.right:
            return unit
        plain = _without_accents(unit)
        return self._near_word(unit) or (self._near_word(plain) if plain != unit else "") or unit

    def _near_word(self, unit: str) -> str:
        """Return the word that differs by doubled letters, or by one letter. Empty if it is not clear."""
        doubled = self._by_letters.get(without_doubles(unit), [])
        same_start = self._by_start.get(unit[:1], [])
        near = [word for word in same_start if is_misspelling(unit, word) and _is_safe(unit, word)]
        return self._only_meaning(doubled) or self._only_meaning(near)

    @cached_property
    def _by_letters(self) -> Mapping[str, list[str]]:
        return _grouped(self.known, without_doubles)

    @cached_property
    def _by_start(self) -> Mapping[str, list[str]]:
        return _grouped(self.known, lambda word: word[0])

    def _only_meaning(self, words: list[str]) -> str:
        """Return the first of some words that all mean the same; empty if they do not, or without words."""
        found = [self.phrases.get((word,)) for word in words]
        meanings = {token and (token.meaning, token.value) for token in found}
        return min(words) if len(words) == 1 or (len(meanings) == 1 and None not in meanings) else ""


def _is_safe(unit: str, word: str) -> bool:
    """Return whether one wrong letter may be corrected: in a short word, only a missing or added one, or two
    swapped ones."""
    return len(unit) >= LONG_WORD or len(unit) != len(word) or sorted(unit) == sorted(word)


def _grouped(words: Iterable[str], key: Callable[[str], str]) -> Mapping[str, list[str]]:
    """Return the words that may be misspelt, by their keys."""
    groups: dict[str, list[str]] = {}
    for word in words:
        if len(word) >= SHORTEST_CORRECTED:
            groups.setdefault(key(word), []).append(word)
    return groups


def _single(unit: str) -> Token:
    if unit.startswith("⟦"):
        return Token(PLAYERS, unit, players=tuple(int(one) for one in unit[1:-1].split(",")))
    return Token(_MARKS.get(unit, UNKNOWN), unit)


@cache
def _phrases(language: str) -> Vocabulary:
    """Return all phrases of a language with their tokens."""
    return dict(_listed_phrases(language))


def _listed_phrases(language: str) -> Iterator[tuple[Units, Token]]:
    """Yield all phrases of a language with their tokens. Later ones replace earlier ones."""
    words = language_words()[language]
    for meaning, phrases in words.tags.items():
        for phrase in phrases.split("|") if meaning != "not_misspelt" else ():
            yield units_of(phrase), Token(meaning, phrase)
    for value, verbs in words.verbs.items():
        for verb in verbs.split("|"):
            for phrase, form in reversed(list(_forms(language, verb))):
                yield units_of(phrase), Token(VERB, phrase, value, form)
    for value, phrases in words.own.items():
        for phrase in phrases.split("|"):
            yield units_of(phrase), Token(VERB, phrase, value, OWN)


def _forms(language: str, verb: str) -> Iterator[Form]:
    if language == CHINESE:
        return iter([(verb, BASE)])
    return english_forms(verb) if language == ENGLISH else spanish_forms(verb)


def units_of(text: str) -> Units:
    """Return the words and marks of a text in lower case. Named players become one unit, such as `⟦1,2⟧`,
    with their numbers counted from 0."""
    text = unicodedata.normalize("NFC", text).lower().replace("\u2019", "'")
    for pattern in _named_players():
        text = pattern.sub(_player_unit, text)
    return tuple(_UNIT.findall(text))


@cache
def _named_players() -> tuple[re.Pattern[str], ...]:
    """Return the patterns of named players, such as *player 2 and 3*. The numbers are a group."""
    words = language_words()
    one, latin = words[CHINESE].players, "|".join(words[each].players for each in (ENGLISH, SPANISH))
    chinese = rf"(?:{one})\s*({_NUMERAL}(?:{_OR_NEXT}(?:{one})?\s*{_NUMERAL})*)"
    alone = rf"((?:\d{{1,2}}|[一二三四五六七八九])号(?:{_OR_NEXT}{_NUMERAL})*)(?:{one})?"
    name = rf"\b(?:{latin})\s*(?:number\s+|#\s*|n[º°o]\.?\s*)?"
    several = rf"{name}({_DIGITS}(?:{_NEXT}(?:{name})?{_DIGITS})*)"
    return re.compile(f"{chinese}|{alone}"), re.compile(several)


def _player_unit(found: re.Match[str]) -> str:
    text = next(filter(None, found.groups()), "")
    words = re.findall(rf"\d+|[一二三四五六七八九]|{_LETTER}{{3,}}", text)
    numbers = (int(word) if word.isdigit() else _WRITTEN_NUMBERS.get(word, 0) for word in words)
    named = dict.fromkeys(number - 1 for number in numbers if number > 0)
    return f" ⟦{','.join(map(str, named))}⟧ " if named else found[0]


def _without_accents(word: str) -> str:
    if word.isascii():
        return word
    plain = unicodedata.normalize("NFD", word)
    kept = "".join(one for one in plain if unicodedata.category(one) != "Mn" or one == "\u0303")
    return unicodedata.normalize("NFC", kept)


class SentenceWords:
    """The phrase books of all languages, with the names of a world's things."""

    def __init__(self, names: Mapping[str, Iterable[tuple[str, str]]]) -> None:
        """Take the (name, value) pairs of things by language."""
        self.books = {
            language: PhraseBook(language, names.get(language, ())) for language in language_words()
        }

    def read(self, text: str) -> tuple[Token, ...]:
        """Return the tokens of a text, without fillers. The language is the one with most of its words."""
        units = list(units_of(text))
        if any("\u3400" <= unit <= "\u9fff" for unit in units):
            language = CHINESE
        else:
            language = max((ENGLISH, SPANISH), key=lambda one: self.books[one].count(units))
        tokens = list(_with_topics(self.books[language].tokens(units)))
        pairs = zip_longest(tokens, tokens[1:])
        served = (_as_verb(token, following) for token, following in pairs)
        return tuple(token for token in served if token is not None)


def _with_topics(tokens: Iterable[Token]) -> Iterator[Token]:
    """Yield the tokens without fillers and without the Chinese words `把` and `在`. A thing after them gets a
    form for this. After a polite word, or a comma before `把`, it gets none, because that is an order."""
    before, is_order, is_polite = "", False, False
    for token in tokens:
        if token.meaning == FILLER:
            is_polite |= token.text.startswith(_POLITE)
            continue
        is_polite &= token.meaning not in (END, ASKS)
        if token.meaning not in _FORMS:
            is_marked = before in _FORMS and token.meaning == THING and not is_order
            yield replace(token, form=_FORMS[before]) if is_marked else token
        is_order = token.meaning == "ba" and (is_polite or before == COMMA)
        before = token.meaning


def _as_verb(token: Token, following: Token | None) -> Token | None:
    """Return the Chinese word `上` as the verb to serve if a thing follows. Otherwise it is left out, because
    it only says where. Other tokens stay as they are."""
    if token.meaning != "shang":
        return token
    return Token(VERB, token.text, "serve", BASE) if following and following.meaning == THING else None
