"""Somebody leaves while a step is being written: everything is erased all the same."""

from __future__ import annotations

import threading
import time

import pytest
from django.db import connection

from kitchen import services as kitchen
from kitchen.models import Episode, SeatCommand
from study import services
from study.models import Condition
from tests.study.factories import SETTINGS, enter, make_study


@pytest.mark.django_db(transaction=True)
def test_leaving_while_steps_are_played_erases_everything() -> None:
    study = make_study(conditions=1)
    Condition.objects.update(settings={**SETTINGS, "max_steps": 900})
    participant = enter(study)
    services.guide_read(participant_id=participant.pk)
    episode = Episode.objects.get()
    left = threading.Event()

    def play() -> None:
        for step in range(1, 900):
            try:
                order = kitchen.SeatOrder(0, ("noop",))
                kitchen.commands_submit(episode_id=episode.pk, step=step, orders=[order])
            except Episode.DoesNotExist:
                break
            if left.is_set():
                break
        connection.close()

    player = threading.Thread(target=play)
    player.start()
    time.sleep(0.2)
    services.participant_withdraw(participant_id=participant.pk)
    left.set()
    player.join(20)
    assert not Episode.objects.exists()
    assert not SeatCommand.objects.exists()
