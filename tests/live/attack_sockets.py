"""Send the websocket messages of an attack: malformed ones to every kind of socket, and floods of words and
keys.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import count
from random import Random
from typing import Any

from websockets.typing import Subprotocol

from tests.live.attack_tally import Tally
from tests.live.flood import flood_one
from tests.live.line import dial
from tests.live.player import Player
from tests.malformed_messages import malformed, malformed_key

Plan = Mapping[str, Any]
Attack = Callable[[Plan, Tally], Awaitable[None]]

BROKEN = frozenset({1006, 1011})
"""Close codes of a connection that failed, not of one that the app ended."""
ACCEPTED = frozenset({"accepted", "repeated"})
"""Codes of notices that no malformed message may get."""
LISTEN = 5.0
"""Seconds to wait for the answers to them."""
LIMITED = 1.0
"""Seconds until the next connection after one that was refused."""
KEYS = ("north", "south", "east", "west", "interact")


@dataclass
class Target:
    """A websocket that is attacked with malformed messages."""

    address: str
    make: Callable[[Random], str]
    check: Callable[[bytes], str]
    """Returns what is wrong with an answer; empty if nothing is."""
    protocols: list[Subprotocol]
    answers: int = 1
    """The number of answers to wait for."""
    burst: int = 30
    """The number of messages of one connection."""
    cookie: str = ""


def run_sockets(attack: Attack, plan: Plan, tally: Tally) -> None:
    """Attack without end."""
    asyncio.run(attack(plan, tally))  # type: ignore[arg-type]


async def malformed_seats(plan: Plan, tally: Tally) -> None:
    """Send malformed messages to seats. Every third connection uses HTML as a browser does."""
    await all_targets(
        plan,
        tally,
        lambda number, key: Target(
            f"{plan['socket']}/ws/seat/{key}/",
            malformed,
            nothing_wrong if number % 3 == 2 else wrong_at_seat,
            [] if number % 3 == 2 else [Subprotocol("brigade.json")],
            answers=30,
        ),
    )


async def malformed_ticks(plan: Plan, tally: Tally) -> None:
    """Send malformed messages to seats of real-time episodes."""
    await all_targets(
        plan,
        tally,
        lambda number, key: Target(
            f"{plan['socket']}/ws/ticks/{key}/", malformed_key, nothing_wrong, [], burst=100
        ),
    )


async def malformed_staff(plan: Plan, tally: Tally) -> None:
    """Send malformed messages to the page on which staff watch a study, and to sockets that do not exist."""
    study = plan["study"]
    address = f"{plan['socket']}/ws/staff/study/{study['slug']}/"
    await all_targets(
        plan,
        tally,
        lambda number, key: Target(address, malformed, nothing_wrong, [], burst=200, cookie=study["cookie"]),
    )


async def all_targets(plan: Plan, tally: Tally, target: Callable[[int, str], Target]) -> None:
    """Attack a target for each key at the same time."""
    targets = [target(number, key) for number, key in enumerate(plan["keys"])]
    await asyncio.gather(
        *(attack_one(one, Random(number), tally) for number, one in enumerate(targets)),
    )


async def attack_one(target: Target, chance: Random, tally: Tally) -> None:
    """Connect, send malformed messages, wait for the answers, and connect again, without end."""
    while True:
        attacker = Attacker(target, tally)
        try:
            await attacker.attack(chance)
        except OSError as error:
            tally.fault(f"no connection: {error}")
        await asyncio.sleep(LIMITED if attacker.was_refused else 0)


class Attacker:
    """One connection that sends malformed messages."""

    def __init__(self, target: Target, tally: Tally) -> None:
        self.target, self.tally = target, tally
        self.heard = 0
        self.ended = asyncio.Event()
        self.was_refused = True
        """True unless all messages were sent, and answered if they are, before the connection ended."""

    async def attack(self, chance: Random) -> None:
        """Send the messages and wait for the answers. Raises OSError if there is no connection."""
        protocols, cookie = self.target.protocols, self.target.cookie
        line = await dial(self.target.address, protocols, self.hear, self.close, cookie=cookie)
        for _ in range(self.target.burst):
            self.tally.sent += line.say(self.target.make(chance).encode("utf-8", "surrogatepass"))
            await asyncio.sleep(0)
        await self.wait_for_answers()
        self.was_refused = self.ended.is_set()
        line.hang_up()
        await self.ended.wait()

    async def wait_for_answers(self) -> None:
        """Wait until the answers are there, the connection is closed, or some seconds have passed."""
        end = asyncio.get_running_loop().time() + LISTEN
        while self.heard < self.target.answers and not self.ended.is_set():
            await asyncio.sleep(0.02)
            if asyncio.get_running_loop().time() > end:
                return

    def hear(self, text: bytes) -> None:
        """Check an answer."""
        self.heard += 1
        self.tally.answers["messages"] += 1
        if wrong := self.target.check(text):
            self.tally.fault(wrong)

    def close(self, code: int) -> None:
        """Record the end of the connection."""
        self.ended.set()
        if self.was_refused:
            count_close(code, self.tally)


def count_close(code: int, tally: Tally) -> None:
    """Count the end of a connection by its code. A connection that broke is a fault."""
    tally.answers[f"closed {code}"] += 1
    if code in BROKEN:
        tally.fault(f"a connection was closed with {code}")


def wrong_at_seat(text: bytes) -> str:
    """Return what is wrong with a seat's answer to a malformed message."""
    message = json.loads(text)
    if message["type"] == "notice" and message["code"] in ACCEPTED:
        return f"a malformed message was {message['code']}"
    if message["type"] == "state" and message["step"]:
        return "a malformed message took a step"
    return ""


def nothing_wrong(text: bytes) -> str:
    """Accept every answer."""
    return ""


# Floods


async def flood_words(plan: Plan, tally: Tally) -> None:
    """Send words to a team-mate, as many as the connection takes."""
    numbers = count()

    def say() -> bytes:
        tally.sent += 1
        return json.dumps({"type": "say", "to": [1], "text": f"Please, number {next(numbers)}."}).encode()

    await flood_all_of(plan, tally, "seat", say)


async def flood_keys(plan: Plan, tally: Tally) -> None:
    """Press and release keys in real-time episodes, as many times as the connection takes."""
    numbers, chance = count(1), Random(1)

    def press() -> bytes:
        tally.sent += 1
        number = next(numbers)
        key = {"type": "key", "command": [chance.choice(KEYS)], "down": bool(number % 2), "number": number}
        return json.dumps(key).encode()

    await flood_all_of(plan, tally, "ticks", press)


async def flood_all_of(plan: Plan, tally: Tally, kind: str, text: Callable[[], bytes]) -> None:
    """Flood the seats of the plan with messages."""

    def hear(_: bytes) -> None:
        tally.answers["messages"] += 1

    closed = partial(count_close, tally=tally)
    await asyncio.gather(
        *(
            flood_one(f"{plan['socket']}/ws/{kind}/{key}/", text, heard=hear, closed=closed)
            for key in plan["keys"]
        )
    )


async def play_hostile_models(plan: Plan, tally: Tally) -> None:
    """Play beside co-players whose models have hostile names, so that the app asks these models."""
    players = [Player(plan["url"], [key], every=1.0, seed=n) for n, key in enumerate(plan["keys"])]
    await asyncio.gather(*(player.open() for player in players))
    for player in players:
        player.begin()
    while True:
        await asyncio.sleep(0.5)
        tally.sent = sum(max(0, player.step) for player in players)


SOCKETS: Mapping[str, Attack] = {
    "malformed-seat": malformed_seats,
    "malformed-ticks": malformed_ticks,
    "malformed-staff": malformed_staff,
    "talk": flood_words,
    "keys": flood_keys,
    "models": play_hostile_models,
}
"""The websocket attacks by name."""
