"""People who wait meet in one kitchen, hold nobody up, and leave it without loss."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from kitchen.contract.world_errors import SettingsError
from kitchen.play.coplayers.agent_decisions import decide_step
from kitchen.play.episode.advance_episode import close_expired_turn, submit_commands
from kitchen.play.episode.log_integrity import verify_episode_logs
from kitchen.play.live.common_panels import gone_sentences
from kitchen.play.live.seat_view import current_seat_view
from kitchen.play.models import Episode, SeatCommand
from kitchen.play.turn.submitted_commands import SubmittedCommand
from study.design.models import Study
from study.participants.end_and_erase_participation import participant_end, participant_withdraw
from study.participants.episode_owners_and_outages import episode_owners
from study.participants.models import Participant
from study.participation import lobby_practice
from study.participation.group_lobby import look_at_lobby
from study.participation.lobby_practice import begin_kitchen, end_kitchen, own_seat
from tests.study.exports.rows import csv_rows
from tests.study.participation.test_group_lobby import come, shared

pytestmark = pytest.mark.django_db


def waits(study: Study, name: str, language: str = "en") -> Participant:
    """Somebody in the lobby. Who reads another language waits for another group."""
    person = come(study, name)
    Participant.objects.filter(pk=person.pk).update(language=language)
    assert look_at_lobby(participant_id=person.pk)
    return person


def practise(person: Participant) -> Participant:
    assert begin_kitchen(participant_id=person.pk)
    return Participant.objects.get(pk=person.pk)


@pytest.fixture
def study() -> Study:
    """A study of two people and one planner in each game."""
    study = shared()
    study.conditions.update(lobby_practice=True, lobby_practice_shared=True)
    study.refresh_from_db()
    return study


@pytest.fixture
def two(study: Study) -> tuple[Participant, Participant]:
    """Two people in one kitchen who wait for different games."""
    return practise(waits(study, "one")), practise(waits(study, "two", "es"))


def act(kitchen: Episode, step: int, seat: int) -> bool:
    given = [SubmittedCommand(seat, ("noop",))]
    return submit_commands(episode_id=kitchen.pk, step=step, commands=given).accepted


def time_runs_out(kitchen: Episode) -> None:
    Episode.objects.filter(pk=kitchen.pk).update(turn_closes_at=timezone.now() - timedelta(seconds=1))
    kitchen.refresh_from_db()
    assert close_expired_turn(episode_id=kitchen.pk, step=kitchen.step + 1)


def test_a_program_plays_the_other_places_until_somebody_comes(study: Study) -> None:
    one = practise(waits(study, "one"))
    kitchen = one.warm_up
    assert kitchen and kitchen.seats.filter(mind=None).count() == 1 and kitchen.seats.count() > 1
    assert (kitchen.hints, kitchen.step_seconds, kitchen.team and not kitchen.team.is_silent) == (
        True,
        None,
        False,
    )
    sentences = gone_sentences(current_seat_view(kitchen.seats.get(number=0)))
    assert sentences[0] == "A program plays Robot 2 until another person comes."
    two = practise(waits(study, "two", "es"))
    assert (two.warm_up, two.warm_up_seat) == (kitchen, 1)
    seen = [gone_sentences(current_seat_view(kitchen.seats.get(number=seat)))[0] for seat in (0, 1)]
    assert seen == [
        "From step 1 on, another person plays Robot 2.",
        "A program plays Robot 3 until another person comes.",
    ]


def test_where_no_program_can_play_the_free_places_one_practises_alone(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise SettingsError("the settings do not fit")

    monkeypatch.setattr(lobby_practice, "make_agent", refuse)
    kitchen = practise(waits(study, "one")).warm_up
    assert kitchen and kitchen.absence is None


def test_the_next_ones_get_a_new_kitchen_when_it_is_full(study: Study) -> None:
    people = [practise(waits(study, language, language)) for language in ("en", "es", "zh")]
    assert len({one.warm_up_id for one in people}) == 1
    other = come(study, "other")
    Participant.objects.filter(pk=other.pk).update(language="fr")
    assert look_at_lobby(participant_id=other.pk)
    assert practise(other).warm_up_id not in {one.warm_up_id for one in people}


def test_who_leaves_for_the_game_holds_nobody_and_the_last_one_ends_it(
    two: tuple[Participant, Participant],
) -> None:
    one, other = two
    kitchen = one.warm_up
    assert kitchen and act(kitchen, 1, seat=1)
    end_kitchen(one)
    end_kitchen(Participant.objects.get(pk=one.pk))  # as each load of the game's page does
    kitchen.refresh_from_db()
    assert kitchen.status == Episode.Status.PLAYING and (kitchen.gone or {})["0"]["why"] == "left"
    assert (own_seat(one), own_seat(other)) == (None, 1)
    end_kitchen(other)
    kitchen.refresh_from_db()
    assert (kitchen.status, kitchen.ended_because) == ("abandoned", "the game with the others began")
    assert all(verdict.holds for verdict in verify_episode_logs(Episode.objects.all()))


def test_who_closes_the_page_is_replaced_and_gets_the_place_back(
    two: tuple[Participant, Participant],
) -> None:
    one, other = two
    kitchen = one.warm_up
    assert kitchen
    for step in (1, 2):
        kitchen.refresh_from_db()
        assert kitchen.step_seconds == 20 and act(kitchen, step, seat=1)
        time_runs_out(kitchen)
        decide_step(episode_id=kitchen.pk, step=step)
    kitchen.refresh_from_db()
    assert (kitchen.gone or {})["0"]["why"] == "away" and own_seat(one) is None
    assert act(kitchen, 3, seat=1)
    decide_step(episode_id=kitchen.pk, step=3)
    assert practise(one).warm_up_id == kitchen.pk and own_seat(one) == 0
    chosen = SeatCommand.objects.filter(episode=kitchen, seat=0).order_by("step")
    assert list(chosen.values_list("chosen_by", flat=True)) == ["timeout", "timeout", "planner"]
    assert own_seat(other) == 1
    seen = gone_sentences(current_seat_view(kitchen.seats.get(number=1)))
    assert seen[0] == "The person who plays Robot 1 is back since step 4."
    rows = csv_rows(one.study, "episodes")
    assert rows[0]["without_people"].startswith("0:3:away 0:4:returned ")


def test_the_last_one_has_no_limit_and_the_kitchen_waits_for_them(
    two: tuple[Participant, Participant],
) -> None:
    one, other = two
    kitchen = one.warm_up
    assert kitchen
    for step in (1, 2):
        time_runs_out(kitchen)
        decide_step(episode_id=kitchen.pk, step=step)
    kitchen.refresh_from_db()
    assert (kitchen.status, kitchen.step) == ("playing", 2)
    assert (kitchen.step_seconds, kitchen.turn_closes_at) == (None, None)
    assert (own_seat(one), own_seat(other)) == (None, 1)
    practise(one)
    kitchen.refresh_from_db()
    assert kitchen.step_seconds == 20 and kitchen.turn_closes_at


def test_who_closes_the_page_is_replaced_at_once_and_is_back_with_the_same_address(
    client: Client, two: tuple[Participant, Participant]
) -> None:
    one, other = two
    lobby = reverse("study:lobby", args=[one.key])
    assert "data-play" in client.get(f"{one.get_absolute_url()}?kitchen").content.decode()
    client.post(lobby, {"gone": "0"})
    assert own_seat(one) == 0, "a page that was loaded again since"
    client.post(lobby, {"gone": "1"})
    assert own_seat(one) is None and own_seat(other) == 1
    assert "data-play" in client.get(f"{one.get_absolute_url()}?kitchen", follow=True).content.decode()
    assert own_seat(one) == 0


def test_it_is_in_the_data_of_both_and_goes_with_the_last_one(two: tuple[Participant, Participant]) -> None:
    one, other = two
    kitchen = one.warm_up
    assert kitchen and act(kitchen, 1, seat=0) and act(kitchen, 1, seat=1)
    decide_step(episode_id=kitchen.pk, step=1)
    rows = csv_rows(one.study, "episodes")
    assert [(row["part"], row["seat"], row["lobby_practice_shared"]) for row in rows] == [
        ("waiting", "0", "0"),
        ("waiting", "1", "0"),
    ]
    assert {row["episode"] for row in rows} == {str(kitchen.key)}
    assert rows[0]["without_people"] == "1:1:joined 2:1:free"
    sealed = [["practice", one.pk, one.study_id], ["practice", other.pk, other.study_id, 1]]
    assert sorted(episode_owners([kitchen.pk])[kitchen.pk]) == sealed
    assert [row["step"] for row in csv_rows(one.study, "steps")] == ["1"], "once, not for each of them"
    participant_withdraw(participant_id=one.pk)
    kitchen.refresh_from_db()
    assert (kitchen.gone or {})["0"]["why"] == "left" and own_seat(other) == 1
    assert participant_end(participant_id=other.pk, status=Participant.Status.UNMATCHED)
    kitchen.refresh_from_db()
    assert kitchen.status == Episode.Status.ABANDONED
    participant_withdraw(participant_id=other.pk)
    assert not Episode.objects.exists()
