"""jobs.csv: every job with what became of it and when, in the rows of who gave it or was asked."""

from __future__ import annotations

from typing import Any

import pytest

from kitchen.contract.organisation import Member, make_organisation
from kitchen.contract.team_messages import MessageDraft
from kitchen.play.coplayers.agent_decisions import decide_step
from kitchen.play.models import Message
from kitchen.play.turn.conversation import add_message
from kitchen.play.turn.turn_cache import exclusive_turn
from study.exports.export_registry import get_table
from study.participants.models import Round
from study.participation.page_progress import finish_page
from tests.kitchen.factories import make_episode, mind, submit
from tests.study.exports.rows import rows_of
from tests.study.exports.test_messages import hand_to_robot
from tests.study.factories import enter, make_study

pytestmark = [pytest.mark.django_db, pytest.mark.servers]


def test_a_job_stands_with_when_it_was_given_and_what_became_of_it() -> None:
    study = make_study()
    people = [enter(study, name) for name in ("leader", "worker")]
    members = [Member(seat, (seat,), is_person=seat < 2) for seat in range(4)]
    minds = (mind("random", 2), mind("random", 3))
    episode = make_episode(seats=4, minds=minds, organisation=make_organisation("graph", members, seats=4))
    for seat, person in enumerate(people):
        finish_page(participant_id=person.pk, page="guide")
        Round.objects.filter(participant=person, position=1).update(episode=episode, seat=seat)

    def say(member: int, kind: str, *to: int, text: str = "", **data: Any) -> None:
        with exclusive_turn(episode.pk) as turn:
            assert add_message(turn, member, MessageDraft(text, kind, to, data)) == ""

    say(0, "inform", 1, 2, text="chop")  # message 1: a job for each
    say(1, "accept", 0, job=1)
    say(2, "decline", 0, job=1, code="words")  # a program gives a reason by its code
    say(2, "inform", 3, text="fry")  # message 4: between robots
    for seat in (0, 1):
        submit(episode, 1, "noop", seat=seat)
    decide_step(episode_id=episode.pk, step=1)
    say(1, "report", 0, text="3 sliced", job=1, status="done")
    say(2, "withdraw", 3, job=4)

    table = get_table("jobs")
    names = [column.name for column in table.columns]
    wanted = "participant step job giver worker text accepted_step done_step withdrawn_step state why known"
    rows = [[row[names.index(name)] for name in wanted.split()] for row in rows_of(table, study)]
    leader, worker = (person.code for person in people)
    done = [1, 1, 0, 1, "chop", 1, 2, None, "done", "3 sliced", True]
    declined = [1, 1, 0, 2, "chop", None, None, None, "declined", "I can only do jobs from the list.", True]
    between = [1, 4, 2, 3, "fry", None, None, 2, "withdrawn", "", False]
    assert rows == [[leader, *done], [leader, *declined], [leader, *between], [worker, *done]]
    report = Message.objects.get(kind="report")
    assert next(iter(rows_of(table, study)))[names.index("done_at")] == report.sent_at


def test_a_job_stays_with_who_gave_it_and_was_replaced() -> None:
    study = make_study()
    people = [enter(study, name) for name in ("leader", "worker")]
    members = [Member(seat, (seat,), is_person=seat < 2) for seat in range(3)]
    made = make_organisation("graph", members, seats=3)
    episode = make_episode(seats=3, minds=(mind("random", 2),), organisation=made)
    for seat, person in enumerate(people):
        finish_page(participant_id=person.pk, page="guide")
        Round.objects.filter(participant=person, position=1).update(episode=episode, seat=seat)
    with exclusive_turn(episode.pk) as turn:
        assert add_message(turn, 1, MessageDraft("chop", "inform", (2,))) == ""
    for seat in (0, 1):
        submit(episode, 1, "noop", seat=seat)
    decide_step(episode_id=episode.pk, step=1)
    hand_to_robot(episode, 1)
    with exclusive_turn(episode.pk) as turn:
        assert add_message(turn, 1, MessageDraft("fry", "inform", (2,))) == ""
    table = get_table("jobs")
    names = [column.name for column in table.columns]
    wanted = [names.index(name) for name in ("participant", "text", "known")]
    rows = [[row[number] for number in wanted] for row in rows_of(table, study)]
    assert rows == [[people[0].code, "fry", False], [people[1].code, "chop", True]]
    fry = Message.objects.get(text="fry").number
    with exclusive_turn(episode.pk) as turn:
        assert add_message(turn, 2, MessageDraft("you", "inform", (0,), {"passed_on": fry})) == ""
    state = names.index("state")
    states = [row[state] for row in rows_of(table, study) if row[names.index("job")] == fry]
    assert states == ["passed_on"]
    assert Message.objects.get(kind="report").to == [1], "its giver is told"
