"""Measure how long the largest writers hold SQLite's only write lock: `python -m
tests.study.pilot.bench_locks`.

The program makes a database, and runs the operations that write most. For each, it prints the longest time
and the most rows of one transaction. Exit code 1: a transaction took more than 100 ms of processor time,
which other programs do not change.
"""

from __future__ import annotations

import gc
import io
import os
import sys
import tempfile
from collections.abc import Callable

import django
from django.conf import settings
from django.core.management import call_command

MOST = 0.1
"""The maximum time in seconds that a transaction may hold the lock."""
LEVEL_3 = {"level": "level_3", "alpha": 2.0, "beta": 2.5, "max_steps": 60}


def main() -> int:
    """Measure all operations. Return how many took too long."""
    with tempfile.TemporaryDirectory(prefix="brigade-bench-") as folder:
        os.environ |= {"BRIGADE_VAR": folder, "DJANGO_SETTINGS_MODULE": "brigade.settings"}
        django.setup()
        settings.DEBUG = False  # where every statement is written out for the log
        call_command("migrate", verbosity=0)
        deeds = _deeds()
        gc.freeze()  # what is loaded by now is not looked at again and again in somebody's transaction
        return sum(_too_long(name, does) for name, does in deeds.items())


def _deeds() -> dict[str, Callable[[], object]]:
    """Return the operations by name. Each uses the rows that the earlier ones wrote. Models are imported
    here, because Django is not set up earlier."""
    from kitchen.experiments import experiment_services
    from kitchen.experiments.experiment_setup import ExperimentSetup
    from kitchen.experiments.setup_checks import check_setup
    from study.participants.end_and_erase_participation import participant_withdraw
    from study.participants.models import Participant
    from tests.study.factories import make_study

    study = make_study(conditions=4)
    study.conditions.update(coplayer="dispatcher", teammates=3, settings=LEVEL_3)
    setup = check_setup(
        ExperimentSetup(coplayer="random", agents=(2, 3, 4), alphas=(1.0, 1.5, 2.0), episodes=180)
    )
    few = ("--participants", "20", "--recordings", "1")
    return {
        f"an experiment of {setup.total} episodes": lambda: experiment_services.experiment_create(
            setup=setup
        ),
        "make_synthetic": lambda: call_command("make_synthetic", study.slug, *few, stdout=io.StringIO()),
        "one who withdraws": lambda: participant_withdraw(participant_id=Participant.objects.all()[0].pk),
        "erase_synthetic": lambda: call_command("erase_synthetic", study.slug, stdout=io.StringIO()),
        "seed_demo": lambda: call_command("seed_demo", stdout=io.StringIO()),
    }


def _too_long(name: str, does: Callable[[], object]) -> bool:
    from tests.transactions import watched

    with watched() as watch:
        does()
    held = max(watch.all, key=lambda each: each.processor)
    clock = f"{watch.longest.seconds * 1000:.0f} ms on the clock"
    print(f"{name}: at most {held.processor * 1000:.0f} ms of the processor, {clock}, {watch.most.rows} rows")
    return held.processor > MOST


if __name__ == "__main__":
    sys.exit(main())
