"""The agent that talks with one partner: what it is told, what it says and begins, when it stops."""

from __future__ import annotations

import asyncio
import json
import warnings
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest

from kitchen.agents.agent_team import Team
from kitchen.agents.episode_loop import EpisodeLoop
from kitchen.agents.make_situation import make_situation
from kitchen.agents.pairwise.spoken_reply import REPLY_TOOL, SpokenReply, read_spoken_reply
from kitchen.contract.agent import Agent, Decision, Situation
from kitchen.contract.decision_notes import reading_from_note
from kitchen.contract.language_model import OverloadedError, Reply
from kitchen.contract.line_up import line_up_members
from kitchen.contract.organisation import Organisation, make_organisation
from kitchen.contract.team_messages import MessageDraft, TeamMessage
from kitchen.contract.world import World
from kitchen.registry.agent_registry import make_agent
from kitchen.registry.world_registry import get_world
from tests.kitchen.agents.proagent.thinking import MODEL, script
from tests.kitchen.changed_facts import changed

KIND = "pairwise"


def start(world: str, seats: int, seed: int = 5) -> World:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        game = get_world(world).create(seats=seats, settings={})
    game.reset(seed)
    return game


def organised(seats: int, **settings: Any) -> Organisation:
    line_up = "+".join([KIND] * seats)
    chosen = {"schedule": "free", "think_steps": 2, **settings}
    return make_organisation("pairwise", line_up_members(line_up, seats), seats=seats, settings=chosen)


def told(
    *messages: tuple[int, str], world: str = "overcooked", memory: Any = None, busy: bool = False
) -> Situation:
    """The situation of seat 1 of two, after these messages from members 0 and 1."""
    said = [
        TeamMessage(number, 1, sender, (1 - sender,), "say", text)
        for number, (sender, text) in enumerate(messages, 1)
    ]
    seen = make_situation(start(world, 2), (1,), memory=memory, seed=3)
    asked = {"asked": ()} if busy else {}
    return changed(seen, organisation=organised(2), member=1, messages=tuple(said), **asked)


def decide(situation: Situation, **settings: Any) -> Decision:
    return asyncio.run(make_agent(KIND, {"model": MODEL, **settings}).decide(situation))


def answer(say: str = "", command: str = "", to: str = "", kind: str = "say") -> str:
    return SpokenReply(say, to, kind, command).written()


def silent_of(decision: Decision) -> int:
    memory: Any = decision.memory
    count: int = memory["1"]["talk"]["silent"]
    return count


def note_of(decision: Decision) -> Any:
    note: Any = decision.note
    return note["seats"]["1"]


def test_it_is_told_the_scene_what_it_has_the_conversation_and_its_commands(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    model = script(monkeypatch, answer("I fetch an onion.", "pickup(onion)"))
    made = decide(told((0, "Fetch an onion."), (1, "Yes."), (0, "Now!")))
    fixed, now = (message.text for message in model.requests[0].messages)
    assert "You are Player 1" in fixed and "You talk with one player at a time." in fixed
    assert model.requests[0].tool == REPLY_TOOL and '{"say"' in fixed
    assert "# You have\nnothing" in now and "Player 0 holds nothing." in now
    assert "- Player 0 to you: Fetch an onion.\n- You to Player 0: Yes.\n- Player 0 to you: Now!" in now
    assert "You talk with Player 0." in now and "You can begin: pickup(onion)" in now
    assert made.says == (MessageDraft("I fetch an onion."),)
    assert made.commands and made.played_by == KIND and made.planned
    assert note_of(made)["began"] == "pickup(onion)"
    assert [call.reply.text for call in made.calls if call.reply] == [
        answer("I fetch an onion.", "pickup(onion)")
    ]


def test_it_goes_on_with_a_command_until_it_is_done_or_it_is_asked_something(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    model = script(monkeypatch, answer(command="pickup(onion)"), answer("One onion.", to="Player 0"))
    first = decide(told())
    going = decide(told((0, "I wait."), memory=first.memory))
    assert len(model.requests) == 1 and going.commands and not going.planned
    asked = decide(told((0, "I wait."), (0, "What do you fetch?"), memory=going.memory))
    assert (
        len(model.requests) == 2
        and "I wait." in model.said()
        and "You are doing pickup(onion)" in model.said()
    )
    assert asked.says == (MessageDraft("One onion.", to=(0,)),)
    assert asked.commands == going.commands, "words alone do not interrupt the command"
    assert silent_of(asked) == 0


@pytest.mark.parametrize(
    ("text", "reply", "answers"),
    [
        ("I wait.", "Respond.", True),
        ("I wait.", "ignore", False),
        ("What do you fetch?", "Ignore", False),
        ("What do you fetch?", "respond or ignore?", True),
        ("I wait.", "Perhaps.", False),
    ],
)
def test_a_model_may_decide_whether_a_message_interrupts_a_command(
    text: str, reply: str, answers: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = script(monkeypatch, answer(command="pickup(onion)"), reply, answer("One onion."), "respond")
    first = decide(told(), busy_answers="model")
    going = decide(told((0, text), memory=first.memory), busy_answers="model")
    request = model.requests[1]
    assert request.tool is None and "You are doing pickup(onion)" in request.messages[-1].text
    assert f"- Player 0 to you: {text}" in request.messages[-1].text
    assert bool(going.says) == going.planned == answers
    assert len(going.calls) == 1 + answers, "the small call is paid and logged"
    word = {"Respond.": "respond", "ignore": "ignore", "Ignore": "ignore"}.get(reply)
    assert note_of(going).get("busy_answer") == word
    if not answers:
        number = len(model.requests)
        later = decide(told((0, text), memory=going.memory), busy_answers="model")
        assert len(model.requests) == number and later.commands, "it decides once for each message"
        decide(told((0, text), (0, "Hello"), memory=later.memory), busy_answers="model")
        assert "- Player 0 to you: Hello" in model.requests[number].messages[-1].text


@pytest.mark.parametrize(("text", "answers"), [("I wait.", False), ("What do you fetch?", True)])
def test_the_stand_in_decides_by_the_rule_whether_a_message_interrupts(text: str, answers: bool) -> None:
    settings = {"busy_answers": "model", "model": "stand-in"}
    first = decide(told(), **settings)
    assert note_of(first)["doing"]
    going = decide(told((0, text), memory=first.memory), **settings)
    assert bool(going.says) == answers and len(going.calls) == 1 + answers
    assert note_of(going)["busy_answer"] == ("respond" if answers else "ignore")


def test_text_mode_asks_for_lines_and_sends_no_tool(monkeypatch: pytest.MonkeyPatch) -> None:
    model = script(monkeypatch, "Ask to Player 0: What do you have?\nCommand: wait(2)")
    made = decide(told(), structured=False)
    assert model.requests[0].tool is None and "Say to NAME: words" in model.requests[0].messages[0].text
    assert made.says == (MessageDraft("What do you have?", "ask", (0,)),)
    assert note_of(made)["began"] == "wait(2)"


def test_more_than_fifteen_messages_are_summed_up_the_oldest_five_or_more_at_a_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    model = script(monkeypatch, "s" * 600, answer("Fine."))
    talk = [(number % 2, f"Message {number}.") for number in range(1, 17)]
    made = decide(told(*talk))
    request, now = (one.messages[-1].text for one in model.requests)
    assert "Message 5." in request and "Message 6." not in request and model.requests[0].tool is None
    assert "Earlier: " + "s" * 500 + "\n" in now
    assert "Message 5." not in now and "Message 6." in now and "Message 16." in now
    assert len(made.calls) == 2
    model = script(monkeypatch, "Short.", answer("Fine."))
    again = decide(told(*talk, *[(0, f"Then {number}.") for number in range(12)], memory=made.memory))
    request, now = (one.messages[-1].text for one in model.requests)
    assert "Earlier: sss" in request and "Message 13." in request and "Message 14." not in request
    assert "Earlier: Short." in now and now.count("Message") == 3 and len(again.calls) == 2


def test_a_summary_that_fails_is_tried_again_and_loses_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    model = script(monkeypatch, OverloadedError("busy"), OverloadedError("busy"), OverloadedError("busy"))
    made = decide(told(*[(0, f"Message {number}.") for number in range(1, 17)]))
    assert made.fallback == "529" and note_of(made)["summarised"] == 0
    assert "Message 1." in model.said()


def test_it_stops_after_three_answers_without_a_command_until_a_message_comes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    model = script(monkeypatch, answer("I wait."))
    memory: Any = None
    counts: list[int] = []
    for _ in range(5):
        made = decide(told(memory=memory))
        memory, counts = made.memory, [*counts, len(model.requests)]
    assert counts == [1, 2, 3, 3, 3] and not made.planned and not made.commands
    model = script(monkeypatch, answer("Yes."), answer(command="pickup(onion)"))
    made = decide(told((0, "Go on."), memory=memory))
    assert silent_of(made) == 1, "the message begins the count again"
    assert silent_of(decide(told((0, "Go on."), memory=made.memory))) == 0
    script(monkeypatch, answer("Yes.", "pickup(onion)"))
    busy = decide(told((0, "Well?"), busy=True))
    assert busy.says and silent_of(busy) == 0 and not busy.commands, "a busy seat cannot begin anything"


@pytest.mark.parametrize(
    ("bad", "why"),
    [
        ("I am sorry.", "neither words nor a command"),
        (answer("Soup!", "cook(soup)"), "`cook(soup)` is not one of the commands"),
        (answer("Soup!", "deliver_soup()"), "Player 1"),
    ],
)
def test_an_answer_that_cannot_be_used_is_explained_once(
    bad: str, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = script(monkeypatch, bad, answer("Sorry.", "pickup(onion)"))
    made = decide(told())
    assert why in model.said() and made.says == (MessageDraft("Sorry."),)
    reading = reading_from_note(made.note, 1)
    assert made.fallback == "" and reading and reading.how == "whole"
    script(monkeypatch, bad)
    made = decide(told())
    reading = reading_from_note(made.note, 1)
    assert len(made.calls) == 2 and reading and (reading.unread or reading.invalid)
    if bad == "I am sorry.":
        assert made.fallback == "unreadable" and made.played_by == "stand-in" and made.commands
        assert not decide(told(), fallback="none").commands
    else:
        assert made.fallback == "" and made.says == (MessageDraft("Soup!"),) and not made.commands


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("Say to Player 2: I go.\nCommand: wait(1)", SpokenReply("I go.", "Player 2", "say", "wait(1)")),
        ("**Request to agent1:** rice", SpokenReply("rice", "agent1", "request")),
        ("End: Thanks.", SpokenReply("Thanks.", "", "end")),
        ("command: none\nSay: nothing", SpokenReply()),
        ('Here: {"say": "Hi", "kind": "shout", "command": null}', SpokenReply("Hi")),
        ("Let us cook.", None),
        ("", None),
        ("{}", None),
    ],
)
def test_answers_are_read(text: str, read: SpokenReply | None) -> None:
    assert read_spoken_reply(Reply(text)) == read
    assert read_spoken_reply(Reply("", {"say": "", "to": "", "kind": "end", "command": ""})) == SpokenReply(
        kind="end"
    )


def play(
    agents: Sequence[Agent],
    world: str = "cuisine",
    steps: int = 40,
    loop: EpisodeLoop | None = None,
    **settings: Any,
) -> EpisodeLoop:
    """An episode of agents alone. `loop` is one that goes on, with agents that remember nothing."""
    if loop is None:
        line_up = "+".join(agent.kind for agent in agents)
        made = organised(len(agents), **settings)
        loop = EpisodeLoop(start(world, len(agents)), 5, Team.of(line_up, len(agents), made))
    while not loop.is_over and loop.game.clock < steps:
        loop.take(loop.step_of(asyncio.run(loop.ask(dict(enumerate(agents))))))
    return loop


def minds(count: int) -> list[Agent]:
    return [make_agent(KIND, {"model": "stand-in"}) for _ in range(count)]


def kinds_of(loop: EpisodeLoop) -> Mapping[str, int]:
    return Counter(said.kind for said in loop.log().messages)


@pytest.mark.parametrize("world", ["cuisine", "overcooked", "collab_overcooked", "blocks_cooking"])
def test_the_stand_in_asks_what_others_have_answers_and_acts_in_every_world(world: str) -> None:
    loop = play(minds(2), world, steps=24)
    kinds = kinds_of(loop)
    assert kinds["ask"] and kinds["answer"] and kinds["end"]
    assert any(said.text.startswith("I have: ") for said in loop.log().messages)
    assert {"stand-in"} <= {each.chosen_by for step in loop.log().steps for each in step.commands}


def test_the_stand_in_requests_and_accepts() -> None:
    texts = [said.text for said in play(minds(3)).log().messages]
    request = next(text for text in texts if text.startswith("Please begin: "))
    assert f"Yes, I begin {request.removeprefix('Please begin: ')}." in texts


def test_the_same_run_comes_out_again_and_from_the_middle() -> None:
    whole, again = play(minds(3)), play(minds(3))
    assert logged(again) == logged(whole)
    half = play(minds(3), steps=17)
    half.memories = json.loads(json.dumps(half.memories), object_hook=_with_numbers)
    assert logged(play(minds(3), loop=half)) == logged(whole)


def logged(loop: EpisodeLoop) -> list[Any]:
    """Everything in the log but times, and the hash of the last state."""
    log = loop.log()
    decisions = [(one.step, one.member, one.played_by, one.note) for one in log.decisions]
    return [log.steps, log.messages, decisions, loop.game.state_hash()]


def _with_numbers(stored: dict[str, Any]) -> dict[Any, Any]:
    """The memories by member again, after JSON; those of seats keep their text keys."""
    is_by_member = stored and all(key.isdigit() and isinstance(each, dict) for key, each in stored.items())
    inner = is_by_member and all(key.isdigit() for each in stored.values() for key in each)
    return {int(key): each for key, each in stored.items()} if inner else stored


class Speaker(Agent):
    """Writes one message in its step, and keeps nothing."""

    kind = "speaker"

    def __init__(self, to: int, step: int, text: str) -> None:
        super().__init__({})
        self.says: Callable[[int], tuple[MessageDraft, ...]] = lambda now: (
            (MessageDraft(text, to=(to,)),) if now == step else ()
        )

    async def decide(self, situation: Situation) -> Decision:
        return Decision({}, says=self.says(situation.step + 1), planned=False)


def test_a_third_member_is_told_that_a_talks_and_nothing_of_it_reaches_as_prompt() -> None:
    """Case 4 of the rights: A and B talk, C writes to A."""
    prompts: list[str] = []

    class Heard(type(make_agent(KIND, {}))):  # type: ignore[misc]
        async def decide(self, situation: Situation) -> Decision:
            made: Decision = await super().decide(situation)
            prompts.extend(message.text for call in made.calls for message in call.request.messages)
            return made

    a, b = Heard({"model": "stand-in"}), Speaker(0, 1, "Where is the rice, A?")
    loop = play([a, b, Speaker(0, 2, "A secret of C.")], think_steps=0)
    assert any("Where is the rice, A?" in text for text in prompts)
    assert not any("secret" in text or "Member 0" in text for text in prompts)
    busy = [said for said in loop.log().messages if said.data.get("code") == "busy"]
    assert [(said.step, said.to) for said in busy] == [(2, (2,))]
    assert "secret" not in str([said.text for said in loop.log().messages])
