"""probes.csv: a row for each answer and each value of the slider, and the texts in the reader's language."""

from __future__ import annotations

import re

import pytest
from django.template.loader import render_to_string

from kitchen.play.episode.advance_episode import answer_probes
from kitchen.play.episode.answer_probes import rate
from kitchen.play.live.probe_panel import probe_panel
from kitchen.play.live.render_page import render_panel, slider_context
from kitchen.play.live.seat_view import current_seat_view
from kitchen.play.turn.turn_cache import exclusive_turn
from kitchen.replay.episode_file import export_episode, read_episode_file
from kitchen.replay.episode_record import read_episode_records
from kitchen.replay.episode_timeline import timeline_chart
from kitchen.replay.step_replay import report_step
from kitchen.words.gettext_without_django import in_language
from study.design.blueprint import blueprint_of
from study.design.translated_texts import missing_translations
from study.design.translations import describe_text_path
from study.exports.export_files import csv_pieces
from study.exports.export_registry import get_table
from study.participation.page_progress import finish_page
from tests.kitchen.factories import submit
from tests.study.factories import enter, make_study

pytestmark = pytest.mark.django_db

ITEMS = [
    {"key": "a", "kind": "choice", "text": "Who leads?", "options": ["I do", "It does"]},
    {"key": "b", "kind": "text", "text": "Why?"},
]
PROBES = [{"key": "lead", "step": 1, "items": ITEMS}]
SLIDER = {"text": "Trust", "low": "none", "high": "full"}


def test_answers_and_the_slider_are_rows_and_are_on_the_replay() -> None:
    study = make_study()
    study.conditions.update(probes=PROBES, rating_slider=SLIDER)
    study.languages, study.texts = "en es", {"es": {"Who leads?": "¿Quién dirige?", "I do": "Yo"}}
    study.save()
    paths = missing_translations(blueprint_of(study))["es"]
    path = next(one for one in paths if one.endswith("probes.lead.a.options.2"))
    assert "question during the game lead a, option 2" in describe_text_path(path)
    person = enter(study)
    finish_page(participant_id=person.pk, page="guide")
    found = person.rounds.filter(answered_at=None).first()
    assert found and found.episode
    episode = found.episode
    submit(episode, 1, "noop")
    with in_language("es"):
        view = current_seat_view(episode.seats.get(number=0))
        panel, slider = render_panel(probe_panel(view)), slider_context(episode.seats.get(number=0))
    assert view.probes and view.probes.asked[0].items[0].options == ("Yo", "It does")
    marked = re.findall(r' lang="(\w+)">(?:<input[^>]+> )?([^<]+)<', panel)
    assert marked == [("en", "It does"), ("en", "Why?")], "what is not translated has its own language"
    slider_page = render_to_string("kitchen/play/rating_slider.html", slider)
    assert re.findall(r' lang="en">(\w+)<', slider_page) == ["Trust", "none", "full"]
    rate(episode_id=episode.pk, seat=0, step=1, value=30)
    with exclusive_turn(episode.pk) as turn:
        answers = {"lead": {"a": "2", "b": "It began."}}
        assert answer_probes(turn, seat=0, step=1, answers=answers).accepted

    head, *rows = b"".join(csv_pieces(get_table("probes"), study)).decode().splitlines()
    names = head.split(",")
    read = [dict(zip(names, row.split(","), strict=True)) for row in rows]
    assert [(row["asked"], row["item"], row["value"], row["answer_words"]) for row in read] == [
        ("slider", "", "30", ""),
        ("probe", "a", "2", "It does"),
        ("probe", "b", "", "It began."),
    ]
    (record,) = read_episode_records(type(episode).objects.filter(pk=episode.pk))
    told = report_step(read_episode_file(export_episode(record)), 1).probes
    assert [(one.question, one.answer) for one in told] == [("Who leads?", "It does"), ("Why?", "It began.")]
    lanes = timeline_chart(record).y.names
    assert any(name.startswith("Trust, ") for name in lanes)
