"""A process with the app loaded, beside the running stack on the same database: makes episodes by the
product's own services, and reads what was stored. `python -m tests.live.books` answers JSON lines.

A process of its own, so that whoever plays and measures need not load the app.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from random import Random
from typing import IO, Any, Self

from brigade.places import base_dir
from brigade.supervise import tied_to

LEVEL = {"level": "level_3", "alpha": 2.0, "beta": 2.5}


class Books:
    """`with Books(environment) as books: books.ask("episodes", count=20)`."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = dict(environment)

    def __enter__(self) -> Self:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.live.books"],
            cwd=base_dir(),
            env=self._environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            preexec_fn=tied_to(os.getpid()),
        )
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()

    def ask(self, question: str, **arguments: Any) -> Any:
        """What the function of this name below answers; RuntimeError where it fails."""
        pipe: tuple[IO[str], IO[str]] = (self._process.stdin, self._process.stdout)  # type: ignore[assignment]
        print(json.dumps([question, arguments]), file=pipe[0], flush=True)
        if not (line := pipe[1].readline()):
            raise RuntimeError(f"{question}: the books were closed, see above")
        return json.loads(line)

    def episodes(self, count: int, *, mates: int = 0, kind: str = "", steps: int = 1000) -> list[str]:
        """Keys of the person's seat of so many new episodes of level_3."""
        return [key for _, key in self.ask("episodes", count=count, mates=mates, kind=kind, steps=steps)]


# In the process


def serve() -> None:
    """Answer until nobody asks any more."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "brigade.settings")
    import django  # the settings read the environment of this process

    django.setup()
    from tests.live.counting import TALLY  # it needs the settings

    TALLY.begin()
    for line in sys.stdin:
        question, arguments = json.loads(line)
        print(json.dumps(ANSWERS[question](**arguments)), flush=True)


def episodes(count: int, mates: int, kind: str, steps: int) -> list[tuple[int, str]]:
    """Number and key of the person's seat of each."""
    from kitchen.play.services import MindPlan, episode_create  # the app must be loaded first

    minds = [MindPlan(kind, tuple(range(1, mates + 1)))] if mates else []
    made = []
    for _ in range(count):
        episode = episode_create(
            world="cuisine",
            settings={**LEVEL, "max_steps": steps},
            seats=1 + mates,
            seed=Random().getrandbits(31),
            minds=minds,
        )
        made.append((episode.pk, episode.seats.get(number=0).key))
    return made


def thinking(keys: list[str]) -> list[float]:
    """Milliseconds that each step's decisions took together, of the episodes of these seats."""
    from django.db.models import Sum

    from kitchen.play.models import Decision

    decisions = Decision.objects.filter(mind__episode__seats__key__in=keys)
    sums = decisions.order_by().values("mind__episode", "step").annotate(all=Sum("milliseconds"))
    return [row["all"] for row in sums]


def counts(key: str, html: bool) -> dict[str, float]:
    """See `tests.live.counting`."""
    from tests.live.counting import counted  # it needs the settings

    return counted(key, html)


ANSWERS: Mapping[str, Callable[..., Any]] = {"counts": counts, "episodes": episodes, "thinking": thinking}


if __name__ == "__main__":
    serve()
