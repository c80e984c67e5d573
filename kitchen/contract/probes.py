"""Define probes and the rating slider: short questions to people during an episode.

A probe holds the game after a step and asks one or two items. It is due at one step, every few steps, every
few seconds, or at an event of the world. The slider is always on the page, and people may move it at any
time. Both are stored as JSON::

    {"key": "trust", "every_steps": 10, "limit_seconds": 60,
     "items": [{"key": "trust", "kind": "likert", "text": "I trust my partner.", "points": 7,
                "low": "not at all", "high": "completely"}]}

    {"text": "Trust in your partner", "low": "none", "high": "complete"}

`words` of an item or a slider has its translations: `{"es": {"text": …, "low": …}}`. `language` is the code
of the language of its own texts, where a study has several.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Self

from kitchen.contract.canonical_json import Json
from kitchen.contract.world_errors import SettingsError
from kitchen.words.foreign_text import foreign_text

LIKERT, SLIDER, CHOICE, TEXT = "likert", "slider", "choice", "text"
ITEM_KINDS = (LIKERT, SLIDER, CHOICE, TEXT)
STEP, EVERY_STEPS, EVERY_SECONDS, EVENT = "step", "every_steps", "every_seconds", "event"
TIMES = (STEP, EVERY_STEPS, EVERY_SECONDS, EVENT)
"""The fields that say when a probe is due. Each probe has exactly one."""
MAX_PROBES, MAX_ITEMS, MAX_OPTIONS = 6, 2, 9
MIN_POINTS, MAX_POINTS, USUAL_POINTS = 2, 11, 7
MAX_TEXT_CHARACTERS, MAX_LABEL_CHARACTERS, MAX_ANSWER_CHARACTERS = 300, 80, 500
MIN_LIMIT_SECONDS, MAX_LIMIT_SECONDS, USUAL_LIMIT_SECONDS = 5, 600, 60
MIN_SECONDS, MAX_NUMBER = 5, 100_000
SLIDER_END = 100
"""A slider has the values 0 to 100."""
REFUSED = "refused"
"""The kind of event at which a probe may be due in every world: an action was refused."""
KEY = re.compile(r"[a-z][a-z0-9_]{0,29}")

_ITEM_FIELDS = frozenset(("key", "kind", "text", "low", "high", "points", "options", "words", "language"))
_PROBE_FIELDS = frozenset(("key", "items", "limit_seconds", "at_most", *TIMES))
_SLIDER_FIELDS = frozenset(("text", "low", "high", "words", "language"))


@dataclass(frozen=True, slots=True)
class ProbeItem:
    """One question of a probe."""

    key: str
    kind: str
    text: str
    low: str = ""
    high: str = ""
    points: int = 0
    """The number of points of a Likert item; 0 for other kinds."""
    options: tuple[str, ...] = ()
    words: Mapping[str, Mapping[str, Json]] | None = None
    language: str = ""
    """The language of these texts; empty if it is not known, or is that of every reader."""

    def to_json(self) -> dict[str, Json]:
        """Return the item as JSON, without empty fields."""
        content = {name: getattr(self, name) for name in self.__slots__}
        content["options"] = list(self.options)
        return {name: value for name, value in content.items() if value}

    def in_language(self, language: str) -> ProbeItem:
        """Return the item with its texts in this language, as far as they are translated. Other texts are
        marked with their own language (`ForeignText`)."""
        words = (self.words or {}).get(language, {})
        own = "" if language == self.language else self.language
        options = words.get("options") or [""] * len(self.options)
        return ProbeItem(
            self.key,
            self.kind,
            words.get("text") or _marked(self.text, own),
            words.get("low") or _marked(self.low, own),
            words.get("high") or _marked(self.high, own),
            self.points,
            tuple(there or _marked(text, own) for there, text in zip(options, self.options, strict=False)),
        )

    def read_answer(self, given: Json) -> Json:
        """Return the answer as it is stored: a number, the text, or the number of the option from 1. Raises
        ValueError if the answer is missing or does not fit the item."""
        if self.kind == TEXT:
            text = given.strip() if isinstance(given, str) else ""
            if not text or len(text) > MAX_ANSWER_CHARACTERS:
                raise ValueError("text")
            return text
        number = int(given) if isinstance(given, str) and re.fullmatch(r"\d{1,3}", given) else given
        first, last = self.bounds
        if type(number) is not int or not first <= number <= last:
            raise ValueError("number")
        return number

    @property
    def bounds(self) -> tuple[int, int]:
        """Return the smallest and the largest number of an answer."""
        last = {LIKERT: self.points, CHOICE: len(self.options), SLIDER: SLIDER_END}.get(self.kind, 0)
        return int(self.kind != SLIDER), last

    @property
    def texts(self) -> dict[str, str]:
        """Return the texts to translate, by field: `text`, `low`, `high`, `options.1` and so on."""
        options = {f"options.{number}": text for number, text in enumerate(self.options, start=1)}
        return {"text": self.text, "low": self.low, "high": self.high, **options}


def _marked(text: str, language: str) -> str:
    """Return the text, marked with its language if it has words and its language differs from the page's."""
    return foreign_text(text, language) if language and any(map(str.isalpha, text)) else text


@dataclass(frozen=True, slots=True)
class Probe:
    """A question that holds the game. Exactly one of `step`, `every_steps`, `every_seconds` and `event` is
    set."""

    key: str
    items: tuple[ProbeItem, ...]
    step: int = 0
    every_steps: int = 0
    every_seconds: int = 0
    event: str = ""
    limit_seconds: int = USUAL_LIMIT_SECONDS
    at_most: int = 0
    """Maximum number of times it is asked in an episode. 0: no limit."""

    def to_json(self) -> dict[str, Json]:
        """Return the probe as JSON, without empty fields."""
        content = {name: getattr(self, name) for name in self.__slots__ if name != "items"}
        filled = {name: value for name, value in content.items() if value}
        return {**filled, "items": [item.to_json() for item in self.items]}

    def is_due(self, step: int, kinds: Iterable[str], tick_ms: int | None, seconds: float) -> bool:
        """Return whether the probe is due after this step, with events of these kinds. `tick_ms` is the time
        of a step under a clock. Elsewhere `seconds` have passed since the probe was last answered."""
        if self.event:
            return self.event in kinds
        if self.step:
            return step == self.step
        if self.every_steps:
            return step % self.every_steps == 0
        if tick_ms:
            return step % max(1, math.ceil(1000 * self.every_seconds / tick_ms)) == 0
        return seconds >= self.every_seconds


@dataclass(frozen=True, slots=True)
class RatingSlider:
    """The slider that is always on the page, with its ends in words."""

    text: str
    low: str
    high: str
    words: Mapping[str, Mapping[str, Json]] | None = None
    language: str = ""

    @classmethod
    def read(cls, given: Mapping[str, Json]) -> Self | None:
        """Return the slider of a condition. None if it has none. Raises SettingsError if it is invalid."""
        if not given:
            return None
        what = "rating_slider"
        _check_fields(given, _SLIDER_FIELDS, what)
        text, low, high = (_text(given, name, what, MAX_LABEL_CHARACTERS) for name in ("text", "low", "high"))
        if not (text and low and high):
            raise SettingsError(f"{what}: write its text and the words of both ends")
        return cls(text, low, high, given.get("words"), _language(given, what))

    def in_language(self, language: str) -> RatingSlider:
        """Return the slider with its texts in this language, as far as they are translated. Other texts are
        marked with their own language."""
        words = (self.words or {}).get(language, {})
        own = "" if language == self.language else self.language
        return RatingSlider(
            words.get("text") or _marked(self.text, own),
            words.get("low") or _marked(self.low, own),
            words.get("high") or _marked(self.high, own),
        )


def read_probes(given: Sequence[Json], kinds: Iterable[str]) -> tuple[Probe, ...]:
    """Return the probes of a condition. `kinds` are the kinds of event of its world. Raises SettingsError
    with the first problem."""
    if not isinstance(given, Sequence) or isinstance(given, str) or len(given) > MAX_PROBES:
        raise SettingsError(f"probes: write a list of at most {MAX_PROBES} probes")
    probes = tuple(_probe(each, number) for number, each in enumerate(given, start=1))
    keys = [probe.key for probe in probes]
    if doubled := next((key for key in keys if keys.count(key) > 1), ""):
        raise SettingsError(f"probes: {doubled} is there twice")
    known = {REFUSED, *kinds}
    if wrong := next((one.event for one in probes if one.event and one.event not in known), ""):
        raise SettingsError(f"probes: {wrong!r} is not one of {', '.join(sorted(known))}")
    return probes


def stored_probes(given: Sequence[Json]) -> tuple[Probe, ...]:
    """Return the probes that an episode has stored. Empty if this version cannot read them."""
    try:
        return tuple(_probe(each, number) for number, each in enumerate(given, start=1))
    except SettingsError:
        return ()


def _probe(given: Json, number: int) -> Probe:
    what = f"probes: probe {number}"
    if not isinstance(given, Mapping):
        raise SettingsError(f"{what} has the wrong form")
    _check_fields(given, _PROBE_FIELDS, what)
    times = [name for name in TIMES if given.get(name)]
    if len(times) != 1:
        raise SettingsError(f"{what}: give one of {', '.join(TIMES)}")
    items = given.get("items")
    if not isinstance(items, list) or not 1 <= len(items) <= MAX_ITEMS:
        raise SettingsError(f"{what}: ask 1 to {MAX_ITEMS} items")
    read = tuple(_item(item, f"{what}, item {place}", place) for place, item in enumerate(items, start=1))
    if len({item.key for item in read}) < len(read):
        raise SettingsError(f"{what}: its items need different keys")
    event = given.get(EVENT, "")
    if not isinstance(event, str) or len(event) > MAX_LABEL_CHARACTERS:
        raise SettingsError(f"{what}: {EVENT} is no kind of event")
    return Probe(
        _key(given, f"probe{number}", what),
        read,
        step=_number(given, STEP, what, 1, MAX_NUMBER),
        every_steps=_number(given, EVERY_STEPS, what, 1, MAX_NUMBER),
        every_seconds=_number(given, EVERY_SECONDS, what, MIN_SECONDS, MAX_NUMBER),
        event=event,
        limit_seconds=_number(given, "limit_seconds", what, MIN_LIMIT_SECONDS, MAX_LIMIT_SECONDS)
        or USUAL_LIMIT_SECONDS,
        at_most=_number(given, "at_most", what, 1, MAX_NUMBER),
    )


def _item(given: Json, what: str, place: int) -> ProbeItem:
    if not isinstance(given, Mapping):
        raise SettingsError(f"{what} has the wrong form")
    _check_fields(given, _ITEM_FIELDS, what)
    kind = given.get("kind", LIKERT)
    if kind not in ITEM_KINDS:
        raise SettingsError(f"{what}: kind is one of {', '.join(ITEM_KINDS)}")
    low, high = (_text(given, name, what, MAX_LABEL_CHARACTERS) for name in ("low", "high"))
    if kind in (LIKERT, SLIDER) and not (low and high):
        raise SettingsError(f"{what}: write the words of both ends")
    options = given.get("options", [])
    fitting = isinstance(options, list) and all(
        isinstance(one, str) and 0 < len(one.strip()) <= MAX_LABEL_CHARACTERS for one in options
    )
    if not fitting or (kind == CHOICE and not 2 <= len(options) <= MAX_OPTIONS):
        raise SettingsError(f"{what}: write 2 to {MAX_OPTIONS} options")
    if not (text := _text(given, "text", what, MAX_TEXT_CHARACTERS)):
        raise SettingsError(f"{what}: write its text")
    points = _number(given, "points", what, MIN_POINTS, MAX_POINTS) or USUAL_POINTS
    return ProbeItem(
        _key(given, f"q{place}", what),
        kind,
        text,
        low,
        high,
        points if kind == LIKERT else 0,
        tuple(one.strip() for one in options) if kind == CHOICE else (),
        given.get("words"),
        _language(given, what),
    )


def _check_fields(given: Mapping[str, Json], known: frozenset[str], what: str) -> None:
    if unknown := given.keys() - known:
        raise SettingsError(f"{what}: {min(unknown)!r} is not one of {', '.join(sorted(known))}")


def _key(given: Mapping[str, Json], usual: str, what: str) -> str:
    key = given.get("key") or usual
    if not isinstance(key, str) or not KEY.fullmatch(key):
        raise SettingsError(f"{what}: a key has small letters, digits and _, and begins with a letter")
    return key


def _language(given: Mapping[str, Json], what: str) -> str:
    return _text(given, "language", what, MAX_LABEL_CHARACTERS)


def _text(given: Mapping[str, Json], name: str, what: str, longest: int) -> str:
    text = given.get(name, "")
    if not isinstance(text, str) or len(text) > longest:
        raise SettingsError(f"{what}: {name} is a text of at most {longest} characters")
    return text.strip()


def _number(given: Mapping[str, Json], name: str, what: str, least: int, most: int) -> int:
    number = given.get(name) or 0
    if type(number) is not int or (number and not least <= number <= most):
        raise SettingsError(f"{what}: {name} is a whole number from {least} to {most}")
    return number


HoldState = Mapping[str, Any]
"""The stored state of an episode's probes: `asked` (how often, by key), `since` (when the seconds of each
key began), `began` (when the first step opened), `pause_ms` (of the hold that has just ended), and while the
game is held `hold`."""


def due_probes(
    probes: Iterable[Probe],
    state: HoldState,
    *,
    step: int,
    kinds: Iterable[str],
    tick_ms: int | None,
    began: datetime,
    now: datetime,
) -> list[Probe]:
    """Return the probes that are due after this step. `kinds` are the kinds of its events. `began` is when
    the episode began, and `now` when the step was taken."""
    asked, since, found = state.get("asked", {}), state.get("since", {}), []
    happened = frozenset(kinds)
    for probe in probes:
        before = datetime.fromisoformat(since[probe.key]) if probe.key in since else began
        is_free = not probe.at_most or asked.get(probe.key, 0) < probe.at_most
        if is_free and probe.is_due(step, happened, tick_ms, (now - before).total_seconds()):
            found.append(probe)
    return found


def begun_hold(
    state: HoldState, due: Sequence[Probe], seats: Iterable[int], *, now: datetime, timed: bool
) -> dict[str, Any]:
    """Return the state after these probes have begun to hold the game for the people in `seats`. `timed` says
    whether a time limit ran, which begins again afterwards."""
    limit = max(probe.limit_seconds for probe in due)
    asked = dict(state.get("asked", {}))
    for probe in due:
        asked[probe.key] = asked.get(probe.key, 0) + 1
    hold = {
        "probes": [probe.key for probe in due],
        "seats": sorted(seats),
        "at": now.isoformat(),
        "until": (now + timedelta(seconds=limit)).isoformat(),
        "timed": timed,
    }
    return {**without_pause(state), "asked": asked, "hold": hold}


def without_pause(state: HoldState) -> dict[str, Any]:
    """Return the state without the pause that a step has logged."""
    return {name: value for name, value in state.items() if name != "pause_ms"}


def answered_by(state: HoldState, seat: int) -> dict[str, Any]:
    """Return the state after the person in this seat has answered."""
    hold = state["hold"]
    return {**state, "hold": {**hold, "seats": [one for one in hold["seats"] if one != seat]}}


def ended_hold(state: HoldState, *, now: datetime) -> dict[str, Any]:
    """Return the state after the hold has ended. The next step logs its length (`pause_ms`)."""
    hold = state["hold"]
    pause = max(0, round((now - datetime.fromisoformat(hold["at"])).total_seconds() * 1000))
    since = {**state.get("since", {}), **dict.fromkeys(hold["probes"], now.isoformat())}
    rest = {name: value for name, value in state.items() if name != "hold"}
    return {**rest, "since": since, "pause_ms": pause}
