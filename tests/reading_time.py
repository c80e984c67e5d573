"""Measure how long somebody reads and acts from a study's link to the first dish, or to the first own move.

The walk goes through the pages as a browser does. It reads all words that can be seen in the main part of
each page that it must pass, at 200 words a minute. In practice it reads the instructions once, and does what
is ringed.

Nothing is waited for. An action counts as `ACTION_SECONDS`: the time to find a ringed button, to point at it,
and to press it (the keystroke-level model of Card, Moran and Newell: 1.1 s to point, 0.2 s to press).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any

from django.test import Client

from kitchen.play.live.seat_view import current_seat_view
from kitchen.play.models import Episode, Seat
from study.design.models import Study
from tests.kitchen.factories import submit

WORDS_A_MINUTE = 200
ACTION_SECONDS = 1.3
VOID = frozenset({"area", "br", "col", "hr", "img", "input", "link", "meta", "source", "wbr"})
UNREAD = frozenset({"script", "style", "template", "noscript", "dialog", "svg", "select"})
HIDDEN = frozenset({"visually-hidden", "skip-link", "by-touch"})


class VisibleWords(HTMLParser):
    """Collects the words that can be seen in the main part of a page, or in an element with this attribute.
    What is folded away is not seen, but its heading is."""

    def __init__(self, within: str = "") -> None:
        super().__init__()
        self.words: list[str] = []
        self._within = within
        self._open: list[tuple[str, bool, bool]] = []
        """The open elements: name, whether it is read, and whether it is a closed fold."""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Open an element."""
        if tag in VOID:
            return
        given = dict(attrs)
        here = self._open[-1][1] if self._open else False
        begins = self._within in given if self._within else tag == "main"
        folded = bool(self._open) and self._open[-1][2] and tag != "summary"
        hidden = tag in UNREAD or "hidden" in given or HIDDEN & set((given.get("class") or "").split())
        is_read = (here or begins) and not folded and not hidden
        self._open.append((tag, bool(is_read), tag == "details" and "open" not in given))

    def handle_endtag(self, tag: str) -> None:
        """Close the element, and those in it that have no end."""
        while self._open and self._open.pop()[0] != tag:
            pass

    def handle_data(self, data: str) -> None:
        """Read the text."""
        if self._open and self._open[-1][1] and not self._open[-1][2]:
            self.words += [word for word in data.split() if any(map(str.isalnum, word))]


def words_in(html: str, within: str = "") -> int:
    """Return how many words can be seen in the main part of this page, or in the element with the attribute
    `within`."""
    reader = VisibleWords(within)
    reader.feed(html)
    return len(reader.words)


@dataclass
class WayToFirstDish:
    """What was read and done from the link to the first dish."""

    words: dict[str, int] = field(default_factory=dict)
    """The words read, by page."""
    actions: int = 0
    served: bool = False

    @property
    def seconds(self) -> float:
        """Return the seconds of the whole way."""
        reading = sum(self.words.values()) / WORDS_A_MINUTE * 60
        return reading + self.actions * ACTION_SECONDS


def way_to_first_dish(client: Client, study: Study) -> WayToFirstDish:
    """Walk from the study's link until practice has ended, and return what was read and done."""
    way, answer = _way_to_practice(client, study)
    _practise(way, answer)
    return way


def way_to_first_move(client: Client, study: Study) -> WayToFirstDish:
    """Walk from the study's link to the first action in practice, and return what was read and done."""
    way, answer = _way_to_practice(client, study)
    strip = words_in(answer.content.decode(), "data-beats")
    seat = answer.context["participant"].practice.seats.select_related("episode").filter(mind=None)[0]
    way.words["practice"] = strip or sum(len(text.split()) for text in current_seat_view(seat).choice.hints)
    way.actions += 1
    return way


def _way_to_practice(client: Client, study: Study) -> tuple[WayToFirstDish, Any]:
    """Walk from the study's link to its practice. Return what was read and done, and the page."""
    way, address = WayToFirstDish(), study.get_absolute_url()
    answer: Any = client.get(address)
    way.words["welcome"] = words_in(answer.content.decode())
    answer = client.post(address, {"entry": answer.context["form"]["entry"].value()}, follow=True)
    way.actions += 1
    while (page := _page(answer)) != "practice":
        way.words[page] = words_in(answer.content.decode())
        sent = {"page": page, **dict.fromkeys(_boxes(answer), "on")}
        way.actions += len(sent)  # its boxes and its button
        answer = client.post(answer.request["PATH_INFO"], sent, follow=True)
    return way, answer


def _page(answer: Any) -> str:
    html: str = answer.content.decode()
    return html.partition('data-page="')[2].partition('"')[0]


def _boxes(answer: Any) -> list[str]:
    form = answer.context.get("form")
    return [field.html_name for field in form] if form is not None else []


def _practise(way: WayToFirstDish, answer: Any) -> None:
    """Follow the ring. The instructions are read when their part is reached, all others when they are new."""
    html = answer.content.decode()
    strip = words_in(html, "data-beats")
    seat = answer.context["participant"].practice.seats.select_related("episode").get(mind=None)
    heard: set[str] = set()
    while (
        view := current_seat_view(Seat.objects.select_related("episode").get(pk=seat.pk))
    ).phase == "choose":
        heard |= set() if strip else set(view.choice.hints)
        then = view.choice.hinted_next  # one choice of the menu sends all
        submit(seat.episode, view.step + 1, *(view.choice.hinted or ("noop",)), then=then)
        way.actions += 1
    way.words["practice"] = strip or sum(len(text.split()) for text in heard)
    way.served = Episode.objects.get(pk=seat.episode_id).status == Episode.Status.REACHED
