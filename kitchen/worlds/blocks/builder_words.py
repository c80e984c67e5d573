"""Hold the words in which people write requests to the agent `blocks_planner`, in three languages.

`data/planner_words.toml` holds English, Spanish and Chinese words. This module splits a message into clauses
and writes number words as digits. It finds the things, and the places of the building site, that a clause
names. `request_parser` makes requests of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import permutations
from typing import NamedTuple

from pydantic import TypeAdapter

from kitchen.contract.data_files import Record, read_toml
from kitchen.words.misspellings import is_misspelling
from kitchen.worlds.blocks.dispatcher.player_requests import request_words
from kitchen.worlds.blocks.item_recipes import DATA

AXES = ("level", "column", "row")
_TO = r"\s*(?:-|–|—|~|…|\.\.+|to|through|thru|until|till|up to|a|al|hasta|到|至)\s*"  # noqa: RUF001 - people write these
_RANGE = rf"\d{{1,3}}(?:{_TO}\d{{1,3}})?"
_NUMBERS = rf"({_RANGE}(?:\s*(?:,|&|\band\b|\by\b|和|、)\s*{_RANGE}(?!\s*[层列行\d]))*)"
_NUMBERS_BEFORE = rf"({_RANGE}(?:\s*(?:,|&|和|、)\s*第?\s*{_RANGE})*)"
"""Numbers before the name of their axis, as in Chinese."""
_ARTICLES = r"\s*(?:number|no\.?|nº)?\s*"
CHINESE_DIGITS = {digit: number for number, digit in enumerate("一二三四五六七八九", start=1)} | {"两": 2}
_MEASURES = "个块根把条片扇张份层列行格"
_NUMERALS = f"[{''.join(CHINESE_DIGITS)}十]+"
_COUNTED = rf"(?=\s*[{_MEASURES}](?!都))(?<!两(?=[层行列]))"
_CHINESE_NUMBER = rf"(?<![每同整另这那哪上下])({_NUMERALS}){_COUNTED}|(?<=[第到至])({_NUMERALS})"

_TENS_AND_ONES = r"(?<!\d)([2-9]0)(?:\s*-\s*|\s+|\s+y\s+)([1-9])(?!\d)(?=\s+[a-z])"
"""Two numbers that stand for one in words, such as `20 5` for *twenty-five*."""


_THE = r"(?:(?:the|la|el|las|los)\s+)?"
_AND = r"(?:\s*,\s*|\s+)(?:(?:and|y|to|through|a|&|or|o)\s+)?"
"""Words between two ordinals."""


class NamedThing(NamedTuple):
    """A thing that a text names: where its name begins and ends, and its code."""

    start: int
    end: int
    item: str


class PlannerWords(Record):
    """The content of the file of words: regular expressions."""

    sentences: str
    """Ends of sentences."""
    parts: str
    """Marks and words between the parts of a sentence. A part can be a clause of its own."""
    lists: str
    """Further marks and words between things."""
    polite: str
    """A part that only says yes, no, please or the like."""
    fillers: str
    """Words before the verb of a request."""
    please: str
    me: str
    """Words with which the sender asks for a gift to the sender."""
    give: str
    wants: str
    """Words with which the sender says to need something."""
    some: str
    """Words that ask for a gift without its amount."""
    either: str
    """Two numbers between which the reader would have to choose."""
    share: str
    """Words for a part of what there is. Such a gift is not understood."""
    purpose: str
    """Words before the purpose of a gift, such as a level."""
    place: str
    cancels: str
    """Words with which the sender takes a request back."""
    corrects: str
    """Words before the correction of a request."""
    denies: str
    """Words before a correction, or before anything else."""
    says_no: str
    """A clause that only says that what came before it was wrong."""
    not_stop: str
    """Words with which the sender asks not to stop."""
    instead: str
    """Marks and words between what was wrong and what is right."""
    not_this: str
    """The end of a correction that names what was wrong."""
    wrong: str
    """Words with which the sender says that something is not what was asked for."""
    own: str
    """How clauses begin that tell about the sender."""
    has: str
    """Words with which the sender tells of own things."""
    keeps: str
    """Words with which the sender asks the reader to keep things."""
    states: str
    """Words that tell how things are."""
    done: str
    """Words that tell that something is done."""
    proposes: str
    """Words that make a statement about the sender a proposal."""
    refers: str
    """Words that refer to the last request."""
    condition: str
    """How clauses begin that make a request depend on something."""
    you: str
    """How clauses begin that are about the reader of the message."""
    greeting: str
    thanks: str
    help: str
    acts: str
    """Further verbs of requests. What they ask for is not understood."""
    everything: str
    remove: str
    question: str
    asks: str
    marks: str
    """Marks and words of polite questions, which may ask for a gift, but never for a block."""
    needs: str
    plan: str
    yes: str
    """How clauses begin that confirm."""
    doing: str
    """Questions about what the reader does or was asked to do."""
    which: str
    """Words that mean another request than the last one, such as *the first one*."""
    may_resume: str
    """Words with which the sender may take back only a stop."""
    remembers: str
    """Words that make a negation a reminder, such as *do not forget*."""
    any_more: str
    perceives: str
    """Words that make a negation with a place a statement, such as *I see no block in row 2*."""
    only: str
    """How a text begins that limits a request to what it names."""
    more: str
    """Words that add to a request, such as *also*."""
    not_thing: str
    """Words before a thing that is wrong, such as *not planks, dirt*."""
    undo: str
    put_back: str
    take_away: str
    """Words with which the sender asks to undo the last request, or only what was placed or removed."""
    follows: str
    """Words that take what is not named from the last request."""
    same: str
    another: str
    """How a part of a sentence begins that asks for one more of the same."""
    leaves_out: str
    """Words before places or things that a request does not mean."""
    left_empty: str
    """The text of places that shall stay empty, in a group."""
    corners: str
    edge: str
    """Words for all cells around a level."""
    each: str
    """Words before the name of an axis that mean all its numbers."""
    open_range: str
    """Words for a range without an end."""
    known: str
    """Words that may stand in a request to build beside those of the other keys."""
    numbers: Mapping[str, int]
    ordinals: Mapping[str, int]
    """Words before the name of an axis, such as `first level`."""
    axes: Mapping[str, str]
    """Words that stand before the numbers, by axis."""
    axes_after: Mapping[str, str]
    """Words that stand after the numbers, by axis."""
    things: Mapping[str, str]
    spellings: Mapping[str, str]
    """Other ways to write a text, as expressions with replacements."""
    often: Sequence[str]
    """Words whose misspellings are read: one letter less, more or different, or two swapped letters."""
    not_misspelt: Sequence[str]
    """Words that are no misspellings of these."""

    def says(self, name: str, text: str) -> bool:
        """Return whether the expression with this name occurs in the text."""
        return re.search(getattr(self, name), text) is not None

    def begins_with(self, name: str, text: str) -> bool:
        """Return whether the expression with this name comes first in the text, after players and fillers."""
        usual = request_words()
        left = re.sub(self.fillers, "", re.sub(rf"^\W*(?:{usual.numbers})\W*", "", text))
        return re.match(getattr(usual if name in ("stop", "go_on") else self, name), left) is not None

    def with_digits(self, text: str) -> str:
        """Return the text in lower case, with digits for number words."""
        text = text.lower().replace("\u2019", "'")
        for written, usual in self.spellings.items():
            text = re.sub(written, usual, text)
        text = re.sub(r"[a-zñáéíóú]{4,}", lambda found: self._well_spelt(found[0]), text)
        text = self._with_ordinals(text)
        for words, number in self.numbers.items():
            text = re.sub(words, str(number), text)
        text = re.sub(_TENS_AND_ONES, lambda found: str(int(found[1]) + int(found[2])), text)
        text = re.sub(_CHINESE_NUMBER, lambda found: f" {_chinese_number(found[1] or found[2])}", text)
        return self._with_ranges(text)

    def _well_spelt(self, word: str) -> str:
        """Return the frequent word of which a word is a misspelling; otherwise the word itself."""
        if word in self.often or word in self.not_misspelt:
            return word
        return next((usual for usual in self.often if is_misspelling(word, usual)), word)

    def _with_ordinals(self, text: str) -> str:
        """Return the text with `columns 1 and 3` for *first and third columns*."""
        numbers = "|".join(self.ordinals)
        axes = "|".join(self.axes.values())
        several = rf"((?:{numbers})(?:{_AND}{_THE}(?:{numbers}))*)"
        listed = rf"(?<!every )(?<!each )(?<!cada )\b{several}\s+({axes})\b"

        def written(found: re.Match[str]) -> str:
            text = re.sub(_THE, "", found[1])
            for words, number in self.ordinals.items():
                text = re.sub(rf"\b(?:{words})\b", str(number), text)
            return f"{found[2]} {text}"

        return re.sub(listed, written, text)

    def _with_ranges(self, text: str) -> str:
        """Return the text with `column 1 to 5` for *from column 1 to column 5*, and the like."""
        text = re.sub(r"(\d)\s*(?:\.\.+|…)\s*(?=\d)", r"\1 to ", text)
        for one, other in permutations(AXES, 2):
            cell = rf"\b({self.axes[one]})\s*(\d+)[\s,]*(?:(?:and|y)\s+)?({self.axes[other]})\s*(\d+)"
            text = re.sub(rf"{cell}{_TO}{_THE}{cell}", r"\1 \2 to \6, \3 \4 to \8", text)
            first, then = self.axes_after[one], self.axes_after[other]
            cell = rf"第?\s*(\d+)\s*{first}[\uff0c,\s]*第?\s*(\d+)\s*{then}"
            text = re.sub(rf"从?{cell}\s*[到至]\s*{cell}", rf"第\1到\3{first}第\2到\4{then}", text)
        for axis in AXES:
            one, before = rf"\b({self.axes[axis]})\s*(\d+)", r"(?:\b(?:from|desde|del?)\s+)?" + _THE
            other = rf"{_THE}(?:(?:{self.axes[axis]})\s*)?(\d+)"
            text = re.sub(rf"{before}{one}{_TO}{other}", r"\1 \2 to \3", text)
            text = re.sub(rf"\b(?:between|entre)\s+{_THE}{one}\s+(?:and|y)\s+{other}", r"\1 \2 to \3", text)
            after = self.axes_after[axis]
            text = re.sub(
                rf"从?第?\s*(\d+)\s*{after}?\s*[到至~-]\s*第?\s*(\d+)\s*{after}", rf"第\1到\2{after}", text
            )
        return text

    def clauses(self, text: str) -> Iterator[str]:
        """Yield the clauses of a text in lower case, with digits. A clause of a question ends with a question
        mark. Commas and words such as *and* separate clauses only where a new request or statement begins."""
        ends = re.split(f"({self.sentences})", self.with_digits(text))
        for sentence, end in zip(ends[::2], [*ends[1::2], ""], strict=True):
            mark = "?" if re.search("[?\uff1f]", end) else ""
            yield from (clause + mark for clause in self._joined_parts(sentence) if clause.strip())

    def _joined_parts(self, sentence: str) -> Iterator[str]:
        """Yield the clauses of a sentence: parts that belong together are joined."""
        pieces = re.split(f"({self.parts})", sentence)
        clause = pieces[0]
        for mark, part in zip(pieces[1::2], pieces[2::2], strict=True):
            says_no = re.fullmatch(self.says_no, clause) and not self.says("wrong", clause)
            if self.says("polite", clause) or says_no:
                yield clause
                clause = part
            elif self._is_only_address(clause) or self.says("condition", clause):
                clause += mark + part
            elif self._begins_anew(part) or (self.says("only", part) and not self.names_place(clause)):
                yield clause
                clause = part
            else:
                clause += mark + part
        yield clause

    def _is_only_address(self, part: str) -> bool:
        left = re.sub(request_words().numbers, " ", part)
        return left != part and not re.search(r"\w", re.sub(f"{self.parts}|{self.lists}", " ", left))

    def _begins_anew(self, part: str) -> bool:
        """Return whether a part of a sentence is a clause of its own and does not continue the last one."""
        own = (
            *("own", "you", "give", "wants", "place", "remove", "question", "asks", "polite", "states"),
            *("done", "condition", "greeting", "thanks", "cancels", "corrects", "denies", "wrong"),
        )
        usual = ("stop", "go_on", "negation")
        for axis in AXES:
            part = re.sub(self.all_of(axis), " ", part)
        anew = any(self.says(name, part) for name in own) or self._is_only_address(part)
        named = re.sub(f"{self.edge}|{self.corners}", " ", part)
        anew = anew or re.match(rf"\W*(?:{request_words().everybody})", named) is not None
        anew = anew or re.match(self.another, part) is not None
        return anew or any(request_words().says(name, part) for name in usual)

    def numbers_of(self, axis: str, text: str) -> tuple[int, ...]:
        """Return the numbers that the text gives for an axis, counted from 0. Empty if it gives none."""
        found = re.findall(self._before(axis), text) or re.findall(self._after(axis), text)
        return tuple(number for numbers in found for number in _numbers_in(numbers))

    def _before(self, axis: str) -> str:
        return rf"\b(?:{self.axes[axis]})(?![a-zñ]){_ARTICLES}{_NUMBERS}"

    def _after(self, axis: str) -> str:
        return rf"{_NUMBERS_BEFORE}\s*{self.axes_after[axis]}"

    def all_of(self, axis: str) -> str:
        """Return the expression for all numbers of an axis, such as `every row`."""
        return rf"(?:{self.each})\s*(?:(?:{self.axes[axis]})(?![a-zñ])|{self.axes_after[axis]})"

    def places_in(self, text: str) -> tuple[tuple[tuple[int, ...], ...], ...]:
        """Return the places that the text names: for each, the numbers of each axis, counted from
        0. It is one place, unless the text names pairs such as `row 1, column 2 and row 3, column 4`."""
        together = tuple(self.numbers_of(axis, text) for axis in AXES)
        named = [self._named_places(axis, text) for axis in AXES]
        several = [each for each in named if len(each) > 1]
        if len(several) < 2 or len({len(each) for each in several}) > 1 or not _take_turns(several):
            return (together,)
        return tuple(
            tuple(
                tuple(_numbers_in(each[place][1])) if len(each) > 1 else numbers
                for each, numbers in zip(named, together, strict=True)
            )
            for place in range(len(several[0]))
        )

    def _named_places(self, axis: str, text: str) -> list[tuple[int, str]]:
        """Return where in the text the numbers of an axis are, and the numbers."""
        found = list(re.finditer(self._before(axis), text)) or list(re.finditer(self._after(axis), text))
        return [(one.start(), one[1]) for one in found]

    def names_place(self, text: str) -> bool:
        """Return whether a text has numbers of an axis."""
        return any(self.numbers_of(axis, text) for axis in AXES)

    def names_axis(self, text: str) -> bool:
        """Return whether a text has the word for an axis, with or without a number."""
        words = (rf"\b(?:{self.axes[axis]})(?![a-zñ])|{self.axes_after[axis]}" for axis in AXES)
        return re.search("|".join(words), text) is not None

    def _excepted_axis(self, numbers: str, before: str) -> str:
        """Return the axis of left out numbers that name none. It is the last one of which all are meant, or
        that has these numbers; otherwise the only one that the text `before` does not name. Empty if it is
        not clear."""
        whole = [(each.end(), axis) for axis in AXES for each in re.finditer(self.all_of(axis), before)]
        if whole:
            return max(whole)[1]
        last, left_out = self.last_axis(before), set(_numbers_in(numbers))
        if last and left_out <= set(self.numbers_of(last, before)):
            return last
        free = [axis for axis in AXES if not self.numbers_of(axis, before)]
        return free[0] if len(free) == 1 else ""

    def last_axis(self, text: str) -> str:
        """Return the axis whose numbers come last in a text; empty if it names none."""
        named = [(each.end(), axis) for axis in AXES for each in re.finditer(self._before(axis), text)]
        return max(named)[1] if named else ""

    def is_range(self, text: str) -> bool:
        """Return whether a text only consists of a range or a list of numbers."""
        return (
            re.fullmatch(rf"\W*{_NUMBERS}\W*", text) is not None and re.search(r"\d\D+\d", text) is not None
        )

    def split_exception(self, text: str) -> tuple[str, str]:
        """Return the text without what it leaves out, and that part; empty if it leaves out nothing."""
        if found := re.search(self.left_empty, text):
            return text[: found.start()] + text[found.end() :], next(filter(None, found.groups()), "")
        if found := re.search(self.leaves_out, text):
            return text[: found.start()], text[found.end() :]
        return text, ""

    def excepted_place(self, text: str, before: str) -> tuple[tuple[int, ...], ...] | None:
        """Return the place that a text of an exception names, as levels, columns and rows. Numbers without an
        axis are of the last axis in the text `before` it. None if it is not understood."""
        if re.fullmatch(rf"\W*(?:(?:the|la|el|las|los|number)\s+)*{_NUMBERS}\W*", text):
            axis = self._excepted_axis(text, before)
            text = f"{axis} {re.sub('(?:the|la|el|las|los|number) ', '', text)}" if axis else ""
        places = self.places_in(text)
        understood = len(places) == 1 and any(places[0]) and self.is_understood(text, "", ())
        return places[0] if understood else None

    def without_numbers(self, axis: str, text: str) -> str:
        """Return the text without the numbers of an axis and the axis's words."""
        return re.sub(self._after(axis), " ", re.sub(self._before(axis), " ", text))

    def without_places(self, text: str) -> str:
        """Return the text without the numbers and words of all axes."""
        for axis in AXES:
            text = self.without_numbers(axis, text)
        return text

    def is_understood(self, text: str, thing: str, held: Iterable[str], amount: int = 0) -> bool:
        """Return whether a request to build has only known words, and names at most one axis twice, unless it
        names pairs. `thing` is the code of the item in the text, `held` as in `things_in`, and `amount` how
        many of the thing are meant; 0 if the text has no such number."""
        usual, pairs = request_words(), len(self.places_in(text)) > 1
        twice, left = 0, re.sub(usual.go_on, " ", re.sub(usual.numbers, " ", text))
        for axis in AXES:
            twice += len(re.findall(self._before(axis), left) or re.findall(self._after(axis), left)) > 1
            left = self.without_numbers(axis, left)
            left = re.sub(self.all_of(axis), " ", left)
        for words in filter(None, (self.things.get(thing), _name_of(thing) if thing in held else None)):
            left = re.sub(words, " ", left)
        left = re.sub(rf"(?<!\d){amount}(?!\d)", " ", left, count=1) if amount else left
        for words in (self.corners, self.edge, self.remove, self.known):
            left = re.sub(words, " ", left)
        return (pairs or twice < 2) and not re.search(r"\w", left)

    def things_in(self, text: str, held: Iterable[str]) -> list[NamedThing]:
        """Return the things that the text names, in order: those of `held` by their English names, and those
        of the file. The longest of several that begin at the same place counts."""
        names = {item: _name_of(item) for item in held}
        found = sorted(
            (match.start(), -match.end(), item)
            for item, words in (*self.things.items(), *names.items())
            for match in re.finditer(words, text)
        )
        things = list[NamedThing]()
        for start, end, item in found:
            if not things or start >= things[-1].end:
                things.append(NamedThing(start, -end, item))
        return things


@cache
def planner_words() -> PlannerWords:
    """Read `data/planner_words.toml`. Raises DataError with file, key and reason if the file is wrong."""
    source, values = read_toml(DATA / "planner_words.toml")
    return source.read(TypeAdapter(PlannerWords), values)


def _name_of(item: str) -> str:
    return rf"\b{re.escape(item.replace('_', ' '))}s?\b"


def _numbers_in(text: str) -> Iterator[int]:
    """Yield all numbers of a text such as `1, 3 to 5`, less one."""
    for part in re.findall(_RANGE, text):
        first, *last = (int(number) for number in re.findall(r"\d+", part))
        yield from range(first - 1, (last[0] if last else first))


def _take_turns(named: Iterable[list[tuple[int, str]]]) -> bool:
    """Return whether the named places of several axes follow each other in turns: row, column, row, column.
    Each axis has a list of (position, numbers)."""
    order = [
        axis for _, axis in sorted((place, axis) for axis, each in enumerate(named) for place, _ in each)
    ]
    turn = len(set(order))
    return all(order[start : start + turn] == order[:turn] for start in range(0, len(order), turn))


def _chinese_number(text: str) -> int:
    """Return the number that Chinese numerals up to 99 mean."""
    tens, ten, ones = text.rpartition("十")
    return (CHINESE_DIGITS.get(tens, 1) * 10 if ten else 0) + CHINESE_DIGITS.get(ones, 0)
