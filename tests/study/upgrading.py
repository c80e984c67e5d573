"""A database of before studies had parts and versions: filled, brought up to date, looked at.

Run inside the app on an empty database of its own, by the shell: `upgrade()` prints what it finds as JSON.
"""

from __future__ import annotations

import json
from typing import Any

from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.test import Client
from django.utils import timezone

from kitchen.play.models import Episode
from kitchen.registry.world_registry import get_world
from study.design.models import Study
from study.participants import next_page
from study.participants.models import Participant
from study.participation.enter_study import participant_enter
from study.participation.page_progress import answers_submit
from study.pilot.bots.http_browser import read_page

BEFORE = [("kitchen", "0003_experiment"), ("study", "0002_models_and_money")]
FIRST = [("study", "0009_given_code")]
SETTINGS = {"level": "level_0", "alpha": 2.0, "beta": 2.5, "max_steps": 3}
PEOPLE: dict[str, dict[str, Any]] = {
    "unread": {"guide": False, "answered": 0},
    "plays": {"guide": True, "answered": 1},
    "asked": {"guide": True, "answered": 0, "over": True},
    "complete": {"guide": True, "answered": 2},
}
"""Where everybody was: guide read, rounds answered, and whether the episode that is on has ended."""


def upgrade() -> None:
    """Make the old database, bring it up to date, say what is there now."""
    executor = MigrationExecutor(connection)
    executor.migrate(BEFORE)
    fill(executor.loader.project_state(BEFORE).apps)
    executor = MigrationExecutor(connection)
    executor.migrate(executor.loader.graph.leaf_nodes())
    print(json.dumps(found()))


def upgrade_first() -> dict[str, Any]:
    """Make the old database and run the migrations that gave studies parts and versions. Return what is there
    then, in the models of then."""
    executor = MigrationExecutor(connection)
    executor.migrate(BEFORE)
    fill(executor.loader.project_state(BEFORE).apps)
    executor = MigrationExecutor(connection)
    executor.migrate(FIRST)
    apps = executor.loader.project_state(FIRST).apps
    people = list(apps.get_model("study", "Participant").objects.order_by("number"))
    answers = apps.get_model("study", "Answer").objects.order_by("id")
    return {
        "texts": dict(apps.get_model("study", "StudyPart").objects.values_list("kind", "text")),
        "statuses": [person.status for person in people],
        "codes": [person.given_code == person.completion_code for person in people],
        "versions": sorted({person.version.number for person in people}),
        "conditions": [one["key"] for one in people[0].version.document["conditions"]],
        "answers": [
            [row.participant.code, row.round.position, row.item.key, row.value] for row in answers.iterator()
        ],
    }


def fill(apps: Any) -> None:
    """A study with its people, as the models of then wrote it."""
    study = apps.get_model("study", "Study").objects.create(
        slug="old", title="Old", seed=5, welcome="Hello.", consent="I *agree*.", ending="Bye.", entered=4
    )
    for key in ("first", "second"):
        row = {"key": key, "name": key, "label": f"Team {key}", "settings": SETTINGS}
        apps.get_model("study", "Condition").objects.create(study=study, **row)
    for key in ("trust", "fun"):
        apps.get_model("study", "SurveyItem").objects.create(
            study=study, key=key, measure=key, text=f"{key}?"
        )
    for number, (name, state) in enumerate(PEOPLE.items(), start=1):
        _person(apps, study, number, name, **state)


def _person(
    apps: Any, study: Any, number: int, name: str, *, guide: bool, answered: int, over: bool = False
) -> None:
    complete = name == "complete"
    person = apps.get_model("study", "Participant").objects.create(
        study=study,
        number=number,
        code=name,
        entry=name,
        key=f"key-{name}",
        consent_hash="0" * 64,
        status="complete" if complete else "active",
        guide_read_at=timezone.now() if guide else None,
        ended_at=timezone.now() if complete else None,
    )
    for position, condition in enumerate(study.conditions.order_by("id"), start=1):
        done = position <= answered
        on = guide and position == answered + 1
        one = apps.get_model("study", "Round").objects.create(
            participant=person,
            condition=condition,
            position=position,
            episode=_episode(apps, over=done or over) if done or on else None,
            answered_at=timezone.now() if done else None,
        )
        for value, item in enumerate(study.items.order_by("id") if done else (), start=position):
            apps.get_model("study", "Answer").objects.create(round=one, item=item, value=value)


def _episode(apps: Any, *, over: bool) -> Any:
    world = get_world("cuisine").create(seats=1, settings=SETTINGS)
    world.reset(1)
    episode = apps.get_model("kitchen", "Episode").objects.create(
        world="cuisine",
        world_version=world.version,
        settings=SETTINGS,
        seed=1,
        status="over" if over else "playing",
        state=world.to_dict(),
        state_hash=world.state_hash(),
        score=world.score(),
        decision_seconds=30,
        turn_opened_at=timezone.now(),
    )
    apps.get_model("kitchen", "Seat").objects.create(episode=episode, number=0)
    return episode


def found() -> dict[str, Any]:
    """What is there, and which page everybody's link shows; then somebody goes on."""
    study = Study.objects.get(slug="old")
    people = list(study.participants.all())
    pages = {person.code: [next_page.current_page(person).page, _shown(person)] for person in people}
    return {
        "texts": {part.kind: part.text for part in study.parts.all()},
        "pages": pages,
        "shown": [study.shown, *Episode.objects.order_by().values_list("shown", flat=True).distinct()],
        "statuses": [person.status for person in people],
        "codes": [person.given_code == person.completion_code for person in people],
        "versions": sorted({person.version.number for person in people}),
        "conditions": [one.key for one in people[0].version.blueprint.conditions],
        "answers": _answers(study),
        "asks": [study.scores_above_surveys, study.remind_teams],
        "after": _went_on(study),
        "newcomer": _newcomer(study),
    }


def _shown(person: Participant) -> str:
    answer = Client(SERVER_NAME="127.0.0.1").get(person.get_absolute_url())
    return read_page(answer.content.decode(), url="http://test/", status=answer.status_code).kind


def _answers(study: Study) -> list[Any]:
    rows = [row for person in study.participants.all() for row in person.answers.order_by("id")]
    return [[row.participant.code, row.round and row.round.position, row.item.key, row.value] for row in rows]


def _went_on(study: Study) -> str:
    person = study.participants.get(code="asked")
    answers_submit(participant_id=person.pk, page="survey", position=1, values={"trust": 2, "fun": 5})
    return next_page.current_page(person).page


def _newcomer(study: Study) -> list[Any]:
    person = participant_enter(study_id=study.pk, entry="new")
    return [person.number, person.version.number, next_page.current_page(person).page]
