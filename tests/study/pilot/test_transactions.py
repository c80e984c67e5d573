"""Whoever plays never waits long for SQLite's one lock: no transaction of the product writes many rows."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection, transaction
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from kitchen.experiments import experiment_services
from kitchen.experiments.experiment_setup import ExperimentSetup, episode_jobs
from kitchen.experiments.models import Experiment, ExperimentEpisode
from kitchen.experiments.play_episodes import failed_row
from kitchen.experiments.setup_checks import check_setup
from kitchen.infra.database_writes import MAX_TRANSACTION_ROWS
from kitchen.play.episode.log_integrity import verify_episode_logs
from kitchen.play.models import Episode, SeatCommand, Step
from study.design.models import Study
from study.editor.design_services import study_delete
from study.participants.end_and_erase_participation import participant_withdraw
from study.participants.models import Participant
from study.participation.page_progress import finish_page
from study.pilot.previews import condition_preview
from study.pilot.synthetic import recorded_episodes, synthetic_participants
from tests.study.factories import enter, make_study
from tests.transactions import Watch, watched

pytestmark = [
    pytest.mark.servers,
    pytest.mark.sqlite,
    pytest.mark.skipif(connection.vendor != "sqlite", reason="one lock for all: SQLite"),
]

MANY = ExperimentSetup(
    coplayer="random", levels=("level_0",), agents=(2,), alphas=(1.0, 1.5, 2.0), episodes=270
)
LIMIT = 700
"""Rows that a transaction writes at most here, where episodes are short: fewer than `MOST_ROWS`."""
assert LIMIT < MAX_TRANSACTION_ROWS


def synthetic(study: Study, participants: int = 10) -> None:
    more = ("--participants", str(participants), "--recordings", "1", "--steps-per-episode", "15")
    call_command("make_synthetic", study.slug, *more, stdout=io.StringIO())


@pytest.mark.django_db(transaction=True)
def test_commands_that_write_much_write_few_rows_per_transaction(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(experiment_services, "queue_episodes", lambda *_: True)
    study = make_study(conditions=3)
    study.conditions.update(coplayer="random", teammates=3)
    setup = check_setup(MANY)
    done = {job.key: failed_row(job, "broken") for job in episode_jobs(setup)}

    def experiment() -> None:
        experiment_services.experiment_start(
            experiment=experiment_services.experiment_create(setup=setup, rows=done)
        )

    assert rows_of(experiment) >= 3 * len(done)  # written, adopted, begun anew
    assert rows_of(lambda: synthetic(study)) > 2 * LIMIT
    assert rows_of(lambda: call_command("erase_synthetic", study.slug, stdout=io.StringIO())) > 2 * LIMIT
    assert rows_of(lambda: call_command("seed_demo", stdout=io.StringIO())) > 20


def rows_of(does: Callable[[], object]) -> int:
    """How many it wrote in all; no transaction more than it may."""
    with watched() as watch:
        does()
    assert watch.most.rows <= LIMIT, watch.most
    return sum(held.rows for held in watch.all)


@pytest.mark.django_db(transaction=True)
def test_withdrawals_and_deletions_in_the_admin_write_few_rows_per_transaction(
    admin_client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(experiment_services, "queue_episodes", lambda *_: True)
    study = make_study(conditions=1)
    person = enter(study)
    finish_page(participant_id=person.pk, page="guide")
    long_log(Episode.objects.get())
    assert rows_of(lambda: participant_withdraw(participant_id=person.pk)) > 2 * LIMIT
    assert not Step.objects.exists() and not Episode.objects.exists()

    experiment = experiment_services.experiment_create(setup=check_setup(MANY))
    there = reverse("admin:kitchen_experiment_delete", args=[experiment.pk])
    assert rows_of(lambda: admin_client.post(there, {"post": "yes"})) > MANY.total
    assert not Experiment.objects.exists()

    condition_preview(condition=study.conditions.get())
    long_log(Episode.objects.get())
    assert rows_of(lambda: study_delete(study_id=study.pk)) > 2 * LIMIT
    assert not Study.objects.exists() and not Episode.objects.exists()


def long_log(episode: Episode) -> None:
    """More rows than one transaction writes."""
    numbers, now = range(1, 1 + LIMIT), timezone.now()
    Step.objects.bulk_create(
        Step(episode=episode, number=n, commands=[], events=[], score={}, opened_at=now, taken_at=now)
        for n in numbers
    )
    SeatCommand.objects.bulk_create(
        SeatCommand(episode=episode, step=n, seat=0, command=["noop"], chosen_by="person") for n in numbers
    )


@pytest.mark.django_db(transaction=True)
def test_programs_that_are_erased_while_they_are_made_are_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    study, enters = make_study(), synthetic_participants._Maker._enter

    def erased_before(maker: synthetic_participants._Maker, *told: Any) -> bool:
        call_command("erase_synthetic", study.slug, stdout=io.StringIO())
        return enters(maker, *told)

    monkeypatch.setattr(synthetic_participants._Maker, "_enter", erased_before)
    with pytest.raises(CommandError, match="programs of small were erased meanwhile"):
        synthetic(study, 3)
    assert not Participant.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_the_watch_sees_what_a_transaction_writes() -> None:
    study = make_study()
    with watched() as watch:
        make_study("another")
        with transaction.atomic():
            Study.objects.filter(pk=study.pk).update(title="One")
            Study.objects.update(title="Both")
        with pytest.raises(ZeroDivisionError), transaction.atomic():
            Study.objects.update(title="Taken back")
            raise ZeroDivisionError
    assert [held.rows for held in watch.all][-2:] == [3, 2]
    assert isinstance(watch, Watch) and all(held.seconds > 0 for held in watch.all)


@pytest.mark.django_db
def test_an_experiment_that_was_stopped_while_it_was_written_is_written_whole_at_its_start(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(experiment_services, "queue_episodes", lambda *_: True)
    experiment = experiment_services.experiment_create(setup=check_setup(MANY))
    experiment.episodes.filter(episode__gt=120).delete()
    experiment_services.experiment_start(experiment=experiment)
    assert ExperimentEpisode.objects.count() == MANY.total == 810


class KilledError(Exception):
    """As if the process had been killed."""


@pytest.mark.django_db
def test_an_interrupted_command_leaves_whole_participants_and_the_rest_is_erased(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    study = make_study()

    def killed(*_: object) -> bool:
        raise KilledError

    with monkeypatch.context() as patched:
        patched.setattr(synthetic_participants._Maker, "_enter", killed)
        with pytest.raises(KilledError):
            synthetic(study, 3)
    assert not Participant.objects.exists()
    assert Episode.objects.exists()
    call_command("erase_synthetic", study.slug, stdout=io.StringIO())
    assert not Episode.objects.exists()
    assert not Step.objects.exists()


@pytest.mark.django_db
def test_somebody_who_enters_while_copies_are_written_keeps_their_number(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    study, written = make_study(), recorded_episodes.make_copies
    came: list[Participant] = []

    def interrupted(*copies: object, **more: object) -> None:
        written(*copies, **more)  # type: ignore[arg-type]
        if not came:
            came.append(enter(study, "a person"))

    monkeypatch.setattr(synthetic_participants, "make_copies", interrupted)
    synthetic(study, 3)
    assert [person.number for person in Participant.objects.order_by("number")] == [1, 2, 3, 4]
    assert Participant.objects.get(number=1) == came[0]
    free = Episode.objects.filter(rounds=None, practised_by=None)
    assert not free.exists()
    assert all(verdict.holds for verdict in verify_episode_logs(Episode.objects.all()))
    assert SeatCommand.objects.exists()
