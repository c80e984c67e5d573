"""Logs of experiments: what is kept, that it is whole, and that it can be played again for nothing."""

from __future__ import annotations

import asyncio
import csv
import gzip
import json
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import AsyncMock

import pytest

from kitchen.agents.random_agent import RandomAgent
from kitchen.contract.agent import Decision, Situation
from kitchen.contract.language_model import OverloadedError, Reply, Request, error_codes
from kitchen.contract.world import Command
from kitchen.experiments import log_tables
from kitchen.experiments.episode_rows import EpisodeRow
from kitchen.experiments.experiment_setup import EpisodeJob, episode_jobs
from kitchen.experiments.log_entries import StepEntry, same_request
from kitchen.experiments.log_files import LogError, LogRecorder, PlayedLog, read_log
from kitchen.experiments.play_episodes import EpisodeFailedError, log_head, play_episode
from kitchen.experiments.setup_arguments import read_setup
from kitchen.experiments.verify_replay import (
    NOT_TO_ITS_END,
    OTHER_COMMANDS,
    OTHER_ROW,
    OTHER_STATE,
    OTHER_VERSION,
    replay_log,
)
from kitchen.llm import provider_registry
from kitchen.llm.model_wrappers import ask_and_record
from kitchen.llm.providers.stand_in_model import StandIn
from kitchen.llm.recorded_calls import FAILURE_KINDS, OTHER_PROMPT, RecordedCalls, ReplayedModel
from tests.conftest import AtOnce
from tests.stand_in_server import Script, StandInServer, noop, reply, status

STEPS = 12
GIVEN: dict[str, Any] = dict.fromkeys(("preset", "demo", "no_feedback", "no_hints", "co_player"))
GIVEN |= {"levels": "3", "agents": "2", "alphas": "1.0", "episodes": "1", "seed": "1", "model": "stand-in"}
MESSY = [f"stand_in_{name}" for name in ("errors=0.3", "failures=0.4", "nonsense=0.2")]


def recorded_episode(*settings: str, **given: Any) -> tuple[PlayedLog, EpisodeRow, list[bytes]]:
    """A short episode of the dispatcher with the stand-in: its log, its row, its pieces."""
    setup = read_setup({**GIVEN, "set": ["demonstration=none", *settings], **given})
    pieces: list[bytes] = []
    job = episode_jobs(setup)[0]
    row = play_episode(job, setup.coplayer, setup.settings, steps=STEPS, sink=pieces.append)
    return read_log(b"".join(pieces)), row, pieces


@pytest.fixture(scope="module")
def messy() -> tuple[PlayedLog, EpisodeRow, list[bytes]]:
    """One with all that may happen to a call."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(provider_registry, "RetryPolicy", AtOnce)
        return recorded_episode(*MESSY, "repair=1", "reply=tool")


def test_a_log_holds_every_call_and_command(messy: tuple[PlayedLog, EpisodeRow, list[bytes]]) -> None:
    """Every call whole: each text and tool, parameters, reply, attempts, tokens, cost; every command."""
    log, row, _ = messy
    recorded: list[bytes] = []
    repeated = LogRecorder(log.head, recorded.append)
    for entry in log.entries:
        repeated.add(entry)
    repeated.close()
    assert read_log(b"".join(recorded)).entries == log.entries
    calls = log.calls
    assert len(calls) == row.calls > STEPS
    assert all(call.request.messages[0].role == "system" for call in calls)
    assert {call.request.messages[0].text for call in calls} < set(log.texts.values())
    assert all(call.request.tool and call.request.tool.schema for call in calls)
    assert {call.error for call in calls} > {""}
    assert any(len(call.attempts) > 1 for call in calls)
    assert log.entries[-1].state_hash == row.state_hash
    assert log.hash == row.log


def test_a_text_is_stored_once(messy: tuple[PlayedLog, EpisodeRow, list[bytes]]) -> None:
    log, _, _ = messy
    lines = [json.loads(line) for line in log.lines.splitlines()]
    texts = [line["is"] for line in lines if "text" in line]
    assert len(texts) == len(set(texts))
    rules = log.calls[0].request.messages[0].text
    assert sum(rules in json.dumps(line) or rules in line.get("is", "") for line in lines) == 1


def test_a_replay_matches_its_log(messy: tuple[PlayedLog, EpisodeRow, list[bytes]]) -> None:
    log, row, _ = messy
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(StandIn, "ask", lambda *_: pytest.fail("somebody was asked"))
        found = replay_log(log, row)
    assert (found.steps, found.calls, found.faults) == (STEPS, row.calls, ())


def test_texts_with_halves_of_characters_come_back(monkeypatch: pytest.MonkeyPatch) -> None:
    odd = "goto_agent0_storage0 \ud800 \x00 ü\nnoop_agent1"
    monkeypatch.setattr(StandIn, "ask", AsyncMock(return_value=Reply(odd)))
    log, row, _ = recorded_episode()
    assert {call.reply.text for call in log.calls if call.reply} == {odd}
    assert not replay_log(log, row).faults


def test_an_agent_that_may_decide_otherwise_elsewhere_is_not_asked_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    log, row, _ = recorded_episode(co_player="random", set=None, model=None)
    monkeypatch.setattr(RandomAgent, "decide", None)
    assert replay_log(log, row).faults
    monkeypatch.setattr(RandomAgent, "repeatable", False)
    assert replay_log(log, row).faults == ()


def changed(log: PlayedLog, number: int, **fields: Any) -> PlayedLog:
    """The log with one step written otherwise."""
    entries = [replace(each, **fields) if each.step == number else each for each in log.entries]
    return replace(log, entries=entries)


def lied(call_of: StepEntry) -> dict[str, Any]:
    """Its first call with another system message."""
    call = call_of.calls[0]
    first = replace(call.request.messages[0], text="You are a cook.")
    request = replace(call.request, messages=(first, *call.request.messages[1:]))
    return {"calls": (replace(call, request=request), *call_of.calls[1:])}


def test_a_replay_reports_differences(messy: tuple[PlayedLog, EpisodeRow, list[bytes]]) -> None:
    log, row, _ = messy
    third = log.entries[2]
    for fields, why in (
        ({"commands": {0: ("noop",), 1: ("goto", "storage0")}}, OTHER_COMMANDS),
        ({"state_hash": "0" * 64}, OTHER_STATE),
        (lied(third), OTHER_PROMPT),
    ):
        assert f"step 3: {why}" in replay_log(changed(log, 3, **fields)).faults
    assert replay_log(log, replace(row, completed=row.completed + 1)).faults == (OTHER_ROW,)
    assert replay_log(replace(log, entries=log.entries[:-1]), row).faults == (NOT_TO_ITS_END,)
    assert not replay_log(replace(log, entries=log.entries[:-1])).faults
    other = replace(log.head, world_version=log.head.world_version + 1)
    assert replay_log(replace(log, head=other)).faults == (OTHER_VERSION,)


def test_a_replay_reports_additional_calls_without_asking(
    messy: tuple[PlayedLog, EpisodeRow, list[bytes]],
) -> None:
    log, _, _ = messy
    (fault, *_) = replay_log(changed(log, 1, calls=())).faults
    assert fault == "step 1: another number of calls was made"


def test_a_piece_that_was_not_written_whole_is_left_out(
    messy: tuple[PlayedLog, EpisodeRow, list[bytes]],
) -> None:
    log, _, _ = messy
    half = len(log.lines) // 2
    first, second = (gzip.compress(bytes(part)) for part in _split(log.lines, half))
    torn = read_log(first + second[: len(second) // 2])
    assert 0 < len(torn.entries) < STEPS
    assert torn.size == len(first)
    with pytest.raises(LogError, match="damaged"):
        read_log(first + b"\x00" * 40)


def _split(lines: bytearray, about: int) -> Iterator[bytes]:
    end = lines.index(b"\n", about) + 1
    yield bytes(lines[:end])
    yield bytes(lines[end:])


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        (b'"is":"', b'"is":"?', "is not what was written"),
        (b'"format":1', b'"format":2', "no log of an episode of this format"),
        (b'"step":3,', b'"step":4,', "every step once"),
        (b'"commands":', b'"command":', "no step of a log"),
        (b'"seed":', b'"sad":', "no head of a log"),
        (b'{"step":3,', b'{"a":' * 9_999 + b'{"step":3,', "no log of an episode"),
    ],
)
def test_a_log_that_was_changed_is_refused(
    messy: tuple[PlayedLog, EpisodeRow, list[bytes]], old: bytes, new: bytes, why: str
) -> None:
    with pytest.raises(LogError, match=why):
        read_log(gzip.compress(bytes(messy[0].lines).replace(old, new, 1)))


def test_a_log_of_format_1_can_still_be_read() -> None:
    """It was written when there was no other; what calls are said to be has grown since."""
    log = read_log((Path(__file__).parent / "data" / "format_1.jsonl.gz").read_bytes())
    assert log.hash == "8c1b3db6ac062932ac1d548fa24dfeaf6af66d3fec2187487afe01f24a9f68d0"
    assert [each.step for each in log.entries] == list(range(1, 9))
    assert {call.error for call in log.calls} >= {"", "unreadable"}
    assert max(len(call.attempts) for call in log.calls) > 2
    assert all(call.request.tool for call in log.calls)


def test_free_steps_are_written_together(messy: tuple[PlayedLog, EpisodeRow, list[bytes]]) -> None:
    assert len(messy[2]) == 1


def job() -> EpisodeJob:
    """A short episode's."""
    return episode_jobs(read_setup({**GIVEN, "model": None, "co_player": "random"}))[0]


def test_an_episode_resumes_from_its_log(monkeypatch: pytest.MonkeyPatch) -> None:
    pieces: list[bytes] = []
    asked: list[int] = []
    whole = RandomAgent.decide

    async def breaks(self: RandomAgent, situation: Situation) -> Decision:
        asked.append(situation.step)
        if situation.step == 4 and asked.count(4) == 1:
            raise ZeroDivisionError
        return await whole(self, situation)

    monkeypatch.setattr(RandomAgent, "decide", breaks)
    with pytest.raises(EpisodeFailedError):
        play_episode(job(), "random", {}, steps=STEPS, sink=pieces.append)
    before = read_log(b"".join(pieces))
    row = play_episode(job(), "random", {}, steps=STEPS, sink=pieces.append, before=before)
    assert asked == [0, 1, 2, 3, 4, *range(4, STEPS)]
    assert read_log(b"".join(pieces)).hash == row.log
    monkeypatch.setattr(RandomAgent, "decide", whole)
    assert play_episode(job(), "random", {}, steps=STEPS).state_hash == row.state_hash


def goto(place: str) -> tuple[str, str]:
    return "goto", place


def ahead(
    asked: list[tuple[int, tuple[int, ...] | None]],
) -> Callable[[RandomAgent, Situation], Awaitable[Decision]]:
    """Commands three steps of both agents at once; the second's last cannot be done."""

    async def decide(self: RandomAgent, situation: Situation) -> Decision:
        asked.append((situation.step, situation.request.asked))
        there, here = goto("storage0"), goto("pot0")
        plans: dict[int, list[Command]] = {0: [here, there], 1: [here, ("get", "pot0", "rice")]}
        return Decision(dict.fromkeys(situation.seats, there), plans=plans, memory=len(asked))

    return decide


def test_planned_commands_follow_without_a_decision(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[int, tuple[int, ...] | None]] = []
    pieces: list[bytes] = []
    monkeypatch.setattr(RandomAgent, "decide", ahead(asked))
    row = play_episode(job(), "random", {}, steps=5, sink=pieces.append)
    assert asked == [(0, None), (2, (1,)), (4, (1,))]
    log = read_log(b"".join(pieces))
    assert [entry.asked for entry in log.entries] == [True, False, True, False, True]
    assert log.entries[0].plans == {
        0: (goto("pot0"), goto("storage0")),
        1: (goto("pot0"), ("get", "pot0", "rice")),
    }
    assert log.entries[1].commands == {0: goto("pot0"), 1: goto("pot0")}
    assert list(log.entries[2].commands) == [0, 1]  # what was planned, then what was decided
    broken = [event for event in log.entries[1].events if event.kind == "plan_broken"]
    assert [(event.seat, event.data["left"]) for event in broken] == [(1, [["get", "pot0", "rice"]])]
    assert row.played_by == "random x3"
    assert (
        len(list(csv.reader(b"".join(log_tables.table_pieces("decisions.csv", [log])).decode().splitlines())))
        == 1 + 3
    )
    asked.clear()
    assert replay_log(log, row).faults == () and len(asked) == 3
    half = read_log(b"".join(pieces))
    half.entries[2:] = []
    repeated = play_episode(job(), "random", {}, steps=5, before=half)
    assert repeated.state_hash == row.state_hash


def test_a_log_names_its_version_and_another_version_continues_it() -> None:
    pieces: list[bytes] = []
    play_episode(job(), "random", {}, steps=3, sink=pieces.append, program="98")
    log = read_log(b"".join(pieces))
    begun = replace(log, entries=log.entries[:1])
    now = play_episode(job(), "random", {}, steps=3, before=begun, program="99")
    assert now.state_hash == log.entries[-1].state_hash
    assert replay_log(log, program="99").faults == ()
    other = replace(log, entries=[replace(log.entries[0], commands={0: ("noop",)})])
    faults = replay_log(other, program="99").faults
    assert faults[-1] == "it was begun by Brigade 98; this is 99"


def test_another_episodes_log_is_not_continued(messy: tuple[PlayedLog, EpisodeRow, list[bytes]]) -> None:
    with pytest.raises(LogError, match="is not the log of level_3, 2 agents"):
        play_episode(job(), "random", {}, before=messy[0])
    mine = PlayedLog(log_head(job(), "random", {}), entries=messy[0].entries[:1])
    with pytest.raises(LogError, match="leads elsewhere from step 1 on"):
        play_episode(
            job(), "random", {}, before=replace(mine, entries=[replace(mine.entries[0], state_hash="")])
        )


def test_a_note_that_is_no_json_ends_the_episode(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(RandomAgent, "decide", AsyncMock(return_value=Decision({}, note={"why": object()})))
    with pytest.raises(EpisodeFailedError, match="TypeError"):
        play_episode(job(), "random", {}, steps=STEPS)


def test_the_tables_name_everything(messy: tuple[PlayedLog, EpisodeRow, list[bytes]]) -> None:
    log, row, _ = messy
    found = {
        name: list(csv.DictReader(b"".join(log_tables.table_pieces(name, [log, log])).decode().splitlines()))
        for name in log_tables.TABLES
    }
    assert [each["step"] for each in found["steps.csv"]] == [str(n + 1) for n in range(STEPS)] * 2
    assert found["steps.csv"][STEPS - 1]["state_hash"] == row.state_hash
    assert len(found["decisions.csv"]) == 2 * row.calls
    assert {each["prompt"] for each in found["prompts.csv"]} == set(log.texts)
    assert len(found["prompts.csv"]) == len(log.texts)
    first = found["decisions.csv"][0]
    assert first["prompts"].split()[0] in log.texts
    assert json.loads(first["sampling"])["max_tokens"] == 1024
    assert sum(float(each["cost"]) for each in found["decisions.csv"]) == 0


def test_a_cell_that_a_spreadsheet_would_run_is_made_harmless(
    monkeypatch: pytest.MonkeyPatch, no_waits: None
) -> None:
    async def fails(self: StandIn, request: Request) -> Reply:
        raise OverloadedError("=HYPERLINK(1)")

    monkeypatch.setattr(StandIn, "ask", fails)
    log, _, _ = recorded_episode()
    text = b"".join(log_tables.table_pieces("decisions.csv", [log])).decode()
    assert "'=HYPERLINK(1)" in text and ",=HYPERLINK" not in text


def test_every_kind_of_failure_can_be_replayed() -> None:
    """One that the list does not have would be replayed as another one."""
    assert {*FAILURE_KINDS, "error"} == set(error_codes())


def test_attempts_over_a_real_connection_are_logged_and_replayed(
    monkeypatch: pytest.MonkeyPatch, no_waits: None
) -> None:
    """Through Anthropic's SDK: overloaded, answered, refused, no JSON at all."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-of-nobody")
    script: list[Script] = [status(529), reply("goto_agent0_storage0\nnoop_agent1"), status(400), noop]
    settings = {"model": "anthropic:claude-haiku-4-5", "demonstration": "none", "fallback": "noop"}
    pieces: list[bytes] = []
    with StandInServer(script) as server:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        row = play_episode(job(), "dispatcher", settings, steps=4, sink=pieces.append)
    log = read_log(b"".join(pieces))
    outcomes = [[each.outcome for each in call.attempts] for call in log.calls]
    assert outcomes == [["529", "ok"], ["4xx"], ["ok"], ["ok"]]
    assert b"sk-of-nobody" not in log.lines
    assert len(pieces) >= 3
    found = replay_log(log, row)
    assert (found.calls, found.faults) == (4, ())


def test_a_replayed_call_is_equal(
    messy: tuple[PlayedLog, EpisodeRow, list[bytes]],
) -> None:
    """Whatever is known of it, but for the time that it took now."""
    for call in messy[0].calls:
        door = ReplayedModel(call.provider, RecordedCalls([call], same_request))
        assert replace(asyncio.run(ask_and_record(door, call.request)), seconds=call.seconds) == call
