"""`manage.py verify_replays`: what it says, and its exit codes."""

from __future__ import annotations

import io
from dataclasses import replace

import pytest
from django.core.management import CommandError, call_command
from django.db import transaction

from kitchen.play.episode.log_integrity import verify_episode_logs
from kitchen.play.models import Episode
from kitchen.replay import replay_verification
from kitchen.replay.replay_verification import CLOCK, PLATFORM_DECIDED, ReplayVerdict
from kitchen.worlds.cuisine.dispatcher import agent as dispatcher_agent
from kitchen.worlds.cuisine.dispatcher.reply_extraction import ExtractedCommands
from study.management.commands.verify_replays import of_models
from tests.study.factories import complete, make_study
from tests.study.management.test_verify_log import change

pytestmark = pytest.mark.django_db


CHANGES = {
    "state_hash = replace(state_hash, substr(state_hash, 1, 1), 'x')": "step 2 leads to another state",
    "events = '[]'": "in step 2 something else happens",
    "score = replace(score, '0', '1')": "after step 2 the score is another one",
    "commands = replace(commands, 'person', 'perzon')": "step 2 is not what was written",
    "commands = '[7]'": "what was commanded in step 2 cannot be read",
}
"""What somebody writes over the log, and what is said of it."""
WHERE = "WHERE number = 2 AND episode_id = %s"


def verify(slug: str) -> tuple[int, list[str]]:
    """Its exit code, and its lines."""
    out = io.StringIO()
    try:
        call_command("verify_replays", slug, stdout=out)
    except CommandError as error:
        return error.returncode, [*out.getvalue().splitlines(), str(error)]
    return 0, out.getvalue().splitlines()


def test_every_episode_of_a_study_replays_and_a_byte_that_was_changed_is_found() -> None:
    complete(study := make_study())
    assert verify(study.slug) == (0, ["2 of 2 episodes replay to the same states"])
    episode = Episode.objects.order_by("pk")[0]
    for statement, why in CHANGES.items():
        with transaction.atomic():
            change(f"UPDATE kitchen_step SET {statement} {WHERE}", episode.pk)  # noqa: S608 - ours
            said = verify(study.slug)
            transaction.set_rollback(True)
        assert said == (1, [f"{episode.key}: {why}", "1 of 2 episodes replay to the same states"])


def test_what_models_decided_is_decided_again_from_their_stored_replies() -> None:
    study = make_study(conditions=1)
    study.conditions.update(coplayer="dispatcher", teammates=1)
    call_command(
        "make_synthetic", study.slug, "--participants", "1", "--recordings", "1", stdout=io.StringIO()
    )
    assert verify(study.slug) == (
        0,
        [
            "3 decisions of language models made again, from 3 stored replies",
            "1 of 1 episode replays to the same states",
        ],
    )


def test_text_that_this_version_reads_differently_is_a_note_if_the_seal_is_valid(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    study = make_study(conditions=1)
    study.conditions.update(coplayer="dispatcher", teammates=1)
    call_command(
        "make_synthetic", study.slug, "--participants", "1", "--recordings", "1", stdout=io.StringIO()
    )
    monkeypatch.setattr(dispatcher_agent, "extract_from_reply", lambda *_, **__: ExtractedCommands())
    key = Episode.objects.get().key
    why = f"{key}: step 1, co-player 0: the reply is read differently by this version"
    code, said = verify(study.slug)
    assert (code, said[0]) == (0, f"{why} (a note: its seal is valid)")
    assert said[-1] == "1 of 1 episode replays to the same states"
    unsealed = [replace(each, is_sealed=False) for each in verify_episode_logs(Episode.objects.all())]
    monkeypatch.setattr(replay_verification, "verify_episode_logs", lambda _: unsealed)
    code, said = verify(study.slug)
    assert (code, said[0], said[-1]) == (1, why, "0 of 1 episode replays to the same states")


def test_it_is_said_why_decisions_could_not_be_made_again() -> None:
    verdicts = [
        ReplayVerdict("a", "", 3, 1, (CLOCK, CLOCK)),
        ReplayVerdict("b", "", 2, 1, (PLATFORM_DECIDED,)),
    ]
    assert of_models(verdicts) == (
        "2 decisions of language models made again, from 2 stored replies; "
        "3 could not be (docs/commands.md): "
        "2 because a clock took the steps, 1 because it was late or failed"
    )


def test_no_replies_are_mentioned_where_co_players_decided_by_rule() -> None:
    assert of_models([ReplayVerdict("a", "", 3)]) == "3 decisions made again"
    left = of_models([ReplayVerdict("a", "", 1, 0, (CLOCK,))])
    assert left.startswith("0 decisions made again; 1 could not be") and "replies" not in left


def test_a_study_that_is_not_there_is_a_wrong_argument() -> None:
    assert verify("nowhere")[0] == 2
