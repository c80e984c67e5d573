"""The whole way of one synthetic participant: look at the page, do what a page of its kind asks.

`HANDLERS` says what is done on which kind of page; a person who behaves differently (drops out, withdraws,
fails a check) is a walk with other handlers.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass

from study.dry_run.browser import Browser, shown
from study.dry_run.cook import Cook
from study.dry_run.pages import Form, Page
from study.dry_run.patience import Patience, WalkError
from study.dry_run.person import Experience, Person
from study.dry_run.play import DroppedError, Table

Handler = Callable[["Walk", Page], Awaitable["Page | None"]]
"""Does what a page asks and returns the page that comes then; None at the end of the way."""

MOST_FORMS = 1000
"""Pages that one walk may see, in case the server leads in a circle."""


@dataclass(frozen=True, slots=True)
class Arrival:
    """What a walk that came to its end brings home."""

    number: int
    code: str
    home: str
    """The personal link."""
    episodes: tuple[Experience, ...]
    retries: int


class Walk:
    """One participant's, from the study's link to the last page."""

    def __init__(
        self,
        person: Person,
        browser: Browser,
        patience: Patience,
        *,
        think: float = 0.0,
        handlers: Mapping[str, Handler] | None = None,
    ) -> None:
        self.person = person
        self.browser = browser
        self.patience = patience
        self.think = think
        self.handlers = HANDLERS if handlers is None else handlers
        self.home = ""
        """The personal link, once there is one: the way back after anything."""
        self.code = ""
        self.cooks: dict[str, Cook] = {}
        """By the address of the websocket: one for each episode, in the order of play."""

    async def go(self, link: str, door: AbstractAsyncContextManager[object] | None = None) -> Arrival:
        """Walk to the end. `door` is held while entering, so that people enter one after another.

        WalkError with the reason if the end cannot be reached.
        """
        async with door or nullcontext():
            page: Page | None = await self.step(await self.browser.open(link))
        for _ in range(MOST_FORMS):
            if page is None:
                return self._arrival()
            page = await self.step(page)
        raise WalkError(f"{MOST_FORMS} pages and no end")

    async def step(self, page: Page) -> Page | None:
        """Do what this page asks; the page that comes then."""
        self.patience.moved((page.kind, len(self.cooks), page.socket, self.cook and self.cook.last))
        handler = self.handlers.get(page.kind)
        if handler is None:
            raise WalkError(f"{shown(page.url)} is a page of kind {page.kind!r} (answer {page.status})")
        return await handler(self, page)

    async def send(self, page: Page, form: Form, answers: Mapping[str, str]) -> Page:
        """Send a form; WalkError with what the page says if it was not accepted."""
        found = await self.browser.send(page, form, answers)
        if found.status >= 400:
            raise WalkError(f"{shown(page.url)}: the form was not accepted: {found.errors or found.status}")
        return found

    @property
    def cook(self) -> Cook | None:
        """The one of the latest episode."""
        return next(reversed(self.cooks.values()), None)

    def _arrival(self) -> Arrival:
        episodes = tuple(cook.experience() for cook in self.cooks.values())
        return Arrival(self.person.number, self.code, self.home, episodes, self.patience.retries)


async def begin(walk: Walk, page: Page) -> Page:
    """Welcome: press the button, and remember the personal link it leads to."""
    found = await walk.send(page, posted(page), {})
    walk.home = found.url
    return found


async def agree(walk: Walk, page: Page) -> Page:
    """Consent: tick every box."""
    form = posted(page)
    return await walk.send(page, form, {box.name: box.choices[0] for box in form.of_kind("checkbox")})


async def read_guide(walk: Walk, page: Page) -> Page:
    """Guide: send its form as it stands."""
    return await walk.send(page, posted(page), {})


async def play(walk: Walk, page: Page) -> Page:
    """Play: until the episode is over or the connection is lost; then the personal link says what is next."""
    cook = walk.cooks.setdefault(page.socket, Cook(walk.person, len(walk.cooks) + 1))
    try:
        await Table(page, cook, walk.patience, think=walk.think).play()
    except DroppedError as error:
        await walk.patience.pause(f"{shown(page.url)}: the websocket was lost: {error}")
    return await walk.browser.open(walk.home)


async def answer(walk: Walk, page: Page) -> Page:
    """Survey: a point on every scale, after what the last episode was like."""
    form = posted(page)
    experience = walk.cook.experience() if walk.cook else Experience()
    answers = {}
    for scale in form.of_kind("radio", "select"):
        item, points = scale.name.removeprefix("item_"), points_of(scale.choices)
        answers[scale.name] = str(walk.person.answer(item, points, experience, episode=len(walk.cooks)))
    return await walk.send(page, form, answers)


async def arrive(walk: Walk, page: Page) -> None:
    """End: note the completion code."""
    if not page.code:
        raise WalkError(f"{shown(page.url)}: the last page shows no completion code")
    walk.code = page.code


async def practise(walk: Walk, page: Page) -> Page:
    """Practice: play, then go on."""
    return await (play(walk, page) if page.socket else read_guide(walk, page))


HANDLERS: dict[str, Handler] = {
    "about": answer,
    "check": answer,
    "consent": agree,
    "debriefing": read_guide,
    "end": arrive,
    "final": answer,
    "guide": read_guide,
    "play": play,
    "practice": practise,
    "survey": answer,
    "welcome": begin,
}
"""Kind of page to what is done there."""


def posted(page: Page) -> Form:
    """The page's form; WalkError if it has none."""
    if not page.forms:
        raise WalkError(f"{shown(page.url)}: this page ({page.kind}) has no form to send")
    return page.forms[0]


def points_of(choices: list[str]) -> list[int]:
    """The points of a scale in rising order; WalkError if they are not whole numbers."""
    try:
        return sorted(int(choice) for choice in choices if choice)
    except ValueError as error:
        raise WalkError(f"a scale has points that are no whole numbers: {choices}") from error
