"""People who do nothing: asked, then timed out, and counted no more."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from kitchen.play.episode.advance_episode import submit_commands
from kitchen.play.episode.end_episode import WITHOUT_MONEY, end_episode
from kitchen.play.live.render_page import Screen
from kitchen.play.live.seat_view import current_seat_view, world_page_of
from kitchen.play.models import Episode
from kitchen.play.turn.submitted_commands import SubmittedCommand
from kitchen.uptime.heartbeat import record_heartbeat
from kitchen.uptime.models import Outage
from study.design.models import Outcome, Study, Version
from study.design.study_errors import StudyClosedError
from study.participants.end_and_erase_participation import participant_end, participant_withdraw
from study.participants.models import Participant
from study.participation.enter_study import participant_enter
from study.participation.idle_timeout import participant_here
from study.participation.page_progress import finish_page
from study.tasks import time_out_idle
from tests.study.factories import complete, enter, make_study

pytestmark = [pytest.mark.django_db, pytest.mark.servers]

Clock = Callable[[float], None]


@pytest.fixture
def wait(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """Let so many minutes pass."""
    passed = [0.0]
    now = timezone.now

    def pass_by(minutes: float) -> None:
        passed[0] += minutes

    def later() -> datetime:
        return now() + timedelta(minutes=passed[0])

    monkeypatch.setattr(timezone, "now", later)
    return pass_by


def begun(study: Study, entry: str = "one", *, synthetic: bool = False) -> Participant:
    """Somebody in their first kitchen."""
    person = enter(study, entry, synthetic=synthetic)
    finish_page(participant_id=person.pk, page="guide")
    return Participant.objects.get(pk=person.pk)


def command(episode: Episode) -> None:
    view = current_seat_view(episode.seats.get(number=0))
    order = SubmittedCommand(0, view.choice.legal[0])
    assert submit_commands(episode_id=episode.pk, step=view.step + 1, commands=[order]).accepted


def test_time_in_which_we_were_away_is_not_idle(wait: Clock) -> None:
    begun(make_study(idle_minutes=60))
    gone = timezone.now() + timedelta(minutes=5)
    Outage.objects.create(part="web", since=gone, until=gone + timedelta(minutes=20))
    wait(79)
    assert time_out_idle() == 0
    wait(2)
    assert time_out_idle() == 1


def test_nobody_is_put_out_while_we_are_away(wait: Clock) -> None:
    begun(make_study(idle_minutes=60))
    record_heartbeat("web")
    wait(600)
    assert time_out_idle() == 0


def status(person: Participant) -> str:
    return Participant.objects.get(pk=person.pk).status


@pytest.mark.parametrize("synthetic", [False, True])
def test_an_idle_participant_is_timed_out_once_and_the_episode_ends(wait: Clock, synthetic: bool) -> None:
    person = begun(make_study(idle_minutes=60), synthetic=synthetic)
    wait(59)
    assert time_out_idle() == 0
    wait(2)
    assert (time_out_idle(), time_out_idle()) == (1, 0)
    person.refresh_from_db()
    assert (person.status, bool(person.ended_at)) == ("timed_out", True)
    episode = Episode.objects.get()
    assert (episode.status, episode.ended_because) == (Episode.Status.ABANDONED, person.end_reason)
    view = current_seat_view(episode.seats.get(number=0))
    page = Screen().fragments(world_page_of(episode.seats.get(number=0)), view)
    assert "The game was ended because nothing happened for too long." in page
    assert "study team" not in page


def test_a_command_in_the_kitchen_is_an_action(wait: Clock) -> None:
    person = begun(make_study(idle_minutes=60))
    wait(50)
    command(Episode.objects.get())
    Participant.objects.update(active_at=timezone.now() - timedelta(minutes=100))
    assert time_out_idle() == 0
    wait(61)
    assert time_out_idle() == 1
    assert status(person) == "timed_out"


def test_a_presence_signal_is_an_action(client: Client, wait: Clock) -> None:
    person = begun(make_study(idle_minutes=60, idle_warning_minutes=10))
    here = f"{person.get_absolute_url()}here/"
    wait(50)
    found = client.get(here).json()
    assert (found["active"], found["warn_in"] < 0) == (True, True)
    assert 9 * 60 < found["end_in"] <= 10 * 60
    assert 59 * 60 < client.post(here).json()["end_in"] <= 60 * 60
    wait(50)
    assert time_out_idle() == 0


def test_a_presence_signal_after_the_limit_does_not_undo_the_timeout(client: Client, wait: Clock) -> None:
    person = begun(make_study(idle_minutes=30))
    wait(31)
    participant_here(person=person)
    assert status(person) == "timed_out"
    other = begun(make_study("other", idle_minutes=30), "other")
    wait(31)
    assert client.post(f"{other.get_absolute_url()}here/").json()["active"] is False
    assert status(other) == "timed_out"


def test_a_presence_signal_during_a_withdrawal_is_no_error(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    person = begun(make_study())

    def gone(*, person: Participant) -> Participant:
        participant_withdraw(participant_id=person.pk)
        return participant_here(person=person)

    monkeypatch.setattr("study.participation.views.participant_here", gone)
    assert client.post(f"{person.get_absolute_url()}here/").status_code == 404


def test_one_whose_data_cannot_be_read_keeps_nobody_from_being_timed_out(
    wait: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    study = make_study(idle_minutes=60)
    damaged, well = begun(study, "damaged"), begun(study, "well")
    Episode.objects.filter(rounds__participant=damaged).update(state={"no": "world"})
    lost = begun(make_study("lost", idle_minutes=60))
    Version.objects.filter(study=lost.study).update(document={"nothing": 1})
    wait(61)
    assert time_out_idle() == 2
    assert (status(damaged), status(well), status(lost)) == ("timed_out", "timed_out", "active")
    assert f"participant {lost.pk} cannot be timed out" in caplog.text


def test_a_person_who_returns_too_late_reads_why_and_gets_the_code_for_it(
    client: Client, wait: Clock
) -> None:
    study = make_study(idle_minutes=30)
    Outcome.objects.create(study=study, kind="timed_out", code="SLOW", url="https://example.org/?c={code}")
    person = begun(study)
    wait(31)
    page = client.get(person.get_absolute_url()).content.decode()
    assert "The study has ended" in page
    assert "SLOW" in page
    assert 'href="https://example.org/?c=SLOW"' in page
    assert client.get(f"{person.get_absolute_url()}here/").json()["active"] is False


def test_a_study_without_a_limit_ends_nobody_and_asks_nobody(client: Client, wait: Clock) -> None:
    person = begun(make_study(idle_minutes=None, idle_warning_minutes=None))
    wait(100_000)
    assert time_out_idle() == 0
    assert "data-idle" not in client.get(person.get_absolute_url()).content.decode()


def test_finished_and_withdrawn_participants_are_not_timed_out(client: Client, wait: Clock) -> None:
    study = make_study(idle_minutes=10)
    done, gone = complete(study, "done"), begun(study, "gone")
    participant_withdraw(participant_id=gone.pk)
    wait(100)
    assert time_out_idle() == 0
    assert status(done) == "complete"
    assert client.post(f"{gone.get_absolute_url()}here/").status_code == 404


def test_every_page_carries_what_the_server_says_is_left(client: Client, wait: Clock) -> None:
    study = make_study(idle_minutes=60, idle_warning_minutes=10)
    person = participant_enter(study_id=study.pk, entry="x")
    for body in ({"page": "consent", "agree_0": "on"}, {"page": "guide"}, {}):
        page = client.get(person.get_absolute_url()).content.decode()
        assert 'data-warn-in="5' in page
        assert 'data-end-in="35' in page
        client.post(person.get_absolute_url(), body)


def test_to_open_a_page_is_an_action_that_the_page_knows_of(client: Client, wait: Clock) -> None:
    person = begun(make_study(idle_minutes=30, idle_warning_minutes=10))
    wait(9)
    page = client.get(person.get_absolute_url()).content.decode()
    assert 'data-warn-in="5' in page
    assert 'data-end-in="17' in page


def test_nobody_is_counted_who_is_gone(wait: Clock) -> None:
    study = make_study(idle_minutes=60, max_participants=2)
    first, second = begun(study, "a"), begun(study, "b")
    with pytest.raises(StudyClosedError):
        enter(study, "c")
    wait(59)
    participant_here(person=second)
    wait(2)
    assert time_out_idle() == 1
    third = enter(study, "c")
    assert third.sequence == Participant.objects.get(pk=first.pk).sequence
    with pytest.raises(StudyClosedError):
        enter(study, "d")


@pytest.mark.parametrize("status", ["timed_out", "technical"])
def test_an_end_by_staff_closes_the_kitchen_and_leads_to_its_page(client: Client, status: str) -> None:
    person = begun(make_study())
    assert participant_end(participant_id=person.pk, status=status, reason="broken")
    assert Episode.objects.get().ended_because == "broken"
    assert "The study has ended" in client.get(person.get_absolute_url()).content.decode()
    assert not participant_end(participant_id=person.pk, status=status)


def test_an_episode_that_staff_ended_leads_to_its_survey_which_says_so(client: Client) -> None:
    person = begun(make_study())
    end_episode(episode_id=Episode.objects.get().pk, reason="stuck")
    page: Any = client.get(person.get_absolute_url()).content.decode()
    assert 'data-page="survey"' in page
    assert "The study team ended this game" in page
    Episode.objects.update(ended_because=WITHOUT_MONEY)
    page = client.get(person.get_absolute_url()).content.decode()
    assert "The study team" not in page
    assert "This game ended early for a technical reason. It was not your fault." in page
