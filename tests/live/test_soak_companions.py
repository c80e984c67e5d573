"""Companions of a soak play, talk, watch and download, and their errors are counted."""

from __future__ import annotations

import asyncio
from random import Random

import pytest

from tests.live.books import Books
from tests.live.company import Company
from tests.live.http_request import Answer
from tests.live.load import Found, outcome, told_beside
from tests.live.mix import Mix
from tests.live.soak import beside, errors_in, totals_beside
from tests.live.soak_companions import (
    CONSTANT,
    GAP,
    SHOWN_WITHIN,
    SILENCE,
    TALKING,
    Companions,
    Talker,
    episodes_in,
)
from tests.live.stack import Running
from tests.live.ticks import Page

TABLE = b"participant,episode,steps\nA,e1,10\nA,e2,10\nB,e1,10\n"


class RecordingLine:
    """A connection that records what is sent."""

    def __init__(self) -> None:
        self.sent: list[bytes] = []

    def say(self, text: bytes) -> bool:
        self.sent.append(text)
        return True


class AnsweringClient:
    """A client who gets prepared responses, and counts the requests."""

    def __init__(self, *answers: int | Exception) -> None:
        self.answers, self.asked = list(answers), 0

    def get(self, path: str) -> Answer:
        self.asked += 1
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return Answer(answer, {}, TABLE)


async def fetched(companions: Companions, client: AnsweringClient) -> Answer | None:
    """Let the companions download something from this client."""
    return await companions.fetch(client, "/x", "x")  # type: ignore[arg-type]


def new_companions() -> Companions:
    stack = Running("http://127.0.0.1", 0, {"BRIGADE_VAR": "/nowhere"}, "")
    return Companions(Company(stack, Books({}), Mix({"alone": 1}), every=3))


def two_talkers() -> list[Talker]:
    people = [Talker("http://127.0.0.1", number, TALKING, every=3) for number in (0, 1)]
    for person in people:
        person.keys, person.phase = ["key"], "choose"
        person.line = RecordingLine()  # type: ignore[assignment]
    return people


async def test_a_minute_in_which_a_kind_of_companion_does_nothing_is_an_error() -> None:
    companions = new_companions()
    companions.counts.update(dict.fromkeys(CONSTANT, 1))
    assert not companions.report()[1]
    assert set(companions.report()[1]) == {f"no {what} in a minute" for what in CONSTANT}


async def test_a_companion_who_fails_ends_the_soak() -> None:
    companions = new_companions()

    async def fail() -> None:
        raise RuntimeError("no episode")

    companions.tasks = [asyncio.create_task(fail())]
    await asyncio.wait(companions.tasks)
    with pytest.raises(RuntimeError, match="no episode"):
        companions.report()


async def test_ticks_are_counted_once_and_a_lost_tick_is_an_error() -> None:
    companions = new_companions()
    companions.pages[0] = page = Page("key", Random(1))
    page.gaps, page.back = [0.1, 0.3], 2
    values, errors = companions.report()
    assert values["ticks"] == 2 and values[GAP] == 300
    assert errors["game: set back after a tick was shown"] == 1
    assert "ticks" not in {what for what, value in companions.report()[0].items() if value}


async def test_a_game_may_close_its_connection_only_at_its_end() -> None:
    companions = new_companions()
    page, lost = Page("key", Random(1)), asyncio.Event()
    page.at = page.clock()
    companions.closed(lost, "game", page, 1006)
    assert lost.is_set() and companions.errors == {"game: closed with 1006": 1}
    page.over = True
    companions.closed(lost, "game", page, 1000)
    page.over, page.at = False, page.clock() - SILENCE - 1
    companions.closed(lost, "game", page, 1006)  # it hung up itself
    companions.closed(lost, "staff page", None, 4403)
    assert companions.errors == {"game: closed with 1006": 1, "staff page: closed with 4403": 1}


async def test_a_message_is_awaited_until_the_teammate_shows_it() -> None:
    person, mate = two_talkers()
    assert person.write_to(mate, 7) and not person.write_to(mate, 8)
    assert not mate.check_message() and mate.expected
    mate.heard(b'{"type": "talk", "text": "Message 7: please bring me the next one."}')
    assert not mate.expected and not mate.check_message()
    person.next_say = 0.0
    assert person.write_to(mate, 9)
    mate.expected_at -= SHOWN_WITHIN + 1
    assert mate.check_message() and not mate.check_message()


async def test_nobody_waits_for_a_message_after_the_end_of_an_episode() -> None:
    person, mate = two_talkers()
    person.write_to(mate, 1)
    mate.expected_at -= SHOWN_WITHIN + 1
    mate.keys = []
    assert not mate.check_message() and not mate.expected


async def test_a_download_is_repeated_only_while_it_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.live.soak_companions.PAUSE", 0)
    companions, slow, busy = new_companions(), AnsweringClient(202, 200), AnsweringClient(503, 200)
    assert await fetched(companions, slow) == Answer(200, {}, TABLE) and slow.asked == 2
    assert await fetched(companions, busy) is None and busy.asked == 1
    assert await fetched(companions, AnsweringClient(ConnectionError())) is None
    assert companions.counts["downloads of x"] == 1
    assert companions.errors == {"download of x: 503": 1, "download of x: ConnectionError": 1}


def test_the_episodes_of_a_table_are_those_to_replay() -> None:
    assert episodes_in(TABLE) == ["e1", "e2"]


def test_the_report_adds_counts_and_keeps_the_longest_time() -> None:
    samples = [
        beside({"ticks": 10.0, GAP: 200.0}, {}),
        beside({"ticks": 5.0, GAP: 150.0}, {"game: closed with 1006": 2}),
    ]
    assert totals_beside(samples) == {"ticks": 15, GAP: 200}
    assert told_beside(samples) == f"{GAP} 200 ms, 15 ticks"
    assert errors_in(samples) == {"game: closed with 1006": 2}
    flat = [{"minutes": m, "steps": 1e3 * m, "database": m} for m in range(60)]
    assert outcome(Found({}, samples=[one | beside({"ticks": 9.0}, {}) for one in flat])) == "all is well"
    assert outcome(Found({}, samples=[one | samples[1] for one in flat])) == "NOT all is well"
