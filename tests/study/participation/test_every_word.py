"""Everything that participants read can be translated, and is: their pages in a language of brackets."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from django.conf import settings
from django.template import Template
from django.test import Client
from django.test.signals import template_rendered
from django.utils import timezone, translation

from brigade.error_pages import DETAILS, error_page
from brigade.error_pages import PAGES as STATUSES
from kitchen.contract.page import Panel
from kitchen.play.live import render_page
from kitchen.play.live.common_panels import (
    Bar,
    Clock,
    EpisodeEnd,
    Line,
    Partner,
    PassButton,
    Phase,
    QuickReplies,
    Talk,
)
from kitchen.play.live.job_panels import JobCard, JobsPanel, RosterPanel, WorkerJob, WorkerStatus
from kitchen.play.live.leader_panels import GivenJob, IdleMember, JobAim, TeamNews
from kitchen.play.live.plan_panels import Plan, PlanOption, PlanOptions, Plans
from study.design.models import Outcome, Study, StudyPart, SurveyItem
from study.design.part_order import PAGES_BEFORE_ROUNDS
from study.participants.models import EntryPause, PageVisit, Participant
from study.participation.enter_study import consent_given, participant_enter
from tests.bracketed import CODE, bare_words, own_words_in_brackets, speak_in_brackets
from tests.study.factories import SETTINGS, make_study, play_out
from tests.study.participation.test_views import field, text_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def study(tmp_path: Path, settings: Any) -> Study:
    """Every part and every kind of question, in brackets."""
    speak_in_brackets(tmp_path / "locale", settings)
    made = make_study(conditions=1, items=1, recruitment="prolific")
    for kind in ("welcome", "about", "check", "final", "debriefing", "practice"):
        StudyPart.objects.create(study=made, kind=kind, text="" if kind == "practice" else "Some words.")
    made.parts.filter(kind="practice").update(settings={"kitchen": {"settings": SETTINGS}})
    asked = {"about": "text", "check": "single", "final": "team", "survey": "number"}
    for number, (place, kind) in enumerate(asked.items()):
        SurveyItem.objects.create(
            study=made,
            key=f"k{number}",
            measure=f"M {number}",
            place=place,
            kind=kind,
            text="A question.",
            options=["One of them", "Another one"] if kind == "single" else [],
            correct="Another one" if place == "check" else None,
            minimum=0,
            maximum=100,
            step=5,
            low="Low",
            position=10 + number,
        )
    for kind in Outcome.Kind.values:
        Outcome.objects.create(
            study=made, kind=kind, text="Words of an end.", url="https://example.org/{code}"
        )
    own_words_in_brackets(made)
    return made


LINK = "/s/small/?PROLIFIC_PID=p1"
TEMPLATES = Path(settings.BASE_DIR) / "templates"
PAGES = sorted((TEMPLATES / "study" / "taking_part").glob("*.html"))


def card(state: str) -> JobCard:
    words = {"who": "⟦Robot⟧ 1", "text": "⟦do⟧", "words": "⟦done⟧", "why": "⟦so⟧"}
    return JobCard(3, state=state, step=2, acts=True, **words)


ERRAND = WorkerJob(
    3,
    "⟦do⟧",
    "given",
    "⟦begun⟧",
    "⟦so⟧",
    2,
    open=True,
    silent=30,
    can_be_given_again=False,
    aim="",
    leader_text="",
)
FAILED_ERRAND = ERRAND._replace(open=False, silent=0, can_be_given_again=True, leader_text="⟦do⟧")
SHELL = (
    ("bar", Bar(3, None, "choose")),
    ("phase", Phase("thinking", ("⟦Robot⟧ 2", "⟦Robot⟧ 3"))),
    ("clock", Clock("20", "12.00", choosing=True, step=3)),
    ("clock", Clock("20", "", choosing=True, step=0)),
    ("phase", Phase("thinking", (), passed_by=True)),
    ("plan", Plan(3, True, (), "")),
    ("plan_options", PlanOptions((("⟦Go⟧", (PlanOption('["do"]', "⟦do⟧", "at=a", "at=b"),)),))),
    ("replies", QuickReplies(("⟦said⟧",))),
    ("plans", Plans((("⟦Robot⟧ 2", ("⟦Wait⟧",)),))),
    ("plan", Plan(3, False, ("⟦Wait⟧",), "")),
    ("plan", Plan(3, False, (), "", "⟦Wait⟧")),
    ("over", EpisodeEnd(over=True, step=3, ended_by_staff=True)),
    ("over", EpisodeEnd(over=True, step=3, ended_technically=True)),
    ("over", EpisodeEnd(over=True, step=3, abandoned_because="⟦nothing happened⟧")),
    ("over", EpisodeEnd(over=True, step=3, goal="⟦Well done⟧")),
    ("talk", Talk(0)),
    ("jobs", JobsPanel()),
    ("job", card("given")),
    ("job", card("accepted")),
    ("phase", Phase("lead", ())),
    ("phase", Phase("lead", ("⟦Robot⟧ 2",))),
    ("phase", Phase("lead", (), leads_now=True)),
    ("pass", PassButton(True, step=3)),
    ("roster", RosterPanel()),
    ("job_aim", JobAim('["do"]', "⟦do⟧", "1 2", 2)),
    ("job_given", GivenJob()),
    ("job_given", GivenJob("⟦given⟧", "⟦do⟧", 3, (1,), "⟦given⟧")),
    ("team_news", TeamNews()),
    ("team_news", TeamNews("⟦done⟧", 1)),
    ("team_idle", IdleMember("⟦Robot⟧ 2", 1)),
    ("team_idle", IdleMember("⟦Robot⟧ 2", 1, late=True)),
    ("worker", WorkerStatus(1, "⟦Robot⟧ 2", (1,), False, 0, (ERRAND,), "")),
    ("worker", WorkerStatus(1, "⟦Robot⟧ 2", (1,), True, 4, (FAILED_ERRAND,), "⟦done⟧")),
    ("said", Line(3, "", ("⟦Robot⟧ 2",), to_you=False, text="⟦said⟧")),
    ("said", Line(3, "⟦Robot⟧ 2", ("⟦Robot⟧ 3",), to_you=True, text="⟦said⟧")),
    ("partner", Partner("⟦Robot⟧ 2")),
    ("partner", Partner("")),
)
"""Panels as the pages above do not have them."""


@pytest.mark.usefixtures("study")
def test_no_word_of_a_panel_that_all_worlds_have() -> None:
    with translation.override(CODE):
        for name, shows in SHELL:
            panel = Panel(name, f"kitchen/play/{name}.jinja", shows)
            assert (shows, bare_words(render_page.render_panel(panel))) == (shows, [])


def test_no_word_on_any_page_stands_outside_of_the_brackets(study: Study) -> None:
    client = Client(HTTP_ACCEPT_LANGUAGE=CODE)
    shown: set[str | None] = set()

    def note(template: Template, **_: Any) -> None:
        shown.add(template.name)

    template_rendered.connect(note)
    try:
        bare = {name: found for name, html in pages(client, study) if (found := bare_words(html))}
    finally:
        template_rendered.disconnect(note)
    assert bare == {}
    assert {str(page.relative_to(TEMPLATES)) for page in PAGES} - shown == set()


def pages(client: Client, study: Study) -> Iterator[tuple[str, str]]:
    """Every page, by what it is, on somebody's way through the study."""
    yield "home", text_of(client.get("/"))
    yield "nowhere", text_of(client.get("/p/nobody/"))
    yield "stored", text_of(client.get("/s/small/stored/"))
    yield "no label", text_of(client.get("/s/small/"))
    yield "damaged label", text_of(client.get("/s/small/?PROLIFIC_PID={{%PROLIFIC_PID%}}"))
    welcome = text_of(client.get(LINK))
    yield "welcome", welcome
    yield "welcome, wrong", text_of(client.post(LINK, {"entry": "x"}))
    there = client.post(LINK, {"entry": field(welcome, "entry")})["Location"]
    guest = Client(HTTP_ACCEPT_LANGUAGE=CODE)
    again = text_of(guest.get(LINK))
    yield "welcome again", again
    theirs = guest.post(LINK, {"entry": field(again, "entry")})["Location"]
    yield "guest leaves", text_of(guest.get(f"{theirs}withdraw/"))
    yield from way(client, there)
    yield "end", text_of(client.get(there))
    yield "guest's end", text_of(guest.get(theirs))
    yield "already", text_of(Client(HTTP_ACCEPT_LANGUAGE=CODE).get(LINK))
    yield "withdraw", text_of(client.get(f"{there}withdraw/"))
    yield "withdrawn", text_of(client.post(f"{there}withdraw/", {"confirm": "yes"}))
    yield from ends(client, study)
    yield from lobby(client, study)
    yield from closed(study)
    with translation.override(CODE):
        for status in STATUSES:
            yield f"error {status}", text_of(error_page(status))
        yield "updating", text_of(error_page(503, updating=True))
        for reason in DETAILS:
            yield reason, text_of(error_page(503, reason=reason))


def way(client: Client, there: str) -> Iterator[tuple[str, str]]:
    """From the consent to the last page, each page wrongly sent first where it asks something."""
    yield "consent", text_of(client.get(there))
    yield "consent, wrong", text_of(client.post(there, {"page": "consent"}))
    client.post(there, {"page": "consent", "agree_0": "on"})
    yield from asked(client, there, "about", {"item_k0": "Something"})
    yield "guide", text_of(client.get(there))
    client.post(there, {"page": "guide"})
    yield "practice", text_of(client.get(there))
    person = Participant.objects.get()
    assert person.practice
    play_out(person.practice)
    yield "practised", text_of(client.get(there))
    client.post(there, {"page": "practice"})
    yield from asked(client, there, "check", {"item_k1": "One of them", "attempt": "1"})
    client.post(there, {"page": "check", "position": "0", "item_k1": "Another one", "attempt": "2"})
    yield "play", text_of(client.get(there))
    episode = person.rounds.get().episode
    assert episode
    rounds = person.rounds.filter(position=1)
    rounds.update(episode=None)
    with patch("study.participation.page_progress.must_wait", return_value=True):
        yield "waiting", text_of(client.get(there))
    rounds.update(episode=episode)
    play_out(episode)
    yield from asked(client, there, "survey", {"item_i0": "1", "item_k3": "5"}, position="1")
    yield from asked(client, there, "final", {"item_k2": "team-1"})
    yield "debriefing", text_of(client.get(there))
    client.post(there, {"page": "debriefing"})


def asked(
    client: Client, there: str, page: str, answers: dict[str, str], position: str = "0"
) -> Iterator[tuple[str, str]]:
    """A page of questions, sent empty and then filled in."""
    sent = {"page": page, "position": position}
    yield page, text_of(client.get(there))
    yield f"{page}, wrong", text_of(client.post(there, {**sent, "attempt": answers.get("attempt", "")}))
    client.post(there, sent | answers)


def ends(client: Client, study: Study) -> Iterator[tuple[str, str]]:
    """Every end but the good one."""
    for status in (
        "no_consent",
        "failed_check",
        "timed_out",
        "technical",
        "unmatched",
        "no_place",
        "screened_out",
        "late_return",
    ):
        person = participant_enter(study_id=study.pk, entry=status, language=CODE)
        Participant.objects.filter(pk=person.pk).update(status=status)
        yield status, text_of(client.get(person.get_absolute_url()))


def lobby(client: Client, study: Study) -> Iterator[tuple[str, str]]:
    """Where somebody waits for other people, from which they may leave."""
    study.conditions.update(coplayer="planner", teammates=2, organisation={"people": [0, 1]})
    person = participant_enter(study_id=study.pk, entry="lobby", language=CODE)
    consent_given(participant_id=person.pk)
    PageVisit.objects.bulk_create(
        PageVisit(participant=person, page=page, done_at=timezone.now()) for page in PAGES_BEFORE_ROUNDS[1:]
    )
    there = person.get_absolute_url()
    yield "lobby", text_of(client.get(there))
    stands = client.post(f"{there}lobby/").json()
    yield "lobby, again", f"<p>{stands['come']} {stands['left']}</p>"
    yield "lobby, left", text_of(client.get(f"{there}withdraw/"))


def closed(study: Study) -> Iterator[tuple[str, str]]:
    """Nobody new is let in."""
    stranger, now = Client(HTTP_ACCEPT_LANGUAGE=CODE), timezone.now()
    pause = EntryPause.objects.create(study=study, began_at=now, until=now + timedelta(minutes=9), entries=1)
    yield "later", text_of(stranger.get("/s/small/?PROLIFIC_PID=p9"))
    pause.delete()
    for why, fields in WHY.items():
        Study.objects.filter(pk=study.pk).update(**{**OPEN, **fields})
        yield why, text_of(stranger.get("/s/small/?PROLIFIC_PID=p9"))


OPEN: dict[str, Any] = {"status": "open", "max_participants": None, "closes_at": None}
WHY: dict[str, dict[str, Any]] = {
    "closed": {"status": "closed"},
    "over": {"closes_at": datetime(2020, 1, 1, tzinfo=UTC)},
    "full": {"max_participants": 0},
}
