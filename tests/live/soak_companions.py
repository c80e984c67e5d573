"""Add people of other kinds to a soak test: real-time games, teammates who talk, watching staff, downloads.

`async with Companions(company) as companions` starts them beside the company's players. They act at the pace
of people. When a game or an episode ends, they begin another.
"""

from __future__ import annotations

import asyncio
import csv
import io
import json
import logging
from collections import Counter
from collections.abc import Coroutine, Iterator
from functools import partial
from itertools import count
from random import Random
from typing import Any, Self

from tests.live.attack_loads import REAL_TIME
from tests.live.company import Company
from tests.live.http_request import REQUEST_ERRORS, Answer
from tests.live.line import Line, dial
from tests.live.mix import Mix
from tests.live.player import ASKED
from tests.live.regular import LOOK, STEPS, Regular
from tests.live.staff_requests import PAUSE, Client
from tests.live.ticks import EVERY, Page, at

log = logging.getLogger(__name__)

GAMES, PAIRS, WATCHERS = 4, 2, 2
SLUG = "load"
"""The study that is watched and downloaded (`load.toml`)."""
OWNER_STUDY_PARTICIPANTS = 2
"""Synthetic participants of a second study. It is made only for its owner's token and login cookie."""
SAY_EVERY = 10.0
"""Seconds between two messages of one person, on average."""
SHOWN_WITHIN = 8.0
"""Seconds within which the teammate's page must show a message."""
PING = 4.0
"""Seconds between two pings of a page that watches."""
TICK_WITHIN = 10.0
"""Seconds within which the next tick of a game must come. A longer time counts as an error."""
SILENCE = 20.0
"""Seconds without a tick or message after which a page connects again. This counts as an error."""
DOWNLOAD_EVERY = 60.0
MAX_WAIT_SECONDS = 60.0
"""Seconds until a download that is being made must be ready."""
BEING_MADE = 202
"""The status of a file that is not ready yet."""
RECONNECT_SECONDS = 1.0
"""Seconds after which somebody who lost the connection connects again."""
PONG = b'id="pulse"'
"""The part of a staff page's message by which it is an answer to a ping (`PONG_HTML`), not an update."""
UPDATES = "staff updates"
CONSTANT = ("ticks", "steps while talking", "messages", UPDATES)
"""The counts that must not be zero in any minute. There are updates only if somebody is in the study."""
NO_TICK = f"game: no tick for {TICK_WITHIN:g} s"
GAP, ANSWERED = "longest time between ticks", "key to tick (p95)"
TIMES = frozenset({GAP, ANSWERED})
"""The reported values that are milliseconds. All others are counts."""
TALKING = Mix({"alone": 1}, html=50, timed=0)


class Talker(Regular):
    """A player who writes to a teammate, and checks that the teammate's messages are shown."""

    expected = b""
    """The teammate's message that this page has not shown yet."""
    expected_at = 0.0
    next_say = 0.0

    def begin(self, first: float = 0.0) -> None:
        """Play from now on, and say something later."""
        super().begin(first)
        self.next_say = self.loop.time() + self.chance.expovariate(1 / SAY_EVERY)

    def write_to(self, mate: Talker, numbers: Iterator[int]) -> bool:
        """Send a message with the next number if it is time and the teammate has seen the last one. Return
        whether it was sent."""
        now, line = self.loop.time(), self.line
        choose = self.phase == mate.phase == "choose"
        if now < self.next_say or mate.expected or line is None or not choose:
            return False
        text = f"Message {next(numbers)}: please bring me the next one."
        if not line.say(json.dumps({"type": "say", "text": text}).encode()):
            return False
        mate.expected, mate.expected_at = text.encode(), now
        self.next_say = now + self.chance.expovariate(1 / SAY_EVERY)
        return True

    def heard(self, text: bytes) -> None:
        """Handle a received message."""
        super().heard(text)
        if self.expected and self.expected in text:
            self.expected = b""

    def check_message(self) -> bool:
        """Return whether the teammate's message is overdue, and do not wait for it any longer."""
        is_overdue = bool(self.expected) and self.loop.time() - self.expected_at > SHOWN_WITHIN
        if is_overdue or self.done:
            self.expected = b""
        return is_overdue and not self.done


class StaffPage:
    """A page that watches the study. It counts the updates."""

    def __init__(self) -> None:
        self.clock = asyncio.get_running_loop().time
        self.heard_at = self.clock()
        self.updates = 0

    def heard(self, text: bytes) -> None:
        """Handle a received message: an update, or the answer to a ping."""
        self.heard_at = self.clock()
        self.updates += PONG not in text


class Companions:
    """The people beside a company, from the beginning of the block to its end."""

    def __init__(self, company: Company) -> None:
        self.company = company
        self.url = company.stack.url
        self.counts: Counter[str] = Counter()
        self.errors: Counter[str] = Counter()
        self.pages: dict[int, Page] = {}
        """The page of each real-time game that is played now."""
        self.gaps: list[float] = []
        """The seconds between each two ticks of the pages."""
        self.answers: list[float] = []
        """The seconds from each key to the tick that used it."""
        self.talkers: list[Talker] = []
        self.staff_pages: list[StaffPage] = []
        self.numbers = count(1)
        self.tasks: list[asyncio.Task[None]] = []

    async def __aenter__(self) -> Self:
        staff = await self.ask("staff_study", participants=OWNER_STUDY_PARTICIPANTS)
        client = Client(self.url, SLUG, staff["token"], staff["cookie"])
        everybody = {
            **{f"game {number}": self.play_games(number) for number in range(GAMES)},
            **{f"talk {pair}": self.talk(pair) for pair in range(PAIRS)},
            **{f"staff page {number}": self.watch(client.cookie) for number in range(WATCHERS)},
            "downloads": self.download(client),
        }
        self.tasks = [asyncio.create_task(self.run(name, one)) for name, one in everybody.items()]
        return self

    async def __aexit__(self, *_: object) -> None:
        for task in self.tasks:
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)

    async def run(self, name: str, companion: Coroutine[Any, Any, None]) -> None:
        """Run one companion. If it fails, log and count this, so that the others go on."""
        try:
            await companion
        except Exception as error:  # the soak reports it, whatever it was
            log.exception("%s stopped", name)
            self.errors[f"{name} stopped: {type(error).__name__}"] += 1

    async def ask(self, question: str, **arguments: Any) -> Any:
        """Ask the books, which answer one question at a time."""
        async with self.company.tables.asking:
            return await asyncio.to_thread(self.company.books.ask, question, **arguments)

    def report(self) -> tuple[dict[str, float], Counter[str]]:
        """Return the values and the errors since the last call."""
        for page in self.pages.values():
            self.collect(page)
        for talker in self.talkers:
            self.counts["steps while talking"] += len(talker.times)
            self.errors.update({f"talk: {what}": times for what, times in talker.troubles.items() if times})
            talker.times.clear()
            talker.troubles.clear()
        for staff_page in self.staff_pages:
            self.counts[UPDATES] += staff_page.updates
            staff_page.updates = 0
        expected = (what for what in CONSTANT if what != UPDATES or self.company.guests)
        self.errors.update(f"no {what} in a minute" for what in expected if not self.counts[what])
        values = {what: float(times) for what, times in self.counts.items()}
        if self.gaps:
            values[GAP] = 1000 * max(self.gaps)
        if self.answers:
            values[ANSWERED] = 1000 * at(self.answers, 0.95)
        errors, self.counts, self.errors, self.gaps, self.answers = +self.errors, Counter(), Counter(), [], []
        return values, errors

    # Real-time games

    async def play_games(self, number: int) -> None:
        """Play one real-time game after another."""
        chance = Random(number)
        while True:
            table = {"world": "overcooked", "mates": 1, "kind": "random", "chosen": REAL_TIME}
            ((key,),) = await self.ask("episodes", count=1, **table)
            self.pages[number] = page = Page(key, chance)
            await self.play_game(page)
            while not page.over:
                await asyncio.sleep(RECONNECT_SECONDS)
                await self.play_game(page)
            self.collect(page)
            self.counts["games"] += 1

    async def play_game(self, page: Page) -> None:
        """Press keys until the game is over or the connection is lost."""
        lost = asyncio.Event()
        page.at = 0.0
        try:
            await page.open(self.url, partial(self.record_close, lost, "game"))
        except OSError:
            self.errors["game: no connection"] += 1
            return
        assert page.line
        opened_at = page.clock()
        try:
            while not (page.over or lost.is_set()):
                page.press()
                await asyncio.sleep(page.chance.expovariate(1 / EVERY))
                if page.clock() - (page.at or opened_at) > SILENCE:
                    break
        finally:
            hang_up(page.line)
        self.errors[NO_TICK] += not (page.over or lost.is_set())

    def collect(self, page: Page) -> None:
        """Add the measurements of a page, and clear them."""
        self.counts["ticks"] += len(page.gaps)
        self.gaps += page.gaps
        self.errors[NO_TICK] += sum(gap > TICK_WITHIN for gap in page.gaps)
        self.answers += page.answers
        if page.back > 0:
            self.errors["game: set back after a tick was shown"] += 1
        page.begin()

    def record_close(self, lost: asyncio.Event, what: str, code: int) -> None:
        """Record as an error that the server ended a connection."""
        lost.set()
        self.errors[f"{what}: closed with {code}"] += 1

    # Teammates who talk

    async def talk(self, pair: int) -> None:
        """Play one episode after another with a teammate, and write messages to each other."""
        every = self.company.every
        people = [Talker(self.url, 2 * pair + seat, TALKING, every=every) for seat in (0, 1)]
        self.talkers += people
        try:
            while True:
                (keys,) = await self.ask("episodes", count=1, people=2, talks=True, steps=STEPS)
                for person, key in zip(people, keys, strict=True):
                    await self.sit_down(person, key)
                while not all(person.done for person in people):
                    await asyncio.sleep(LOOK)
                    self.look_after(people)
        finally:
            for person in people:
                person.stop()

    async def sit_down(self, person: Talker, key: str) -> None:
        """Open the page of an episode, and play."""
        try:
            await person.sit_down(key)
        except OSError:
            person.troubles["no connection"] += 1
            await person.open()
        person.begin()

    def look_after(self, people: list[Talker]) -> None:
        """Check the pages of two teammates, and let them write."""
        for person, mate in (people, people[::-1]):
            person.listen()
            self.errors["talk: a message was not shown to the teammate"] += person.check_message()
            self.counts["messages"] += person.write_to(mate, self.numbers)

    # Staff

    async def watch(self, cookie: str) -> None:
        """Keep a page open that watches the study."""
        address = f"{self.url.replace('http', 'ws', 1)}/ws/staff/study/{SLUG}/"
        self.staff_pages.append(page := StaffPage())
        while True:
            lost = asyncio.Event()
            closed = partial(self.record_close, lost, "staff page")
            try:
                line = await dial(address, [], page.heard, closed, cookie=cookie)
            except OSError:
                self.errors["staff page: no connection"] += 1
                await asyncio.sleep(RECONNECT_SECONDS)
                continue
            page.heard_at = page.clock()
            try:
                while not lost.is_set() and page.clock() - page.heard_at < SILENCE:
                    line.say(ASKED)
                    await asyncio.sleep(PING)
            finally:
                hang_up(line)
            self.errors["staff page: silent for too long"] += not lost.is_set()
            await asyncio.sleep(RECONNECT_SECONDS)

    async def download(self, client: Client) -> None:
        """Download a table each minute, and then alternately an episode's replay and the whole study."""
        clock = asyncio.get_running_loop().time
        chance, files = Random(1), f"/api/studies/{SLUG}/files"
        for number in count():
            end = clock() + DOWNLOAD_EVERY
            table = await self.fetch(client, f"{files}/episodes.csv", "episodes.csv")
            episodes = episodes_in(table.body) if table else []
            if number % 2 and episodes:
                await self.fetch(client, f"/staff/{SLUG}/replay/{chance.choice(episodes)}/", "replay")
            else:
                await self.fetch(client, f"{files}/all.zip", "all.zip")
            await asyncio.sleep(max(0.0, end - clock()))

    async def fetch(self, client: Client, path: str, what: str) -> Answer | None:
        """Download a file, also if it must be made first. Return the response, or None if it failed."""
        clock = asyncio.get_running_loop().time
        end = clock() + MAX_WAIT_SECONDS
        try:
            answer = await asyncio.to_thread(client.get, path)
            while answer.status == BEING_MADE and clock() < end:
                await asyncio.sleep(PAUSE)
                answer = await asyncio.to_thread(client.get, path)
        except REQUEST_ERRORS as error:
            self.errors[f"download of {what}: {type(error).__name__}"] += 1
            return None
        if answer.status != 200 or not answer.body:
            self.errors[f"download of {what}: {answer.status}"] += 1
            return None
        self.counts[f"downloads of {what}"] += 1
        return answer


def hang_up(line: Line) -> None:
    """Close a connection without recording this as an error."""
    line.lost = lambda code: None
    line.hang_up()


def episodes_in(table: bytes) -> list[str]:
    """Return the keys of the episodes in `episodes.csv`."""
    return sorted({row["episode"] for row in csv.DictReader(io.StringIO(table.decode()))})
