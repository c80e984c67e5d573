"""messages.csv: everything that was said, in the rows of those who said or could read it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.db import transaction

from kitchen.contract.organisation import Member, make_organisation
from kitchen.contract.team_messages import MessageDraft
from kitchen.play.coplayers.agent_decisions import decide_step
from kitchen.play.coplayers.answer_messages import send_message
from kitchen.play.episode.absent_players import LEFT, AbsencePolicy, hand_over_seat
from kitchen.play.models import Episode, Message
from kitchen.play.turn.conversation import add_message
from kitchen.play.turn.turn_cache import exclusive_turn, refresh_turn
from study.design.models import Study
from study.exports.export_registry import get_table
from study.participants.end_and_erase_participation import participant_withdraw
from study.participants.models import Participant, Round
from study.participation.page_progress import finish_page
from tests.kitchen.factories import make_episode, mind, submit
from tests.study.exports.rows import csv_rows, rows_of
from tests.study.factories import enter, make_study

pytestmark = [pytest.mark.django_db, pytest.mark.servers]


@pytest.fixture
def pair() -> tuple[Study, list[Participant], Episode]:
    """Two people and two robots, who may all write to each other, in one episode."""
    study = make_study()
    people = [enter(study, name) for name in ("one", "two")]
    members = [Member(seat, (seat,), is_person=seat < 2) for seat in range(4)]
    episode = make_episode(
        seats=4,
        minds=(mind("random", 2), mind("random", 3)),
        organisation=make_organisation("graph", members, seats=4),
    )
    for seat, person in enumerate(people):
        finish_page(participant_id=person.pk, page="guide")
        Round.objects.filter(participant=person, position=1).update(episode=episode, seat=seat)
    return study, people, episode


def say(episode: Episode, member: int, text: str, *to: int) -> None:
    if member < 2:
        assert send_message(episode_id=episode.pk, seat=member, say=MessageDraft(text, to=to)).accepted
        return
    with exclusive_turn(episode.pk) as turn:
        assert add_message(turn, member, MessageDraft(text, to=to)) == ""


def cells(study: Study, *wanted: str) -> list[tuple[Any, ...]]:
    table = get_table("messages")
    names = [column.name for column in table.columns]
    return [tuple(row[names.index(name)] for name in wanted) for row in rows_of(table, study)]


def test_a_participants_rows_hold_what_they_said_or_could_read(
    pair: tuple[Study, list[Participant], Episode],
) -> None:
    study, (one, two), episode = pair
    say(episode, 0, "to the other person", 1)
    say(episode, 0, "to robot three", 2)
    say(episode, 3, "to both people", 0, 1)
    say(episode, 2, "between robots", 3)
    assert cells(study, "participant", "sender", "text", "known") == [
        (one.code, 0, "to the other person", True),
        (one.code, 0, "to robot three", True),
        (one.code, 3, "to both people", True),
        (one.code, 2, "between robots", False),
        (two.code, 0, "to the other person", True),
        (two.code, 3, "to both people", True),
    ]


def test_a_replaced_person_keeps_the_messages_from_before(
    pair: tuple[Study, list[Participant], Episode],
) -> None:
    study, (one, two), episode = pair
    say(episode, 0, "to robot three", 2)
    say(episode, 3, "to the first", 0)
    for seat in (0, 1):
        submit(episode, 1, "noop", seat=seat)
    decide_step(episode_id=episode.pk, step=1)
    say(episode, 0, "in the step in which they left", 3)
    hand_to_robot(episode, 0)
    say(episode, 3, "to who replaced them", 0)
    say(episode, 3, "to both", 0, 1)
    rows = [
        (one.code, "to robot three", True),
        (one.code, "to the first", True),
        (one.code, "in the step in which they left", True),
        (one.code, "to who replaced them", False),
        (two.code, "to both", True),
    ]
    assert cells(study, "participant", "text", "known") == rows
    participant_withdraw(participant_id=one.pk)
    assert cells(study, "participant", "text", "known") == [
        (two.code, "to who replaced them", False),
        (two.code, "to both", True),
    ]


def hand_to_robot(episode: Episode, seat: int) -> None:
    """A co-player has this person's seat from the open step on."""
    Episode.objects.filter(pk=episode.pk).update(absence=AbsencePolicy(kind="random").to_json())
    with exclusive_turn(episode.pk) as turn, transaction.atomic():
        refresh_turn(turn, lock=True)
        assert hand_over_seat(turn, seat, LEFT)


def test_the_file_has_each_word_and_is_empty_where_nothing_was_said(
    pair: tuple[Study, list[Participant], Episode],
) -> None:
    study, _people, episode = pair
    assert cells(study, "text") == []
    say(episode, 0, '=1+1; "<b>\n', 1)
    rows = csv_rows(study, "messages")
    assert [(row["step"], row["message"], json.loads(row["to"]), row["kind"]) for row in rows] == [
        ("1", "1", [1], "say")
    ] * 2
    assert all('=1+1; "<b>' in row["text"] for row in rows)


def test_blocked_words_are_in_the_file_as_written(
    pair: tuple[Study, list[Participant], Episode],
) -> None:
    study, _people, episode = pair
    Episode.objects.filter(pk=episode.pk).update(
        organisation={**(episode.organisation or {}), "blocked": ["rice"]}
    )
    say(episode, 0, "fetch rice", 2)
    say(episode, 0, "please", 2)
    assert cells(study, "text", "shown", "data") == [("fetch rice", "fetch ***", {}), ("please", "", {})]


def test_a_withdrawal_erases_the_messages(pair: tuple[Study, list[Participant], Episode]) -> None:
    _, people, episode = pair
    say(episode, 0, "hello")
    for person in people:
        participant_withdraw(participant_id=person.pk)
    assert not Message.objects.exists()
