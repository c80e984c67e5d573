"""Nobody writes or commands where the organisation has no edge: thirty tries, by socket, page and mind."""

from __future__ import annotations

import json
from typing import Any

import pytest

from kitchen.contract.agent import Agent, Decision, Situation
from kitchen.contract.organisation import make_organisation
from kitchen.contract.team_messages import MessageDraft
from kitchen.play.coplayers.agent_decisions import decide_step
from kitchen.play.coplayers.answer_messages import MESSAGE_RECEIPTS, send_message
from kitchen.play.episode.create_episode import members_of_plans
from kitchen.play.live.page_session import OpenPage, open_page
from kitchen.play.models import Decision as DecisionRow
from kitchen.play.models import Episode, Message
from kitchen.play.turn.websocket_messages import SayMessage
from kitchen.registry import agent_registry
from tests.kitchen.factories import make_episode, mind, submit

pytestmark = [pytest.mark.django_db, pytest.mark.servers]

WORDS = "come to the red pot"
MEMBERS = 4
SILENT_LEAVES = {"leaves_talk": False}
TRIES = [
    ("tree", SILENT_LEAVES, "say", 1, 2, "not_allowed"),
    ("tree", SILENT_LEAVES, "inform", 1, 2, "not_allowed"),
    ("tree", SILENT_LEAVES, "inform", 3, 0, "not_allowed"),
    ("tree", SILENT_LEAVES, "request", 2, 3, "not_allowed"),
    ("chain", {}, "say", 0, 2, "not_allowed"),
    ("chain", {}, "inform", 0, 2, "not_allowed"),
    ("chain", {}, "inform", 2, 1, "not_allowed"),
    ("pairwise", {}, "inform", 0, 1, "not_allowed"),
    ("pairwise", {}, "say", 2, 0, "busy"),
    ("central", {}, "say", 0, 1, "not_allowed"),
]
"""Organisation, its settings, kind of message, sender, addressee, and the code of the receipt."""
SAYS: dict[int, MessageDraft] = {}
TOLD: list[Situation] = []


class Stray(Agent):
    """Says what the test lets this member say, and notes what it is told."""

    kind = "stray"
    reads_words = True

    async def decide(self, situation: Situation) -> Decision:
        TOLD.append(situation)
        draft = SAYS.get(situation.talk.member)
        return Decision({}, says=(draft,) if draft else ())


@pytest.fixture(autouse=True)
def _strays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(agent_registry.AGENTS, "stray", f"{__name__}:Stray")
    SAYS.clear()
    TOLD.clear()


def team(kind: str, settings: dict[str, Any], *, people: int) -> Episode:
    """So many people, and agents in all other seats; a central agent has them all."""
    robots = range(people, MEMBERS)
    minds = (mind("stray", *robots),) if kind == "central" else tuple(mind("stray", seat) for seat in robots)
    minds = minds if robots else ()
    made = make_organisation(kind, members_of_plans(minds, seats=MEMBERS), seats=MEMBERS, settings=settings)
    return make_episode(seats=MEMBERS, minds=minds, organisation=made)


def page_of(episode: Episode, member: int, *, as_json: bool) -> OpenPage:
    page, _ = open_page(
        episode.seats.get(number=member).key, f"page-{member}", newest=True, json=as_json, language="en"
    )
    assert page
    return page


def tried_by_a_person(episode: Episode, kind: str, sender: int, to: int, *, as_json: bool) -> str:
    """Send it as a program or as a form does. Return the code of the receipt."""
    pages = {
        seat.number: page_of(episode, seat.number, as_json=as_json)
        for seat in episode.seats.all()
        if seat.mind_id is None
    }
    sent = {"type": "say", "text": WORDS, "kind": kind, "to": [to] if as_json else str(to)}
    texts = pages[sender].say(SayMessage.read(sent)).texts
    for number, page in pages.items():
        if number != sender:
            assert WORDS not in "".join([*page.look().texts, *page.show().texts])
    if as_json:
        (notice,) = [told for told in map(json.loads, texts) if told["type"] == "notice"]
        return str(notice["code"])
    return next(code for code, words in MESSAGE_RECEIPTS.items() if words and str(words) in "".join(texts))


def tried_by_a_mind(episode: Episode, kind: str, sender: int, to: int) -> str:
    """Let the agent say it in its next decision. Return the code in the note of the decision."""
    SAYS[sender] = MessageDraft(WORDS, kind, (to,))
    for _ in range(2):
        step = Episode.objects.get(pk=episode.pk).step + 1
        for seat in episode.seats.filter(mind=None):
            submit(episode, step, "noop", seat=seat.number)
        decide_step(episode_id=episode.pk, step=step)
        SAYS.clear()
    assert not [one for one in TOLD if WORDS in str(one.talk.messages) and one.talk.member != sender]
    notes = DecisionRow.objects.exclude(note=None).values_list("note", flat=True)
    (unsaid,) = [each for note in notes for each in note.get("unsaid", ())]
    assert unsaid["text"] == WORDS
    return str(unsaid["code"])


@pytest.mark.parametrize("by", ["socket", "page", "mind"])
@pytest.mark.parametrize(("kind", "settings", "what", "sender", "to", "code"), TRIES)
def test_organisation_rights_a_missing_edge_carries_nothing(
    kind: str, settings: dict[str, Any], what: str, sender: int, to: int, code: str, by: str
) -> None:
    people = 1 if kind == "central" else 0 if by == "mind" else MEMBERS
    episode = team(kind, settings, people=people)
    if kind == "central" and by == "mind":
        sender, to = to, sender
    if code == "busy" and by == "mind":
        SAYS[0] = MessageDraft("hello", to=(1,))
        decide_step(episode_id=episode.pk, step=1)
        SAYS.clear()
    elif code == "busy":
        assert send_message(episode_id=episode.pk, seat=0, say=MessageDraft("hello", to=(1,))).accepted
    if by == "mind":
        receipt = tried_by_a_mind(episode, what, sender, to)
    else:
        receipt = tried_by_a_person(episode, what, sender, to, as_json=by == "socket")
    assert receipt == code
    assert not [row for row in Message.objects.all() if WORDS in row.text]
