"""`manage.py verify_log`: what it says, and its exit codes."""

from __future__ import annotations

import io

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.db import DatabaseError, connection, transaction

from kitchen.infra.append_only import trigger_name
from kitchen.play.models import Episode, Step
from study.participants.models import Round, StaffAction
from tests.kitchen.factories import make_episode, submit
from tests.kitchen.play.turn.test_log_chain import seal_of_before
from tests.study.factories import complete, enter, make_study

pytestmark = [pytest.mark.django_db, pytest.mark.servers, pytest.mark.sqlite]


def verify(*slug: str) -> tuple[int, list[str]]:
    """Its exit code, and its lines."""
    out = io.StringIO()
    try:
        call_command("verify_log", *slug, stdout=out)
    except CommandError as error:
        return error.returncode, [*out.getvalue().splitlines(), str(error)]
    return 0, out.getvalue().splitlines()


def change(statement: str, *values: int) -> None:
    connection.check_constraints()
    on = " ON kitchen_step" if connection.vendor == "postgresql" else ""
    with connection.cursor() as cursor:
        cursor.execute(f"DROP TRIGGER IF EXISTS {trigger_name('kitchen_step')}{on}")
        cursor.execute(statement, values)


def test_every_episode_of_a_study_is_told_of_and_copies_have_chains_of_their_own() -> None:
    study = make_study()
    study.conditions.filter(key="c1").update(coplayer="random", teammates=1)
    call_command(
        "make_synthetic", study.slug, "--participants", "3", "--recordings", "1", stdout=io.StringIO()
    )
    outside = make_episode()
    assert submit(outside, 1, "noop").accepted
    theirs = Episode.objects.exclude(pk=outside.pk).count()
    steps = Step.objects.exclude(episode=outside).count()
    code, lines = verify(study.slug)
    assert code == 0
    assert len(lines) == theirs + 1
    assert lines[-1].startswith(f"{theirs} episodes, {steps} steps: {theirs} hold, 0 changed, 0 written")
    assert f"{outside.key}: 1 step, holds so far, {Step.objects.get(episode=outside).chain}" in verify()[1]


def test_a_changed_step_is_named_with_its_episode_and_so_is_the_lost_trigger() -> None:
    episode = make_episode()
    assert submit(episode, 1, "noop").accepted
    change("UPDATE kitchen_step SET events = '[]' WHERE episode_id = %s", episode.pk)
    code, lines = verify()
    assert code == 1
    assert lines == [
        "kitchen_step: rows can be changed, the database's trigger is gone or another one",
        f"{episode.key}: step 1 is not what was written",
        "1 episode, 1 step: 0 hold, 1 changed, 0 written before there were chains",
    ]


def test_an_episode_that_was_given_to_somebody_else_is_found() -> None:
    study = make_study()
    mine, theirs = (complete(study, name).rounds.first() for name in ("mine", "theirs"))
    assert mine and theirs and mine.episode and theirs.episode and verify()[0] == 0
    Round.objects.filter(pk=mine.pk).update(episode=theirs.episode)
    Round.objects.filter(pk=theirs.pk).update(episode=mine.episode)
    code, lines = verify(study.slug)
    assert code == 1
    for episode in (mine.episode, theirs.episode):
        assert f"{episode.key}: it belongs to somebody else than when it was sealed" in lines


def test_a_log_of_before_is_no_fault() -> None:
    episode = make_episode()
    assert submit(episode, 1, "noop").accepted
    change("UPDATE kitchen_step SET chain = ''")
    assert "step 1 has no chain" in verify()[1][1]
    seal_of_before(episode)
    _, lines = verify()
    assert lines[1] == f"{episode.key}: 1 step, written before there were chains"


def test_a_study_that_is_not_there_is_a_wrong_argument() -> None:
    code, lines = verify("nowhere")
    assert code == 2
    assert len(lines) == 1


def test_what_staff_did_cannot_be_changed_and_forgets_a_user_who_is_deleted() -> None:
    study, user = make_study(), User.objects.create_user("anna")
    person = enter(study)
    StaffAction.objects.create(
        study=study, participant=person, user=user, user_name="anna", action="exclude", reason="asleep"
    )
    for column in ("reason", "user_name", "user_id", "at"):
        statement = f"UPDATE study_staffaction SET {column} = {column}"  # noqa: S608 - names of ours
        with pytest.raises(DatabaseError, match="append-only"), transaction.atomic():
            connection.cursor().execute(statement)
    user.delete()
    assert StaffAction.objects.get().user is None
