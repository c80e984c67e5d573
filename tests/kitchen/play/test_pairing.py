"""Two minds that talk within a step: who speaks when, what each hears, and what is followed and kept."""

from __future__ import annotations

from typing import Any

import pytest

from kitchen.contract.agent import Agent, Decision, Situation
from kitchen.contract.organisation import make_organisation
from kitchen.contract.team_messages import MessageDraft
from kitchen.contract.world_errors import SettingsError
from kitchen.play.coplayers.agent_decisions import decide_step
from kitchen.play.episode.create_episode import members_of_plans
from kitchen.play.models import Decision as DecisionRow
from kitchen.play.models import Episode, SeatCommand
from kitchen.registry import agent_registry
from tests.kitchen.factories import make_episode, mind

pytestmark = [pytest.mark.django_db, pytest.mark.servers]

TOLD: list[Situation] = []
LINES: dict[int, list[str]] = {}


class Speaker(Agent):
    """Says its next line, and wants to do something else each time."""

    kind = "speaker"

    async def decide(self, situation: Situation) -> Decision:
        TOLD.append(situation)
        (seat,), count = situation.seats, situation.memory or 0
        lines = LINES[seat]
        says = (MessageDraft(lines[count]),) if count < len(lines) and lines[count] else ()
        return Decision({seat: ("goto", f"pot{count}")}, memory=count + 1, note=f"thought {count}", says=says)


@pytest.fixture(autouse=True)
def _known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(agent_registry.AGENTS, "speaker", f"{__name__}:Speaker")
    TOLD.clear()
    LINES.clear()


def pair(first: list[str], second: list[str], **more: Any) -> Episode:
    LINES.update({0: first, 1: second})
    minds = (mind("speaker", 0), mind("speaker", 1))
    made = make_organisation("pair", members_of_plans(minds, seats=2), seats=2, settings={"rounds": 2})
    return make_episode(seats=2, minds=minds, organisation=made, **more)


def take(episode: Episode, step: int = 1) -> list[tuple[int, str]]:
    """What was said in the step, in order."""
    TOLD.clear()
    assert decide_step(episode_id=episode.pk, step=step)
    said = episode.sent.filter(step=step).order_by("number")
    return list(said.values_list("sender", "text"))


def asked() -> list[tuple[int, list[str]]]:
    """Who was asked, and what of all they heard was new to them."""
    return [(one.talk.member, [each.text for each in one.talk.messages if each.is_new]) for one in TOLD]


def test_they_speak_in_turn_and_what_each_decided_last_is_followed() -> None:
    episode = pair(["rice?", "salmon?", ""], ["yes", "no"])
    assert take(episode) == [(0, "rice?"), (1, "yes"), (0, "salmon?"), (1, "no")]
    assert asked() == [(0, []), (1, ["rice?"]), (0, ["yes"]), (1, ["rice?", "salmon?"])]
    commands = SeatCommand.objects.filter(step=1).order_by("seat").values_list("command", flat=True)
    assert list(commands) == [["goto", "pot1"]] * 2
    rows = DecisionRow.objects.order_by("mind__number")
    assert [row.memory for row in rows] == [2, 2]
    notes: list[Any] = [row.note for row in rows]
    assert [note["talk"] for note in notes] == [["thought 0"]] * 2
    take(episode, 2)
    assert asked()[0] == (0, ["no"])  # what it has not heard in the step before, and nothing else


@pytest.mark.parametrize(
    ("first", "second", "said"),
    [
        ([""], ["hello"], [(1, "hello")]),
        (["hello"], [""], [(0, "hello")]),
        (["hello", ""], ["yes", "no"], [(0, "hello"), (1, "yes")]),
        (["hello", "hello"], ["yes", "no"], [(0, "hello"), (1, "yes"), (0, "hello")]),
        (["x" * 2001], ["yes"], [(1, "yes")]),
    ],
)
def test_it_is_over_when_nothing_more_is_said(
    first: list[str], second: list[str], said: list[tuple[int, str]]
) -> None:
    episode = pair(first, second)
    assert take(episode) == said
    assert Episode.objects.get(pk=episode.pk).step == 1


def test_they_cannot_decide_side_by_side() -> None:
    with pytest.raises(SettingsError, match="one after the other"):
        pair([], [], knowing="nobody")
