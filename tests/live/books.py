"""Create episodes in the database of a running app, and read what was stored: `python -m tests.live.books`
answers lines of JSON.

It is a process of its own, so that the program that plays and measures need not load the app.
"""

from __future__ import annotations

import io
import json
import os
import select
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from random import Random
from typing import IO, Any, Self, TypeVar

from brigade.paths import base_dir
from kitchen.contract.organisation import Member, make_organisation
from kitchen.contract.world import Json
from kitchen.infra.os_processes import parent_death_hook

T = TypeVar("T")

ANSWER_SECONDS = 1200.0
"""Seconds that an answer may take."""

TRIES = 20
"""The number of attempts. Each waits for SQLite's lock as long as the product does."""
PREPARED = (
    "lobby_people",
    "model_tables",
    "seat_states",
    "stored_rows",
    "study_at_rest",
    "talk_tables",
    "visits",
)
"""Functions of `tests.live.attack_database`."""
LEVEL = {"level": "level_3", "alpha": 2.0, "beta": 2.5}


def start_program(module: str, environment: Mapping[str, str], *arguments: str) -> subprocess.Popen[str]:
    """Start a module as a program that reads from and writes to this process. It ends with this process."""
    return subprocess.Popen(
        [sys.executable, "-m", module, *arguments],
        cwd=base_dir(),
        env=dict(environment),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        preexec_fn=parent_death_hook(os.getpid()),
    )


class Books:
    """`with Books(environment) as books: books.ask("episodes", count=20)`."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = dict(environment)
        self._lock = threading.Lock()

    def __enter__(self) -> Self:
        self._process = start_program("tests.live.books", self._environment)
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()

    def ask(self, question: str, **arguments: Any) -> Any:
        """Call the function of this name below in the other process, and return its result. Raises
        RuntimeError if it fails, and TimeoutError after `ANSWER_SECONDS`.

        Threads wait for each other's answers. So a thread whose caller was cancelled still reads its own.
        """
        pipe: tuple[IO[str], IO[str]] = (self._process.stdin, self._process.stdout)  # type: ignore[assignment]
        with self._lock:
            print(json.dumps([question, arguments]), file=pipe[0], flush=True)
            if not select.select([pipe[1]], [], [], ANSWER_SECONDS)[0]:
                self._process.kill()  # a late answer would be taken for the next one
                raise TimeoutError(f"{question}: no answer from the books within {ANSWER_SECONDS:g} s")
            line = pipe[1].readline()
        if not line:
            raise RuntimeError(f"{question}: the books were closed, see above")
        return json.loads(line)

    def episodes(self, count: int, **table: Any) -> list[str]:
        """Create this number of episodes, and return the keys of the person's seat in each; see
        `table_laid`."""
        keys: list[list[str]] = self.ask("episodes", count=count, **table)
        return [key for (key,) in keys]


# In the process


def serve() -> None:
    """Answer requests until the input ends."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "brigade.settings")
    import django  # the settings read the environment of this process

    django.setup()
    from django.db import close_old_connections

    from tests.live.counting import TALLY  # it needs the settings

    TALLY.begin()
    for line in sys.stdin:
        question, arguments = json.loads(line)
        close_old_connections()  # the database may have died in between
        print(json.dumps(ANSWERS[question](**arguments)), flush=True)


def episodes(count: int, **table: Any) -> list[list[str]]:
    """Create episodes, and return the keys of the people's seats for each; see `table_laid`."""
    return [when_free(partial(table_laid, **table)) for _ in range(count)]


def when_free(act: Callable[[], T]) -> T:
    """Return the result of a call. Repeat it for some minutes while the database is locked, which happens on
    a busy machine."""
    from django.db import OperationalError  # the settings must be known first

    for _ in range(TRIES):
        with suppress(OperationalError):
            return act()
    return act()


def table_laid(
    *,
    people: int = 1,
    mates: int = 0,
    kind: str = "",
    settings: Json = None,
    steps: int = 1000,
    world: str = "cuisine",
    step_seconds: float | None = None,
    thinking_seconds: float = 0,
    chosen: Json = None,
    talks: bool = False,
) -> list[str]:
    """Create an episode of this world, and return the keys of the people's seats.

    In CuisineWorld, it is level_3 with the settings `chosen`. One agent of this kind commands the `mates`.
    Where the world offers fewer, the episode has fewer `steps`. If it `talks`, two people without agents may
    write to each other.
    """
    from kitchen.play.episode.create_episode import MindPlan, create_episode  # the app must be loaded first

    seats = tuple(range(people, people + mates))
    members = [Member(number, (number,), is_person=True) for number in range(people)]
    episode = create_episode(
        world=world,
        settings={**settings_of(world, steps), **(chosen or {})},
        step_seconds=step_seconds,
        thinking_seconds=thinking_seconds,
        seats=people + mates,
        seed=Random().getrandbits(31),
        minds=[MindPlan(kind, seats, settings or {})] if mates else [],
        audience="bench",  # staff may watch, as in a study
        organisation=make_organisation("pair", members, seats=people) if talks else None,
    )
    return [seat.key for seat in episode.seats.filter(mind=None)]


def study(file: str) -> str:
    """Load the study in this file, and return its address. It has no limit on simultaneous entries."""
    from study.design.study_files import study_from_file  # the app must be loaded first

    made = study_from_file(Path(file))
    made.entries_per_minute = None
    made.save(update_fields=["entries_per_minute"])
    return made.get_absolute_url()


def staff_session() -> str:
    """Create a member of staff who is logged in, and return the session cookie as `name=value`."""
    from django.conf import settings
    from django.contrib.auth.models import User
    from django.test import Client

    user, client = User.objects.create_user("uploads", is_staff=True), Client()
    client.force_login(user)
    return f"{settings.SESSION_COOKIE_NAME}={client.cookies[settings.SESSION_COOKIE_NAME].value}"


def staff_study(participants: int) -> dict[str, str]:
    """Return the slug of a study with this many synthetic participants, and a token and a login cookie of
    its owner. It is made at the first call."""
    from django.contrib.auth import get_user_model
    from django.core.management import call_command
    from django.test import Client

    from study.design.models import Study
    from study.design.study_files import study_from_file
    from study.researchers.api_tokens import token_make
    from tests.study.exports.bench_exports import STUDY

    owner, _ = get_user_model().objects.get_or_create(username="bench", is_staff=True, is_superuser=True)
    if not Study.objects.filter(slug="bench").exists():
        with tempfile.TemporaryDirectory() as folder:
            (file := Path(folder) / "study.toml").write_text(STUDY)
            study_from_file(file)
        made = ["--participants", str(participants), "--steps-per-episode", "20"]
        call_command("make_synthetic", "bench", *made, stdout=io.StringIO())
    browser = Client()
    browser.force_login(owner)
    cookies = "; ".join(f"{name}={morsel.value}" for name, morsel in browser.cookies.items())
    return {"slug": "bench", "token": token_make(user=owner, name="bench")[1], "cookie": cookies}


def prepared(question: str, **arguments: Any) -> Any:
    """Call a function of `tests.live.attack_database`."""
    from tests.live import attack_database  # it needs the models

    return getattr(attack_database, question)(**arguments)


def retitle(slug: str, title: str) -> None:
    """Give the study another title, so that its report is made again."""
    from study.design.models import Study

    Study.objects.filter(slug=slug).update(title=title)


def settings_of(world: str, steps: int) -> Json:
    """Return the settings with which a world is played in the benchmark."""
    from kitchen.registry.world_registry import get_kit, get_world

    if world == "cuisine":
        return {**LEVEL, "max_steps": steps}
    name, most = get_kit(world).steps, {each.name: each.maximum for each in get_world(world).settings}
    return {name: min(steps, int(most[name] or steps))} if name else {}


def laid(count: int, steps: int) -> list[tuple[str, list[str]]]:
    """Create these episodes, and describe them in words with the keys of their people; see
    `tests.live.laying`."""
    from tests.live.laying import in_words, tables

    return [(in_words(table), table_laid(steps=steps, **table)) for table in tables(count)]


def thinking(keys: list[str]) -> list[float]:
    """Return the milliseconds that the decisions of each step took together, in the episodes of these
    seats."""
    from django.db.models import Sum

    from kitchen.play.models import Decision

    decisions = Decision.objects.filter(mind__episode__seats__key__in=keys)
    sums = decisions.order_by().values("mind__episode", "step").annotate(all=Sum("milliseconds"))
    return [row["all"] for row in sums]


def counts(key: str, html: bool) -> dict[str, float]:
    """Count statements and thread changes; see `tests.live.counting`."""
    from tests.live.counting import counted  # it needs the settings

    return counted(key, html)


def faults(shown: list[Json]) -> list[str]:
    """List the faults of shown pages; see `tests.live.checking`."""
    from tests.live.checking import faults_in  # it needs the models

    return faults_in(shown)


def log_of(keys: list[str]) -> dict[str, int]:
    """Count what the logs of these seats' episodes contain: steps, commands of agents and people, fallbacks,
    people whose time ran out, and agents' decisions without effect."""
    from kitchen.play.models import Decision, SeatCommand, Step
    from kitchen.play.turn.step_timer import TIMEOUT

    rows = SeatCommand.objects.filter(episode__seats__key__in=keys).distinct()
    ran_out = rows.filter(chosen_by=TIMEOUT).count()
    return {
        "steps": Step.objects.filter(episode__seats__key__in=keys).distinct().count(),
        "commands": rows.count(),
        "fallbacks": rows.exclude(fallback="").count() - ran_out,
        "time-outs": ran_out,
        "decisions in vain": Decision.objects.filter(mind__episode__seats__key__in=keys)
        .exclude(dropped="")
        .distinct()
        .count(),
    }


def called(keys: list[str]) -> list[tuple[str, str, str]]:
    """Return the language-model calls in these seats' episodes: the agent, the model that answered, and the
    error."""
    from kitchen.play.models import ModelCall

    calls = ModelCall.objects.filter(decision__mind__episode__seats__key__in=keys).distinct().order_by("pk")
    return list(calls.values_list("decision__played_by", "model_named", "error"))


def ticked(keys: list[str]) -> dict[str, int]:
    """Return the number of late steps and the milliseconds lost in these seats' episodes."""
    from django.db.models import Sum

    from kitchen.play.models import Ticking

    rows = Ticking.objects.filter(episode__seats__key__in=keys)
    return rows.aggregate(late=Sum("late"), lost_ms=Sum("lost_ms"))


ANSWERS: Mapping[str, Callable[..., Any]] = {
    "called": called,
    "counts": counts,
    "episodes": episodes,
    "faults": faults,
    "study": study,
    "laid": laid,
    "staff_session": staff_session,
    "log_of": log_of,
    "retitle": retitle,
    "staff_study": staff_study,
    "thinking": thinking,
    "ticked": ticked,
    **{name: partial(prepared, name) for name in PREPARED},
}


if __name__ == "__main__":
    serve()
