"""`make load` finds the knee, counts what is no answer, and tells what grows from what is flat."""

from __future__ import annotations

import asyncio
import json
import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.live import stack as measuring
from tests.live.books import Books
from tests.live.climb import Terms, next_number
from tests.live.company import Company, Stretch, wrong
from tests.live.crowd import Played
from tests.live.load import Found, outcome, parse
from tests.live.mix import Mix, mix_named
from tests.live.printing import bytes_a_step, stretch_table, verdict_table
from tests.live.regular import Regular, said
from tests.live.sampling import Sampler
from tests.live.soak import verdicts
from tests.live.stack import Running, what_is
from tests.live.verdicts import explained, judged
from tests.servers import Stack

TERMS = Terms(seconds=20, bound=250, start=100, most=3000)
MINUTES = [float(minute) for minute in range(60)]
JITTER = [0.3 * (-1) ** minute for minute in range(60)]
ASK = (
    "import json; from tests.live.books import ANSWERS; print(json.dumps(ANSWERS['{}'](**json.loads('{}'))))"
)


class StackBooks(Books):
    """The books of a stack that tests share."""

    def __init__(self, stack: Stack) -> None:
        self.stack = stack

    def ask(self, question: str, **arguments: Any) -> Any:
        source = ASK.format(question, json.dumps(arguments))
        return json.loads(self.stack.manage("shell", "-v", "0", "-c", source))


@pytest.mark.nightly
async def test_everybody_of_a_mix_plays_and_is_counted(
    live_stack: Stack, monkeypatch: pytest.MonkeyPatch
) -> None:
    webs = [
        web.process.pid for web in live_stack.webs if web.process
    ]  # forked: their command lines do not tell
    monkeypatch.setattr(measuring, "what_is", lambda pid: "web" if pid in webs else what_is(pid))
    running = Running(live_stack.url, os.getpid(), live_stack.environment, "the stack of all tests")
    mix = Mix({"alone": 1, "random": 1}, html=50, timed=50, whole=25)
    async with Company(running, StackBooks(live_stack), mix, every=0.1) as company:
        await company.become(4)
        stretch = await company.measure(warm=0.2, seconds=0.8)
        sampler = Sampler(running)
        sample, tables = sampler.take(), sampler.tables()
        log = company.log.folder / "worker.log"
        with log.open("a") as lines:
            print("ERROR that a test has written", file=lines)
        assert (
            list(company.log.failures()) == ["ERROR that a test has written"] and not company.log.failures()
        )
    assert (stretch.people, stretch.guests, stretch.errors) == (4, 1, Counter())
    assert stretch.played.times and stretch.told["answers"]
    assert "| 4      |" in stretch_table([stretch])
    assert {"steps", "web 1: RSS", "web 2: threads", "broker: memory", "logs"} <= {
        name for name, value in sample.items() if value > 0
    }
    assert f"kitchen_step {tables['kitchen_step']:,}" in bytes_a_step({"x": 1.0, **tables})


def stretch(**told: Any) -> Stretch:
    return Stretch(100, 10, 3.0, Played(10.0, (5.0,) * 300), **told)


def test_what_is_no_answer_is_an_error() -> None:
    assert not stretch(told={"answers": {"200": 5, "302": 2}}).errors
    bad = stretch(
        troubles=Counter({"closed with 1011": 2}),
        told={"answers": {"200": 5, "500": 1, "ReadTimeout": 1}, "failed": ["why"]},
        logged=Counter({"ERROR": 3}),
    )
    assert bad.errors.total() == 8
    assert not Found({}, stretches=[bad]).good
    assert Found({}, stretches=[stretch()]).good
    assert [wrong(status) for status in ("200", "429", "ConnectError")] == [False, True, True]


def test_so_many_are_served_well_if_all_steps_are_played_in_time_and_nothing_fails() -> None:
    assert TERMS.held(stretch())
    late = stretch(troubles=Counter({"Too late: the step is over. Your robot waited in it.": 1}))
    assert not late.errors and not TERMS.held(late)
    assert not TERMS.held(stretch(logged=Counter({"ERROR": 1})))
    assert not TERMS.held(Stretch(100, 10, 3.0, Played(10.0, (5.0,) * 250)))
    assert not TERMS.held(Stretch(100, 10, 3.0, Played(10.0, (300.0,) * 300)))


@pytest.mark.parametrize(("knee", "most"), [(730, 3000), (3000, 3000), (99, 3000), (5, 3000), (1, 3000)])
def test_the_knee_is_found_wherever_it_is(knee: int, most: int) -> None:
    tried = list(numbers(knee))
    found = max((people for people in tried if people <= knee), default=0)
    assert knee / 1.25 <= found <= knee and len(tried) < 14 and max(tried) <= most


def numbers(knee: int) -> Iterator[int]:
    """What is tried where so many are the highest number that is served well."""
    held = failed = 0
    while people := next_number(held, failed, TERMS):
        yield people
        held, failed = (people, failed) if people <= knee else (held, people)


def test_the_first_few_are_mixed_as_all_are() -> None:
    mix = Mix(mix_named("alone=2, planner=1,dispatcher=1"), html=50, timed=25)
    seats = [mix.seat(number) for number in range(40)]
    tables = Counter(table for table, _, _ in seats)
    assert all(abs(tables[name] - 10 * weight) <= 3 for name, weight in mix.tables.items())
    assert (
        abs(sum(html for _, html, _ in seats) - 20) <= 2 and abs(sum(timed for *_, timed in seats) - 10) <= 2
    )
    assert mix.guests(60) == 6


@pytest.mark.parametrize(
    "arguments",
    [
        ["--people", "0"],
        ["--people", "10,x"],
        ["--people", "1,2", "--soak", "5"],
        ["--mix", "nobody=1"],
        ["--mix", "alone=0"],
        ["--mix", "alone=x"],
        ["--html", "101"],
        ["--seconds", "-1"],
        ["--database", "oracle"],
        ["--json", "/no/such/folder/file"],
        ["--nonsense"],
    ],
)
def test_bad_arguments_are_told_in_one_line(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        parse(arguments)
    said_there = capsys.readouterr().err
    command = "make soak" if "--soak" in arguments else "make load"
    assert ended.value.code == 2 and said_there.startswith(f"{command}: ") and said_there.count("\n") == 1


def test_a_notice_is_read_as_the_page_shows_it() -> None:
    assert said(b'<div id="notice" class="x">  <p>You&#x27;re late.</p></div>') == "You're late."
    assert said(b'{"type": "notice", "text": "No."}') == "No."


def test_memory_that_stays_is_flat_and_memory_that_leaks_grows() -> None:
    flat = judged("web", "MB", MINUTES, [150 + jitter for jitter in JITTER], 6.0)
    leak = [150 + 0.2 * minute + jitter for minute, jitter in zip(MINUTES, JITTER, strict=True)]
    grows = judged("web", "MB", MINUTES, leak, 6.0)
    assert (flat.word, grows.word) == ("flat", "grows")
    assert grows.slope and grows.slope.value == pytest.approx(12, abs=1)
    assert judged("web", "MB", MINUTES, leak[::-1], 6.0).word == "falls"
    assert judged("web", "MB", MINUTES[:3], leak[:3], 6.0).word == "unclear"
    assert judged("web", "MB", MINUTES[:6], [0, 9, 0, 9, 0, 9], 6.0).word == "unclear"


def test_a_database_that_grows_with_the_log_is_explained() -> None:
    steps = [1000 * minute for minute in MINUTES]
    even, more = ([2000.0 * step for step in steps], [step * step / 20 for step in steps])
    kinds = [
        explained("db", "bytes", MINUTES, sizes, steps, cause="step", most=4096) for sizes in (even, more)
    ]
    assert [kind.word for kind in kinds] == ["explained", "grows"]
    dear = explained(
        "db", "bytes", MINUTES, [5000.0 * step for step in steps], steps, cause="step", most=4096
    )
    still = explained("db", "bytes", MINUTES, even, [7.0] * 60, cause="step", most=4096)
    assert (dear.word, still.word) == ("grows", "stalled")


def test_a_soak_is_judged_line_by_line_once_it_is_warm() -> None:
    warming = [60.0 if minute < 12 else 100.0 for minute in MINUTES]
    samples = [
        {"minutes": m, "steps": 1e3 * m, "database": m, "web 1: RSS": rss, "web 1: threads": m, "p99": m}
        | {"web 1: open sockets": m, "web 2: open sockets": 60 - m}
        for m, rss in zip(MINUTES, warming, strict=True)
    ]
    words = {verdict.what: verdict.word for verdict in verdicts(samples)}
    flat = {"web 1: RSS": "flat", "web, all: open sockets": "flat"}
    assert words == {"database": "explained", "web 1: threads": "grows"} | flat
    assert "| grows " in verdict_table(verdicts(samples))
    assert not Found({}, samples=samples).good


def test_a_soak_is_well_where_nothing_grows_nothing_is_open_and_nothing_went_wrong() -> None:
    flat = [{"minutes": m, "web 1: RSS": 100.0} for m in MINUTES]
    samples = [{**sample, "steps": 1e3 * m, "database": m} for m, sample in zip(MINUTES, flat, strict=True)]
    wrong_once = [*samples[:-1], {**samples[-1], "error, closed with 1011": 2.0}]
    assert outcome(Found({}, samples=samples)) == "all is well"
    assert outcome(Found({}, samples=samples[:5])).startswith("nothing grows, but 2 lines are unclear")
    assert outcome(Found({}, samples=wrong_once)) == "NOT all is well"


def soak_of(process: str = "worker 1") -> list[dict[str, float]]:
    """One in which all is well."""
    return [{"minutes": m, "steps": 1e3 * m, "database": m, f"{process}: RSS": 100.0} for m in MINUTES]


@pytest.mark.parametrize("at", [1, 5, 30, 59])
def test_a_process_that_was_started_anew_in_a_soak_is_named(at: int) -> None:
    found = Found({}, samples=[*soak_of()[:at], *soak_of("worker 2")[at:]])
    bad = {verdict.what: verdict.why for verdict in found.verdicts if verdict.word == "restarted"}
    assert bad == {"worker 1": "it went", "worker 2": "it came"}
    assert outcome(found) == "NOT all is well" and "| restarted " in verdict_table(found.verdicts)


def test_a_process_that_came_and_went_in_a_soak_is_named() -> None:
    samples = soak_of()
    samples[30] |= {"web 3: RSS": 80.0, "helper 7: RSS": 8.0}
    found = Found({}, samples=samples)
    assert not found.good
    assert [verdict.what for verdict in found.verdicts if verdict.word == "restarted"] == ["web 3"]


@pytest.mark.parametrize("since", [0, 20, 58])
def test_a_soak_in_which_nobody_plays_any_more_is_not_well(since: int) -> None:
    samples = [{**sample, "steps": min(sample["steps"], 1e3 * since)} for sample in soak_of()]
    found = Found({}, samples=samples)
    assert outcome(found) == "NOT all is well" and "| stalled " in verdict_table(found.verdicts)


def test_a_planner_may_come_late_and_not_go() -> None:
    rss = "planner 1: RSS"
    samples = soak_of()
    comes, goes = ([*samples[:30], *({**one, rss: 9.0} for one in samples[30:])], soak_of())
    goes = [*({**one, rss: 9.0} for one in goes[:30]), *goes[30:]]
    assert Found({}, samples=comes).good and not Found({}, samples=goes).good


async def test_where_no_tables_can_be_laid_nothing_is_measured(tmp_path: Path) -> None:
    stack = Running("", os.getpid(), {"BRIGADE_VAR": str(tmp_path)}, "")
    company = Company(stack, Books({}), Mix({"alone": 1}), every=1)
    company.going = asyncio.create_task(company.tables.seat([Regular("", 0, company.mix, every=1)]))
    await asyncio.wait([company.going])
    with pytest.raises(AttributeError, match="_process"):  # books that are not open
        await company.measure(warm=0, seconds=1)
