"""A person without a builder leads the dispatcher of blocks by words alone, typed or spoken."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from kitchen.contract.team_messages import MessageDraft
from kitchen.play.coplayers.agent_decisions import decide_step
from kitchen.play.coplayers.answer_messages import send_message
from kitchen.play.episode.advance_episode import close_expired_turn
from kitchen.play.live.page_session import open_page
from kitchen.play.models import Episode
from study.design.models import Condition
from study.participation.page_progress import finish_page
from tests.study.factories import enter, make_study

pytestmark = [pytest.mark.django_db, pytest.mark.servers]


MODEL = {"model": "stand-in", "stand_in_errors": 0.0, "stand_in_latency": 0.0}


def led() -> Episode:
    study = make_study(conditions=1)
    Condition.objects.update(
        world="blocks_kitchen",
        settings={"steps": 20},
        coplayer="blocks_dispatcher",
        teammates=2,
        step_seconds=30,
        organisation={
            "kind": "tree",
            "apart": True,
            "members": [{"coplayer": "blocks_dispatcher", "settings": MODEL, "seats": [0, 1]}],
            "settings": {"sees": "all", "spoken": True},
        },
    )
    participant = enter(study, "one")
    finish_page(participant_id=participant.pk, page="guide")
    return Episode.objects.get(rounds__participant=participant)


@pytest.mark.parametrize("spoken", [False, True])
def test_the_cooks_do_what_a_person_without_a_cook_says(spoken: bool) -> None:
    episode = led()
    seat = episode.seats.get(mind=None)
    assert seat.number == 2 and episode.seats.count() == 3, "beyond the last cook"
    page, answer = open_page(seat.key, "one-page", newest=True, json=False, language="en")
    shown = "\n".join(answer.texts)
    assert page is not None and 'id="map-now"' in shown and 'id="menu"' not in shown
    data = {"spoken": True} if spoken else {}
    say = MessageDraft("Player 2, get the chicken! Player 1, wait.", data=data)
    assert send_message(episode_id=episode.pk, seat=2, say=say).accepted
    assert decide_step(episode_id=episode.pk, step=1) is None, "the person still has time for words"
    Episode.objects.update(turn_closes_at=timezone.now() - timedelta(seconds=1))
    close_expired_turn(episode_id=episode.pk, step=1)
    decide_step(episode_id=episode.pk, step=1)
    assert Episode.objects.get().step == 1
    commands = {one.seat: one.command for one in episode.commands.filter(step=1)}
    assert commands == {0: ["go_on"], 1: ["goto", "chicken"]}
