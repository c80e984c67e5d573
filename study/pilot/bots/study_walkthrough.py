"""Lead one synthetic participant (a program) through a whole study, from the link to the last page.

`HANDLERS` has a function for each kind of page. A plan says whether the participant refuses consent, fails a
check, drops out or withdraws, and on which page.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass
from urllib.parse import urljoin

from kitchen.contract.world import Json
from study.design.questions.item_fields import ItemPlan
from study.design.questions.item_kinds import kind_of
from study.design.questions.item_numbers import format_number
from study.participants.simulated_effects import KnownEffects, expected_answer
from study.participation.item_part_fields import PART_SIGN, sent_parts
from study.pilot.bots.http_browser import (
    Browser,
    PatienceLimit,
    Sent,
    WalkedPage,
    WalkError,
    printable_url,
)
from study.pilot.bots.simulated_person import Experience, Person, Player, item_answer
from study.pilot.bots.walk_plans import PlannedOutcome, StopPage, WalkPlan
from study.pilot.bots.websocket_player import ConnectionDroppedError, session_for_page

Handler = Callable[["Walk", WalkedPage], Awaitable["WalkedPage | None"]]
"""Handles a page and returns the next one; None at the end of the walkthrough."""

Where = Callable[[str], Awaitable[str]]
"""Returns the key of the condition that is played at a websocket address. No page shows it."""

ITEM_FIELDS = ("radio", "select", "checkbox", "number", "text", "date", "textarea")
"""Kinds of form fields that are items."""
APART, APART_BOX = "does-not-apply", ".apart"
"""Value of “does not apply” among radio buttons, and the suffix of its checkbox's name. Synthetic
participants never choose it."""
MOST_FORMS = 1000
"""Limit of pages per walkthrough, in case the server leads in a circle."""


@dataclass(frozen=True, slots=True)
class Arrival:
    """The result of a walkthrough that reached its planned end."""

    number: int
    code: str
    home: str
    """The personal link."""
    episodes: tuple[Experience, ...]
    retries: int
    outcome: PlannedOutcome = PlannedOutcome.FINISH
    where: str = ""
    """The page of a drop-out or withdrawal."""
    sockets: tuple[str, ...] = ()
    """Addresses of the websockets, including practice; they identify the seats."""


class Walk:
    """The walkthrough of one synthetic participant, from the study's link to the last page."""

    def __init__(
        self,
        person: Person,
        browser: Browser,
        patience: PatienceLimit,
        *,
        think: float = 0.0,
        handlers: Mapping[str, Handler] | None = None,
        plan: WalkPlan | None = None,
        items: Mapping[str, ItemPlan] | None = None,
        effects: KnownEffects | None = None,
        where: Where | None = None,
    ) -> None:
        self.person = person
        self.browser = browser
        self.patience = patience
        self.think = think
        self.handlers = HANDLERS if handlers is None else handlers
        self.plan = plan or WalkPlan()
        self.items = items or {}
        """The study's items by key."""
        self.known = effects or {}
        self.where = where
        self.home = ""
        """The personal link, once there is one; it always leads to the current page."""
        self.code = ""
        self.screened_out = False
        """True if the study ended because of the answers."""
        self.players: dict[str, Player] = {}
        """Players by address of the websocket, one per episode, in the order of play."""
        self.practised: dict[str, Player] = {}
        """Players of practice episodes, by address of the websocket."""

    async def run(self, link: str, entry_lock: AbstractAsyncContextManager[object] | None = None) -> Arrival:
        """Open the study's link, act on each page until the planned end, and return the result. Raises
        WalkError, with the reason, if the planned end is not reached.

        `entry_lock` is held during the entry, so that participants enter one at a time.
        """
        async with entry_lock or nullcontext():
            page: WalkedPage | None = await self.step(await self.browser.open(link))
        for _ in range(MOST_FORMS):
            if page is None:
                return self._arrival()
            page = await self.step(page)
        raise WalkError(f"{MOST_FORMS} pages and no end")

    async def step(self, page: WalkedPage) -> WalkedPage | None:
        """Act on this page as its kind requires, and return the next page. Return None if the walkthrough
        ends here. Raises WalkError for a page of an unknown kind."""
        self.patience.moved((page.kind, len(self.players), page.socket, self.player and self.player.last))
        handler = self.handlers.get(page.kind)
        if handler is None:
            raise WalkError(
                f"{printable_url(page.url)} is a page of kind {page.kind!r} (answer {page.status})"
            )
        if self.stops_at(page) and not page.socket:
            handler = leave
        return await handler(self, page)

    def stops_at(self, page: WalkedPage) -> bool:
        """Return whether the plan is to drop out or withdraw on this page."""
        return self.plan.stop == StopPage(page.name, self._position(page))

    def _position(self, page: WalkedPage) -> int:
        if page.kind == "survey":
            return len(self.players)
        if page.kind != "play":
            return 0
        return [*self.players, page.socket].index(page.socket) + 1

    async def send(self, page: WalkedPage, answers: Mapping[str, Sent]) -> WalkedPage:
        """Send the page's form with these answers, and return the next page.

        Raises WalkError with the page's error message if the form was not accepted.
        """
        next_page = await self.browser.send(page, answers)
        if next_page.kind == "closed":
            raise WalkError(TAKES_NOBODY)
        if next_page.status >= 400:
            raise page.error(f"the form was not accepted: {next_page.errors or next_page.status}")
        return next_page

    async def answers(self, page: WalkedPage) -> dict[str, Sent]:
        """Return an answer for each item in the page's form, by field name. Optional items may be left out.

        Raises WalkError for an item that is not in the study's design.
        """
        condition = await self._condition(page)
        experience = self.player.experience() if self.player else Experience()
        answers, done = dict[str, Sent](), set[str]()
        for field in page.form.of_kind(*ITEM_FIELDS):
            name = field.name.partition(PART_SIGN)[0]
            if field.name.endswith(APART_BOX) or name in done:
                continue
            done.add(name)
            item = self.items.get(name.removeprefix("item_"))
            if item is None:
                raise page.error(f"the design has no item {field.name}")
            value = item_answer(
                item,
                self.person,
                self.plan,
                experience,
                episode=len(self.players),
                teams=[choice for choice in field.choices if choice != APART],
                known=expected_answer(self.known, item.key, condition) if condition else None,
            )
            if value is not None:
                answers |= sent_answer(item, name, value)
        return answers

    async def _condition(self, page: WalkedPage) -> str:
        """Return the key of the condition that the ratings on this page are about: the condition of the
        latest episode. Return an empty string if the page has no such ratings, or if no known effects are
        simulated."""
        if page.kind != "survey" or not self.known or self.where is None or not self.players:
            return ""
        return await self.where(next(reversed(self.players)))

    @property
    def player(self) -> Player | None:
        """Return the simulated player of the latest episode (practice does not count). Return None before
        the first episode."""
        return next(reversed(self.players.values()), None)

    def _arrival(self) -> Arrival:
        episodes = tuple(player.experience() for player in self.players.values())
        return Arrival(
            self.person.number,
            self.code,
            self.home,
            episodes,
            self.patience.retries,
            outcome=PlannedOutcome.SCREEN_OUT if self.screened_out else self.plan.outcome,
            where="" if self.screened_out else str(self.plan.stop or ""),
            sockets=(*self.practised, *self.players),
        )


async def begin(walk: Walk, page: WalkedPage) -> WalkedPage:
    """Handle the welcome page: press the button, store the personal link, and return the next page."""
    next_page = await walk.send(page, {})
    walk.home = next_page.url
    return next_page


async def agree(walk: Walk, page: WalkedPage) -> WalkedPage:
    """Handle the consent page: tick every box, or press the button to refuse if this is planned. Return
    the next page."""
    if walk.plan.outcome == PlannedOutcome.REFUSE:
        return await walk.send(page, {"refuse": "yes"})
    return await walk.send(page, {box.name: box.choices[0] for box in page.form.of_kind("checkbox")})


async def read_guide(walk: Walk, page: WalkedPage) -> WalkedPage:
    """Handle a page that is only read, such as the guide: send its form unchanged, and return the next
    page."""
    return await walk.send(page, {})


async def be_screened_out(walk: Walk, page: WalkedPage) -> None:
    """Handle the last page of a participant for whom the study ended because of the answers. It needs no
    code."""
    walk.screened_out = True


async def play(walk: Walk, page: WalkedPage) -> WalkedPage | None:
    """Handle the page with an episode: play until the episode ends or the connection is lost. Then return the
    page at the personal link.

    If the plan is to stop in this episode, leave after a part of the episode (see `leave`), and return
    None.
    """
    player = walk.players.get(page.socket) or Player(walk.person, len(walk.players) + 1)
    return await _play(walk, page, player, walk.players)


async def wait(walk: Walk, page: WalkedPage) -> WalkedPage:
    """Handle the lobby: reload the page until the wait is over, and return the page that follows. This wait
    does not use up the participant's time limit; the server limits it."""
    while page.kind == "lobby":
        await asyncio.sleep(LOBBY_SECONDS)
        page = await walk.browser.open(walk.home)
    return page


LOBBY_SECONDS = 1.0
"""Seconds between two reloads of the lobby."""
TAKES_NOBODY = "the study takes nobody else: it is full, or it was closed meanwhile"


async def practise(walk: Walk, page: WalkedPage) -> WalkedPage | None:
    """Handle the practice page: play the practice episode, and return the next page. Return None if the
    plan is to leave on this page."""
    if not page.socket:
        return await read_guide(walk, page)
    player = walk.practised.get(page.socket) or Player(walk.person, 0)
    return await _play(walk, page, player, walk.practised)


async def _play(
    walk: Walk, page: WalkedPage, player: Player, players: dict[str, Player]
) -> WalkedPage | None:
    stops = walk.stops_at(page)
    players[page.socket] = player
    part = walk.plan.part if stops else 1.0
    try:
        session = session_for_page(page)(page, player, walk.patience, think=walk.think, part=part)
        await session.play()
    except ConnectionDroppedError as error:
        await walk.patience.pause(f"{printable_url(page.url)}: the websocket was lost: {error}")
        stops = False
    return await (leave(walk, page) if stops else walk.browser.open(walk.home))


async def leave(walk: Walk, page: WalkedPage) -> WalkedPage | None:
    """End the walkthrough as planned: withdraw through the page's link, or simply stop. Always returns None.

    Raises WalkError if withdrawing fails.
    """
    if walk.plan.outcome != PlannedOutcome.WITHDRAW:
        return None
    if not page.leave:
        raise page.error(f"this page ({page.kind}) has no link to leave the study")
    asked = await walk.browser.open(urljoin(page.url, page.leave))
    receipt = await walk.send(asked, {"confirm": "yes"})
    if receipt.kind != "withdrawn":
        raise receipt.error(f"no receipt after withdrawing, but a page of kind {receipt.kind!r}")
    return None


async def answer(walk: Walk, page: WalkedPage) -> WalkedPage:
    """Handle a page with survey items: send valid answers, and return the next page.

    Ratings follow the experience of the last episode.
    """
    return await walk.send(page, await walk.answers(page))


async def understand(walk: Walk, page: WalkedPage) -> WalkedPage:
    """Handle the comprehension check: answer everything right, or wrong if the plan is to fail. Return the
    next page."""
    send = walk.browser.send if walk.plan.outcome == PlannedOutcome.FAIL else walk.send
    return await send(page, await walk.answers(page))


async def arrive(walk: Walk, page: WalkedPage) -> None:
    """Handle the last page: store the completion code.

    Raises WalkError if a participant who should have a code gets none, or should have stopped earlier.
    """
    if not page.code and walk.plan.outcome not in {PlannedOutcome.REFUSE, PlannedOutcome.FAIL}:
        raise page.error("the last page shows no completion code")
    if walk.plan.stop:
        raise page.error(f"the end came before {walk.plan.stop}, where the plan ended")
    walk.code = page.code


async def wait_for_money(walk: Walk, page: WalkedPage) -> None:
    """Handle the page for a round that cannot begin because the budget is spent: raise WalkError.
    Synthetic participants do not wait for a higher budget."""
    raise page.error("the study waits, since its budget is spent")


HANDLERS: dict[str, Handler] = {
    "about": answer,
    "break": read_guide,
    "check": understand,
    "consent": agree,
    "debriefing": read_guide,
    "end": arrive,
    "final": answer,
    "guide": read_guide,
    "lobby": wait,
    "own": read_guide,
    "own-asked": answer,
    "screen-out": be_screened_out,
    "play": play,
    "practice": practise,
    "ready": read_guide,
    "survey": answer,
    "waiting": wait_for_money,
    "welcome": begin,
}
"""Handlers by kind of page."""


def sent_answer(item: ItemPlan, name: str, value: Json) -> dict[str, Sent]:
    """Return an answer as a browser sends it, by the names of controls. `name` is that of the item's
    field."""
    if kind_of(item).looks == "parts":
        return {**sent_parts(item, name, value)}
    return {name: as_form_value(value)}


def as_form_value(value: Json) -> Sent:
    """Return an answer in the form in which a browser sends it: a string, or a list of strings."""
    if isinstance(value, list | tuple):
        return [str(one) for one in value]
    return format_number(value) if isinstance(value, float) else str(value)
