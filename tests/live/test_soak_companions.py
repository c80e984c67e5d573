"""Companions of a soak play, talk, watch and download, and their errors are counted."""

from __future__ import annotations

import asyncio
import json
import os
import time
from argparse import Namespace
from collections.abc import Callable
from itertools import count
from pathlib import Path
from random import Random
from typing import IO

import pytest

from kitchen.play.live.render_page import PONG_HTML
from tests.live import load, soak_companions
from tests.live.books import Books
from tests.live.company import Company
from tests.live.http_request import Answer
from tests.live.load import Found, companion_text, outcome, parse
from tests.live.mix import Mix
from tests.live.sampling import Sample
from tests.live.soak import companion_sample, companion_totals, errors_in
from tests.live.soak_companions import (
    CONSTANT,
    GAP,
    NO_TICK,
    SHOWN_WITHIN,
    TALKING,
    TICK_WITHIN,
    UPDATES,
    Companions,
    StaffPage,
    Talker,
    episodes_in,
)
from tests.live.stack import Running
from tests.live.ticks import Page

TABLE = b"participant,episode,steps\nA,e1,10\nA,e2,10\nB,e1,10\n"


class RecordingLine:
    """A connection that records what is sent, and calls `lost` at its end."""

    def __init__(self, lost: Callable[[int], None] = print) -> None:
        self.sent: list[bytes] = []
        self.lost = lost

    def say(self, text: bytes) -> bool:
        self.sent.append(text)
        return True

    def hang_up(self) -> None:
        self.lost(1006)


class SilentPage(Page):
    """The page of a game that never has a tick. The server closes its connection if `close_code` is set."""

    close_code = 0
    opened = 0

    async def open(self, url: str, lost: Callable[[int], None], connect_seconds: float | None = None) -> None:
        self.opened += 1
        self.line = RecordingLine(lost)  # type: ignore[assignment]
        if self.close_code:
            lost(self.close_code)


class SlowBooks:
    """The process of books, and both its pipes. It answers each question with the question, after a pause."""

    def __init__(self, readable: IO[str]) -> None:
        self.stdin = self.stdout = self
        self.fileno = readable.fileno
        self.order: list[str] = []
        self.questions: list[str] = []

    def write(self, text: str) -> None:
        if text.strip():
            self.order.append("question")
            self.questions.append(text)

    def readline(self) -> str:
        time.sleep(0.05)
        self.order.append("answer")
        return self.questions.pop(0)

    def flush(self) -> None: ...

    kill = wait = flush


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
    companions.company.guests = 1
    companions.counts.update(dict.fromkeys(CONSTANT, 1))
    assert not companions.report()[1]
    assert set(companions.report()[1]) == {f"no {what} in a minute" for what in CONSTANT}
    companions.company.guests = 0
    assert f"no {UPDATES} in a minute" not in companions.report()[1]


async def test_a_companion_who_fails_is_an_error_and_the_others_go_on(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def ask(question: str, **_: object) -> dict[str, str]:
        if question != "staff_study":
            raise RuntimeError("no episode")
        return {"token": "", "cookie": ""}

    async def go_on(*_: object) -> None:
        await asyncio.Event().wait()

    companions = new_companions()
    monkeypatch.setattr(companions, "ask", ask)
    monkeypatch.setattr(companions, "watch", go_on)
    monkeypatch.setattr(companions, "download", go_on)
    async with companions:
        await asyncio.wait(companions.tasks, timeout=0.05)
        errors = {what: times for what, times in companions.report()[1].items() if "stopped" in what}
        assert errors["game 3 stopped: RuntimeError"] == errors["talk 1 stopped: RuntimeError"] == 1
        assert len(errors) == 6 and not any("stopped" in what for what in companions.report()[1])
        assert sum(not task.done() for task in companions.tasks) == 3
    assert "game 3 stopped" in caplog.text and "no episode" in caplog.text


def test_a_staff_page_counts_updates_and_not_the_answers_to_its_pings() -> None:
    async def hear(*texts: str) -> tuple[float, int]:
        companions = new_companions()
        companions.staff_pages = [page := StaffPage()]
        page.heard_at = 0.0
        for text in texts:
            page.heard(text.encode())
        heard_at = page.heard_at
        return heard_at, round(companions.report()[0][UPDATES] + companions.report()[0][UPDATES])

    assert asyncio.run(hear()) == (0.0, 0)
    heard_at, updates = asyncio.run(hear(PONG_HTML))
    assert heard_at and not updates
    heard_at, updates = asyncio.run(hear('<div id="summary"></div>', PONG_HTML))
    assert heard_at and updates == 1


async def test_ticks_are_counted_once_and_a_lost_tick_is_an_error() -> None:
    companions = new_companions()
    companions.pages[0] = page = Page("key", Random(1))
    page.gaps, page.back = [0.1, 0.3], 2
    values, errors = companions.report()
    assert values["ticks"] == 2 and values[GAP] == 300
    assert errors["game: set back after a tick was shown"] == 1 and NO_TICK not in errors
    page.gaps = [TICK_WITHIN, TICK_WITHIN + 1]
    assert companions.report()[1][NO_TICK] == 1
    assert "ticks" not in {what for what, value in companions.report()[0].items() if value}


async def test_a_game_without_ticks_is_an_error_and_connects_again_without_another(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(soak_companions, "EVERY", 0.001)
    monkeypatch.setattr(soak_companions, "SILENCE", 0.02)
    companions, page = new_companions(), SilentPage("key", Random(1))
    await companions.play_game(page)
    assert companions.errors == {NO_TICK: 1} and not page.gaps


async def test_a_game_that_the_server_closes_after_a_silence_is_an_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(soak_companions, "EVERY", 0.001)
    monkeypatch.setattr(soak_companions, "SILENCE", -1.0)
    companions, page = new_companions(), SilentPage("key", Random(1))
    page.close_code = 1011
    await companions.play_game(page)
    assert +companions.errors == {"game: closed with 1011": 1}


async def test_the_wait_for_the_first_tick_is_no_time_between_ticks() -> None:
    companions, page = new_companions(), SilentPage("key", Random(1))
    page.at = page.clock() - 5
    playing = asyncio.create_task(companions.play_game(page))
    await asyncio.sleep(0)
    page.showed({"type": "tick", "step": 1, "key": 0})
    assert page.line and not page.gaps
    page.over = True
    playing.cancel()


async def test_a_game_waits_before_it_connects_again(monkeypatch: pytest.MonkeyPatch) -> None:
    async def ask(*_: object, **__: object) -> list[list[str]]:
        return [["key"]]

    monkeypatch.setattr(soak_companions, "Page", SilentPage)
    monkeypatch.setattr(soak_companions, "EVERY", 0.001)
    monkeypatch.setattr(SilentPage, "close_code", 1006)
    companions = new_companions()
    monkeypatch.setattr(companions, "ask", ask)
    playing = asyncio.create_task(companions.play_games(0))
    await asyncio.wait([playing], timeout=0.1)
    playing.cancel()
    assert +companions.errors == {"game: closed with 1006": 1}


async def test_a_question_waits_until_the_answer_to_a_cancelled_one_was_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with Path(os.devnull).open() as readable:
        process = SlowBooks(readable)
        monkeypatch.setattr("tests.live.books.start_program", lambda *_: process)
        with Books({}) as books:
            cancelled = asyncio.create_task(asyncio.to_thread(books.ask, "cancelled"))
            while not process.order:
                await asyncio.sleep(0.01)
            cancelled.cancel()
            assert await asyncio.to_thread(books.ask, "next") == ["next", {}]
    assert process.order == ["question", "answer", "question", "answer"]


async def test_a_message_is_awaited_until_the_teammate_shows_it() -> None:
    (person, mate), numbers = two_talkers(), count(7)
    assert person.write_to(mate, numbers) and not person.write_to(mate, numbers)
    assert not mate.check_message() and mate.expected
    mate.heard(b'{"type": "talk", "text": "Message 7: please bring me the next one."}')
    assert not mate.expected and not mate.check_message()
    person.next_say = 0.0
    assert person.write_to(mate, numbers) and mate.expected.startswith(b"Message 8:")
    mate.expected_at -= SHOWN_WITHIN + 1
    assert mate.check_message() and not mate.check_message()


async def test_nobody_waits_for_a_message_after_the_end_of_an_episode() -> None:
    person, mate = two_talkers()
    person.write_to(mate, count(1))
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
        companion_sample({"ticks": 10.0, GAP: 200.0}, {}),
        companion_sample({"ticks": 5.0, GAP: 150.0}, {"game: closed with 1006": 2}),
    ]
    assert companion_totals(samples) == {"ticks": 15, GAP: 200}
    assert companion_text(samples) == f"{GAP} 200 ms, 15 ticks"
    assert errors_in(samples) == {"game: closed with 1006": 2}
    flat = [{"minutes": m, "steps": 1e3 * m, "database": m} for m in range(60)]
    assert (
        outcome(Found({}, samples=[one | companion_sample({"ticks": 9.0}, {}) for one in flat]))
        == "all is well"
    )
    assert outcome(Found({}, samples=[one | samples[1] for one in flat])) == "NOT all is well"


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_a_soak_that_ends_early_still_has_its_verdicts(
    error: type[BaseException],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    async def find(stack: Running, books: Books, asked: Namespace, found: Found) -> None:
        found.samples += [{"minutes": m, "steps": 1e3 * m, "database": m} for m in range(3)]
        raise error

    monkeypatch.setattr(load, "find", find)
    asked = parse(["--soak", "60", "--json", str(tmp_path / "soak.json")])
    with pytest.raises(error):
        load.measure_and_tell(Running("http://127.0.0.1", 0, {}, ""), Books({}), asked)
    printed = capsys.readouterr().out
    assert "| database" in printed and f"NOT all is well: ended early by {error.__name__}" in printed
    assert len(json.loads((tmp_path / "soak.json").read_text())["soak"]) == 3


async def test_each_sample_of_a_soak_is_kept_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    async def soaked(
        company: object, people: int, minutes: float, report: Callable[[Sample], None], file: None
    ) -> None:
        report({"minutes": 1.0, "steps a second": 5.0, "p99": 9.0})
        raise RuntimeError

    monkeypatch.setattr(load, "soaked", soaked)
    found = Found({})
    with pytest.raises(RuntimeError):
        await load.soak(new_companions().company, 5, parse(["--soak", "60"]), found)
    assert [sample["minutes"] for sample in found.samples] == [1.0]
