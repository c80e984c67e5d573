"""A database of the last version with single migrations is taken over: its people go on where they were.

`data/before_squash_*.sql.gz` are dumps of it. Their study was made before studies had parts and versions, and
was brought up to that version by its migrations.
"""

from __future__ import annotations

import gzip
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder
from django.test import Client

from kitchen.infra.append_only import unguarded_tables
from kitchen.infra.db_errors import database_is_newer, missing_migrations
from kitchen.play.models import Episode
from study.design.models import Study
from study.participants import next_page
from study.participants.models import Participant
from study.participation.enter_study import participant_enter
from study.participation.page_progress import answers_submit
from study.pilot.bots.http_browser import read_page
from tests.template import Template, create_database, drop_database, named

pytestmark = [pytest.mark.servers, pytest.mark.sqlite]

EXPECTED = {
    "texts": {"welcome": "Hello.", "consent": "I *agree*.", "end": "Bye."},
    "statuses": ["active", "active", "active", "complete"],
    "codes": [False, False, False, True],
    "versions": [1],
    "conditions": ["first", "second"],
    "answers": [
        ["plays", 1, "trust", 1],
        ["plays", 1, "fun", 2],
        ["complete", 1, "trust", 1],
        ["complete", 1, "fun", 2],
        ["complete", 2, "trust", 2],
        ["complete", 2, "fun", 3],
    ],
    "pages": {
        "unread": ["guide", "guide"],
        "plays": ["play", "play"],
        "asked": ["survey", "survey"],
        "complete": ["end", "end"],
    },
    "shown": ["tables", "tables"],
    "asks": [True, False],
    "after": "play",
    "newcomer": [5, 2, "consent"],
}


@pytest.fixture
def old_database(tmp_path: Path) -> Iterator[None]:
    """The connection leads to a new database, filled from the dump."""
    before, server = connection.settings_dict["NAME"], Template().server
    name = f"brigade_old_{secrets.token_hex(4)}" if server else str(tmp_path / "db.sqlite3")
    address = named(server, name) if server else ""
    create_database(address)
    connection.close()
    connection.settings_dict["NAME"] = name
    dump = Path(__file__).parent / "data" / f"before_squash_{connection.vendor}.sql.gz"
    statements = gzip.decompress(dump.read_bytes()).decode()
    with connection.cursor() as cursor:
        if server:
            cursor.execute(statements)
        else:
            cursor.executescript(statements)
    yield
    connection.close()
    connection.settings_dict["NAME"] = before
    drop_database(address)


@pytest.mark.django_db(transaction=True)
def test_a_database_of_the_last_version_is_taken_over_and_everybody_goes_on(old_database: None) -> None:
    assert missing_migrations()
    call_command("migrate", verbosity=0)
    assert (missing_migrations(), database_is_newer(), unguarded_tables()) == ([], False, [])
    assert found() == EXPECTED


@pytest.mark.django_db(transaction=True)
def test_a_database_of_a_version_before_is_refused_and_left_as_it_is(old_database: None) -> None:
    recorded = MigrationRecorder.Migration.objects
    recorded.filter(app="study", name__gte="0043").delete()
    before = set(recorded.values_list("app", "name"))
    with pytest.raises(
        CommandError, match=r"without study 0043_keeps_devices: migrate it with commit .* first"
    ):
        call_command("migrate", verbosity=0)
    assert set(recorded.values_list("app", "name")) == before


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
