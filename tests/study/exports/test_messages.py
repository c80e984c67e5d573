"""messages.csv: everything that was said, in the rows of those who said or could read it."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from django.db import transaction

from kitchen.contract.organisation import Member, organise
from kitchen.contract.talk import Say
from kitchen.play.absence import LEFT, Absence, hand_over
from kitchen.play.deciding import decide_step
from kitchen.play.kept import bring_up_to_date, turn_taken
from kitchen.play.models import Episode, Message
from kitchen.play.saying import message_add
from kitchen.play.talking import message_send
from study.design.models import Study
from study.exports.registry import get_table
from study.exports.writing import write_study
from study.people.leaving import participant_withdraw
from study.people.models import Participant, Round
from study.taking_part.going_on import page_done
from tests.kitchen.factories import make_episode, mind, submit
from tests.study.exports.rows import rows_of
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
        organisation=organise("graph", members, seats=4),
    )
    for seat, person in enumerate(people):
        page_done(participant_id=person.pk, page="guide")
        Round.objects.filter(participant=person, position=1).update(episode=episode, seat=seat)
    return study, people, episode


def say(episode: Episode, member: int, text: str, *to: int) -> None:
    if member < 2:
        assert message_send(episode_id=episode.pk, seat=member, say=Say(text, to=to)).accepted
        return
    with turn_taken(episode.pk) as turn:
        assert message_add(turn, member, Say(text, to=to)) == ""


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


def test_who_was_replaced_keeps_what_they_said_and_read_before(
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
    Episode.objects.filter(pk=episode.pk).update(absence=Absence(kind="random").to_json())
    with turn_taken(episode.pk) as turn, transaction.atomic():
        bring_up_to_date(turn, lock=True)
        assert hand_over(turn, seat, LEFT)


def test_the_file_has_each_word_and_is_empty_where_nothing_was_said(
    pair: tuple[Study, list[Participant], Episode], tmp_path: Path
) -> None:
    study, _people, episode = pair
    assert cells(study, "text") == []
    say(episode, 0, '=1+1; "<b>\n', 1)
    write_study(study, tmp_path)
    with (tmp_path / "messages.csv").open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert [(row["step"], row["message"], json.loads(row["to"]), row["kind"]) for row in rows] == [
        ("1", "1", [1], "say")
    ] * 2
    assert all('=1+1; "<b>' in row["text"] for row in rows)


def test_what_was_not_shown_is_in_the_file_as_it_was_written(
    pair: tuple[Study, list[Participant], Episode],
) -> None:
    study, _people, episode = pair
    Episode.objects.filter(pk=episode.pk).update(
        organisation={**(episode.organisation or {}), "blocked": ["rice"]}
    )
    say(episode, 0, "fetch rice", 2)
    say(episode, 0, "please", 2)
    assert cells(study, "text", "shown", "data") == [("fetch rice", "fetch ***", {}), ("please", "", {})]


def test_who_leaves_takes_what_was_said_along(pair: tuple[Study, list[Participant], Episode]) -> None:
    _, people, episode = pair
    say(episode, 0, "hello")
    for person in people:
        participant_withdraw(participant_id=person.pk)
    assert not Message.objects.exists()
