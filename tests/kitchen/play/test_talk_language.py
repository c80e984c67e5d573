"""The language in which agents write to people: on pages, for programs, and in prompts."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest
from django.conf import settings as django_settings

from kitchen.agents.make_situation import make_situation
from kitchen.agents.talk_rules import ENGLISH_NAMES, talk_rule_lines
from kitchen.contract.agent import TeamTalk
from kitchen.contract.organisation import Member, Organisation, make_organisation
from kitchen.contract.team_messages import ONLY_JOBS, MessageDraft
from kitchen.play.models import Episode, Message
from kitchen.registry.agent_registry import make_agent
from kitchen.registry.world_registry import get_world
from tests.kitchen.play.test_talk_page import page_of, say
from tests.kitchen.play.turn.test_conversation import SAYS, _known, take, team  # noqa: F401

pytestmark = pytest.mark.django_db

ENGLISH = "I do not read messages. I do the jobs that are chosen for me from the list."
SPANISH = "No leo los mensajes. Hago los encargos que se eligen para mí en la lista."


def talking(language: str) -> Episode:
    """A person and a talker that has said one of the fixed sentences of agents, and its own words."""
    episode = team("graph", people=1, robots=1)
    organisation = episode.team
    assert organisation
    told = replace(organisation, talk_language=language).to_json()
    Episode.objects.filter(pk=episode.pk).update(organisation=told)
    SAYS.extend([MessageDraft(ENGLISH, "answer", (0,), {"code": ONLY_JOBS}), MessageDraft("Voy.", to=(0,))])
    say(page_of(episode, 0), "hello there")
    take(episode)
    return episode


def texts(episode: Episode, language: str) -> list[tuple[str, str]]:
    """The messages on a page in this language, each with its attributes."""
    shown = "".join(page_of(episode, 0, language=language).show().texts)
    return re.findall(r'<p class="said-text"([^>]*)>([^<]*)</p>', shown)


@pytest.mark.parametrize(
    ("talk", "page", "fixed", "lang", "own"),
    [
        ("", "en", ENGLISH, "", 'lang=""'),
        ("", "es", SPANISH, "", 'lang=""'),
        ("es", "en", SPANISH, 'lang="es"', 'lang="es"'),
        ("es", "es", SPANISH, "", 'lang="es"'),
        ("en", "es", ENGLISH, 'lang="en"', 'lang="en"'),
    ],
)
def test_a_page_shows_fixed_sentences_in_the_language_of_talk_and_marks_foreign_ones(
    talk: str, page: str, fixed: str, lang: str, own: str
) -> None:
    shown = {text: marks for marks, text in texts(talking(talk), page)}
    assert set(shown) == {"hello there", fixed, "Voy."}
    assert re.findall(r'lang="[^"]*"', shown[fixed]) == ([lang] if lang else [])
    assert own in shown["Voy."] and 'lang=""' in shown["hello there"]


def test_a_program_gets_the_text_in_the_language_of_talk_and_the_data_have_the_original() -> None:
    episode = talking("es")
    state = json.loads(page_of(episode, 0, json=True).show().texts[0])
    assert [one["text"] for one in state["messages"]] == ["hello there", SPANISH, "Voy."]
    assert Message.objects.filter(text=ENGLISH).count() == 1


def test_languages_are_stored_with_an_episode_only_if_there_are_any() -> None:
    made = make_organisation("pair", [Member(0, (0,), True), Member(1, (1,), False)], seats=2)
    assert not {"talk_language", "readers_language"} & made.to_json().keys()
    named = replace(made, talk_language="es", readers_language="zh-hans")
    assert Organisation.from_json(named.to_json()) == named


def test_prompts_have_an_english_name_of_each_language_of_pages() -> None:
    assert set(ENGLISH_NAMES) == {code for code, _ in django_settings.LANGUAGES}


def test_the_language_of_the_condition_goes_before_that_of_the_reader() -> None:
    pair = make_organisation("pair", [Member(0, (0,), True), Member(1, (1,), False)], seats=2)
    assert talk_rule_lines(None) == talk_rule_lines(pair) == []
    assert "in Spanish," in talk_rule_lines(replace(pair, readers_language="es"))[0]
    assert "in English," in talk_rule_lines(replace(pair, readers_language="es", talk_language="en"))[0]
    silent = make_organisation("each", [Member(0, (0,), True), Member(1, (1,), False)], seats=2)
    assert talk_rule_lines(replace(silent, talk_language="es")) == []


MODELS = (
    ("cuisine", "dispatcher", "graph"),
    ("cuisine", "pairwise", "pairwise"),
    ("cuisine", "hourglass", "tree"),
    ("blocks_kitchen", "blocks_dispatcher", "graph"),
    ("collab_overcooked", "collab", "pair"),
)


@pytest.mark.parametrize(("world", "kind", "organisation"), MODELS)
def test_a_model_is_told_the_language_and_a_prompt_without_one_stays_as_it_was(
    world: str, kind: str, organisation: str
) -> None:
    members = [Member(0, (0,), True), Member(1, (1,), False)]
    game = get_world(world).create(seats=2, settings={})
    game.reset(1)
    made = make_organisation(organisation, members, seats=2)
    agent = make_agent(kind, {"model": "stand-in"} if kind != "hourglass" else {})
    situation = make_situation(game, (1,), people=(0,))

    def prompt(language: str) -> str:
        talk = TeamTalk(replace(made, talk_language=language), 1)
        return "\n".join(agent.fixed_messages(replace(situation, talk=talk)))

    lines = talk_rule_lines(replace(made, talk_language="es"))
    assert "\n".join(lines) in prompt("es")
    assert prompt("es").replace("\n".join(["", *lines]), "", 1) == prompt("")
