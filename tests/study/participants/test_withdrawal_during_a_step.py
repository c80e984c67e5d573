"""Somebody leaves while a step is being written: everything is erased all the same."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import pytest
from django.db import connection, transaction

from kitchen.contract.language_model import Call, Message, Reply, Request
from kitchen.play.episode import advance_episode as kitchen
from kitchen.play.episode import erase_episode
from kitchen.play.episode.advance_episode import submit_commands
from kitchen.play.models import CallMessage, Decision, Episode, Mind, Prompt, SeatCommand, Step
from kitchen.play.turn import decision_records
from kitchen.play.turn.submitted_commands import Receipt, SubmittedCommand, SubmittedDecision
from study.design.models import Condition
from study.participants.end_and_erase_participation import participant_withdraw
from study.participants.models import Participant
from study.participation.page_progress import finish_page
from tests.study.factories import SETTINGS, enter, make_study

pytestmark = pytest.mark.servers


@pytest.mark.django_db(transaction=True)
@pytest.mark.sqlite
@pytest.mark.skipif(connection.vendor != "sqlite", reason="a file of SQLite")
def test_no_file_of_the_database_knows_who_left() -> None:
    participant = enter(make_study(conditions=1), entry="somebody-who-leaves")
    Participant.objects.filter(pk=participant.pk).update(label="5f0e-their-name")
    file = Path(connection.settings_dict["NAME"])
    files = (file, file.with_name(f"{file.name}-wal"))
    names = (b"5f0e-their-name", participant.key.encode())
    assert all(any(name in one.read_bytes() for one in files) for name in names)
    participant_withdraw(participant_id=participant.pk)
    assert not any(name in one.read_bytes() for one in files for name in names)


@pytest.mark.django_db(transaction=True)
def test_leaving_while_steps_are_played_erases_everything() -> None:
    study = make_study(conditions=1)
    Condition.objects.update(settings={**SETTINGS, "max_steps": 900})
    participant = enter(study)
    finish_page(participant_id=participant.pk, page="guide")
    episode = Episode.objects.get()
    playing = threading.Event()

    def play() -> None:
        with suppress(Episode.DoesNotExist):
            for step in range(1, 900):
                submit_commands(episode_id=episode.pk, step=step, commands=[SubmittedCommand(0, ("noop",))])
                if Step.objects.filter(episode=episode.pk, number=3).exists():
                    playing.set()

    player = InThread(play)
    assert playing.wait(20)
    participant_withdraw(participant_id=participant.pk)
    player.finish()
    assert not Episode.objects.exists()
    assert not SeatCommand.objects.exists()


# Somebody leaves while somebody else's decision uses the same prompt


RECIPES, STATE = "the recipes", "the state of this very kitchen"


@pytest.fixture
def two() -> list[Participant]:
    """Two who play with a dispatcher; the first one's decision used the recipes, and so nobody else's yet."""
    study = make_study(conditions=1)
    Condition.objects.update(coplayer="dispatcher", coplayer_settings={"model": "stand-in"}, teammates=1)
    found = [enter(study, entry) for entry in ("leaves", "stays")]
    for participant in found:
        finish_page(participant_id=participant.pk, page="guide")
    hand_in(found[0])
    return found


def hand_in(participant: Participant) -> Receipt:
    """A decision for the first step of this participant's episode, as a worker hands it in."""
    episode = Episode.objects.get(rounds__participant=participant)
    request = Request("m", (Message("system", RECIPES), Message("user", STATE)))
    row = Decision(mind=Mind.objects.get(episode=episode), step=1, played_by="dispatcher", milliseconds=1)
    return submit_commands(
        episode_id=episode.pk,
        step=1,
        commands=[SubmittedCommand(1, ("noop",), "dispatcher")],
        decisions=[SubmittedDecision(row, (Call("stand-in", request, Reply("noop_agent1")),))],
    )


class InThread(threading.Thread):
    """Does something beside the test; `result` raises what it raised."""

    def __init__(self, doing: Callable[[], object]) -> None:
        super().__init__(daemon=True)
        self.doing = doing
        self.failed: Exception | None = None
        self.start()

    def run(self) -> None:
        try:
            self.doing()
        except Exception as error:
            self.failed = error
        finally:
            connection.close()

    def finish(self) -> None:
        self.join(30)
        assert not self.is_alive()
        if self.failed is not None:
            raise self.failed


def halted(monkeypatch: pytest.MonkeyPatch, where: Any, name: str) -> tuple[threading.Event, threading.Event]:
    """Whoever comes out of this function says so, and waits until it may go on."""
    there, on, real = threading.Event(), threading.Event(), getattr(where, name)

    def wait(*told: Any, **more: Any) -> Any:
        found = real(*told, **more)
        there.set()
        on.wait(20)
        return found

    monkeypatch.setattr(where, name, wait)
    return there, on


@pytest.mark.django_db(transaction=True)
def test_leaving_keeps_a_prompt_that_a_decision_is_just_using(
    two: list[Participant], monkeypatch: pytest.MonkeyPatch
) -> None:
    stored, go_on = halted(monkeypatch, kitchen, "store_calls")
    decision = InThread(lambda: hand_in(two[1]))
    assert stored.wait(20)
    leaving = InThread(lambda: participant_withdraw(participant_id=two[0].pk))
    leaving.join(0.5)
    go_on.set()
    decision.finish()
    leaving.finish()
    check_what_is_left()


@pytest.mark.django_db(transaction=True)
def test_a_decision_writes_a_prompt_anew_that_is_just_being_erased(
    two: list[Participant], monkeypatch: pytest.MonkeyPatch
) -> None:
    erased, go_on = halted(monkeypatch, erase_episode, "erase_unused_prompts")
    leaving = InThread(lambda: participant_withdraw(participant_id=two[0].pk))
    assert erased.wait(20)
    decision = InThread(lambda: hand_in(two[1]))
    decision.join(0.5)
    go_on.set()
    leaving.finish()
    decision.finish()
    check_what_is_left()


def check_what_is_left() -> None:
    """The one who stays has a decision with both its prompts."""
    assert Decision.objects.count() == 1
    assert set(Prompt.objects.values_list("text", flat=True)) == {RECIPES, STATE}
    assert set(CallMessage.objects.values_list("prompt__text", flat=True)) == {RECIPES, STATE}


@pytest.mark.django_db(transaction=True)
def test_decisions_and_leaving_in_any_order_never_wait_in_a_circle() -> None:
    """Many hand in the same prompts, in orders of their own, while others leave."""
    study = make_study(conditions=1)
    Condition.objects.update(coplayer="dispatcher", coplayer_settings={"model": "stand-in"}, teammates=1)
    people = [enter(study, str(number)) for number in range(6)]
    for participant in people:
        finish_page(participant_id=participant.pk, page="guide")
    texts = [f"prompt {number}" for number in range(30)]

    def use(participant: Participant, seed: int) -> None:
        for step in range(1, 4):
            mine = Random(f"{seed} {step}").sample(texts, 20)
            submit_prompts(participant, step, mine)
        participant_withdraw(participant_id=participant.pk)

    busy = [InThread(partial(use, participant, seed)) for seed, participant in enumerate(people)]
    for one in busy:
        one.finish()
    assert not Prompt.objects.exists()


def submit_prompts(participant: Participant, step: int, texts: Sequence[str]) -> None:
    """A decision's calls, one per prompt, stored in a transaction of their own."""
    found = Mind.objects.get(episode__rounds__participant=participant)
    requests = [Request("m", (Message("user", text),)) for text in texts]
    with transaction.atomic():
        Episode.objects.select_for_update().get(pk=found.episode_id)
        row = Decision.objects.create(mind=found, step=step, played_by="dispatcher", milliseconds=1)
        decision_records.store_calls([(row, [Call("stand-in", each, Reply("noop")) for each in requests])])
