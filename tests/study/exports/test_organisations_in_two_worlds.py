"""One study with three organisations in each of two worlds, and one in which somebody leads without a robot:
played by programs, and exported."""

from __future__ import annotations

import csv
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from kitchen.contract.organisation import INFORM, SAY
from kitchen.contract.team_messages import MessageDraft
from kitchen.play.coplayers.agent_decisions import decide_step
from kitchen.play.coplayers.answer_messages import send_message
from kitchen.play.episode.advance_episode import leave_seat, submit_commands
from kitchen.play.episode.log_integrity import verify_episode_logs
from kitchen.play.live.seat_view import current_seat_view
from kitchen.play.models import Decision, Episode
from kitchen.play.turn.submitted_commands import SubmittedCommand
from study.design.models import Condition, Study
from study.exports.export_files import write_study
from study.exports.export_registry import TABLES
from study.participants.models import Participant
from study.participation.group_lobby import look_at_lobby
from study.participation.page_progress import answers_submit, finish_page
from tests.study.exports.rows import csv_rows
from tests.study.factories import SETTINGS, enter, make_study

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("beacon")]

WORLDS: dict[str, dict[str, Any]] = {
    "cuisine": {"settings": SETTINGS, "coplayer": "planner", "coplayer_settings": {"tries": 0}},
    "beacon": {"settings": {}, "coplayer": "random", "coplayer_settings": {}},
}
TEAMS: dict[str, dict[str, Any]] = {
    "central": {"kind": "central", "settings": {"talk": True}},
    "tree": {"kind": "tree", "leads": 0},
    "pair": {"kind": "pair"},
}
MET: dict[str, dict[str, Any]] = {**TEAMS, "pairwise": {"kind": "pairwise"}}
"""Organisations in which two people meet."""
TEXT = "robot 2, fetch rice"


def crossed() -> Study:
    study = make_study(conditions=0)
    for number, (world, team) in enumerate(product(WORLDS, TEAMS)):
        mates = 2 if (world, team) in {("cuisine", "central"), ("cuisine", "tree")} else 1
        key = f"{world}-{team}"
        names = {"key": key, "name": key, "label": key.title(), "position": number}
        row = Condition(study=study, world=world, teammates=mates, organisation=TEAMS[team], **names)
        for name, value in WORLDS[world].items():
            setattr(row, name, value)
        row.full_clean()
        row.save()
    led = {"kind": "tree", "apart": True, "settings": {"sees": "all"}}
    names = {"key": "cuisine-led", "name": "cuisine-led", "label": "Led", "position": 6, "world": "cuisine"}
    row = Condition(study=study, coplayer="follower", teammates=2, step_seconds=3, organisation=led, **names)
    row.settings = SETTINGS
    row.full_clean()
    row.step_seconds = None  # nobody waits for a clock here
    row.save()
    return study


def play(episode: Episode) -> None:
    """To its end: a word to whom one may write at every step, or a job to whom one leads."""
    seat = episode.seats.get(mind=None)
    while (view := current_seat_view(seat)).phase in {"choose", "lead"}:
        kind = INFORM if view.jobs.leads else SAY
        assert send_message(episode_id=episode.pk, seat=seat.number, say=MessageDraft(TEXT, kind)).accepted
        step = view.step + 1
        if view.phase == "choose":
            given = SubmittedCommand(seat.number, view.choice.legal[-1])
            assert submit_commands(episode_id=episode.pk, step=step, commands=[given]).accepted
        decide_step(episode_id=episode.pk, step=step)


def finish(person: Participant) -> None:
    finish_page(participant_id=person.pk, page="guide")
    while found := person.rounds.filter(answered_at=None).select_related("episode").first():
        assert found.episode
        play(found.episode)
        values = {item.key: 3 for item in person.version.blueprint.items_at("survey")}
        assert answers_submit(participant_id=person.pk, page="survey", position=found.position, values=values)
    person.refresh_from_db()


def read(folder: Path, name: str) -> list[dict[str, str]]:
    with (folder / f"{name}.csv").open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def test_organisations_and_worlds_are_crossed_in_one_study(tmp_path: Path) -> None:
    study = crossed()
    person = enter(study, synthetic=True)
    finish(person)
    assert person.status == Participant.Status.COMPLETE
    assert all(verdict.holds for verdict in verify_episode_logs(Episode.objects.all()))
    rows = write_study(study, tmp_path)
    assert {f"{name}.csv" for name in TABLES} <= rows.keys()
    episodes = {row["condition"]: row for row in read(tmp_path, "episodes")}
    assert set(episodes) == {f"{world}-{team}" for world, team in product(WORLDS, TEAMS)} | {"cuisine-led"}
    assert {row["status"] for row in episodes.values()} == {"over"}
    said, sender = read(tmp_path, "messages"), dict.fromkeys(episodes, "0") | {"cuisine-led": "2"}
    for key, row in episodes.items():
        mine = [each for each in said if each["condition"] == key and each["sender"] == sender[key]]
        assert len(mine) == int(row["steps"]) and {each["text"] for each in mine} == {TEXT}
        assert {each["kind"] for each in mine} == {INFORM if key.endswith(("tree", "led")) else SAY}
    decided = Decision.objects.values_list("because", flat=True).distinct()
    assert set(decided) == {"job", "message"}
    assert {each["because"] for each in read(tmp_path, "decisions")} == {"job", "message"}


def meeting() -> tuple[Study, list[Participant]]:
    """Two people at the door of the lobby of a study in which they meet in every condition."""
    study = make_study(conditions=0)
    for number, (key, team) in enumerate(MET.items()):
        names = {"key": key, "name": key, "label": key.title(), "position": number}
        organisation = {**team, "people": [0, 1]}
        row = Condition(study=study, world="cuisine", organisation=organisation, **names)
        row.teammates, row.coplayer, row.settings = (1 if key == "pair" else 2), "planner", SETTINGS
        row.full_clean()
        row.save()
    people = [enter(study, name) for name in ("one", "two")]
    for person in people:
        finish_page(participant_id=person.pk, page="guide")
    return study, people


def play_together(episode: Episode) -> None:
    """Two steps in which both write and choose, and one in which one of them leaves."""
    seats = list(episode.seats.filter(mind=None))
    for step in (1, 2, 3):
        for seat in seats[: 2 if step < 3 else 1]:
            to = (
                (1 - seat.number,)
                if episode.organisation and episode.organisation["kind"] == "pairwise"
                else ()
            )
            assert send_message(
                episode_id=episode.pk, seat=seat.number, say=MessageDraft(TEXT, to=to)
            ).accepted
            given = SubmittedCommand(seat.number, ("noop",))
            assert submit_commands(episode_id=episode.pk, step=step, commands=[given]).accepted
        if step == 3:
            assert leave_seat(episode_id=episode.pk, seat=1)
        decide_step(episode_id=episode.pk, step=step)
    assert Episode.objects.get(pk=episode.pk).status == Episode.Status.OVER


def test_two_people_meet_in_every_organisation_of_one_study() -> None:
    study, people = meeting()
    for position in range(1, len(MET) + 1):
        assert (
            look_at_lobby(participant_id=people[0].pk) and look_at_lobby(participant_id=people[1].pk) is None
        )
        episode = people[0].rounds.get(position=position).episode
        assert episode and people[1].rounds.get(position=position).episode == episode
        play_together(episode)
        for person in people:
            given = {item.key: 3 for item in person.version.blueprint.items_at("survey")}
            assert answers_submit(participant_id=person.pk, page="survey", position=position, values=given)
    assert all(verdict.holds for verdict in verify_episode_logs(Episode.objects.all()))
    episodes, said = csv_rows(study, "episodes"), csv_rows(study, "messages")
    for key in MET:
        rows = [row for row in episodes if row["condition"] == key]
        assert {row["group"] for row in rows} == {"1"} and len({row["episode"] for row in rows}) == 1
        assert {row["given_up_step"] for row in rows} == {"", "3"}
        own = [row for row in said if row["condition"] == key and row["kind"] == SAY and row["sender"] < "2"]
        mine, theirs = ([row for row in own if row["participant"] == one.code] for one in people)
        assert {row["text"] for row in own} == {TEXT} and (len(mine), len(theirs)) == (5, 5), key
    gone = [row for row in said if row["kind"] == "system"]
    assert [(row["condition"], row["participant"]) for row in gone] == [("pairwise", people[0].code)]
