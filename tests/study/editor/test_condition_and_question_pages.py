"""What a model is told at any step, read in the console before people come."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from kitchen.contract.language_model import NotAskedError
from study.design.blueprint import blueprint_of
from study.design.models import Study
from study.design.preregistration import bundle_of, content_of, program_differences
from study.planning import condition_prompt_preview
from tests.study.factories import make_study
from tests.study.planning.test_study_cost_forecast import PAID, dispatched

pytestmark = pytest.mark.django_db

OWN = (
    "Be <b>quick</b>, {agents}.\n\n{persona}\n{task}\n{recipes}\n{instructions}\n{hints}\n"
    "{talk}\n{demonstration}"
)


@pytest.fixture
def study(client: Client) -> Study:
    study = make_study(conditions=2)
    dispatched(study, "c1", PAID)
    user = User.objects.create_user("researcher", is_staff=True)
    study.memberships.create(user=user, role="owner")
    client.force_login(user)
    return study


def there(study: Study, key: str = "c1") -> str:
    row = study.conditions.get(key=key)
    return reverse("study:staff-design-condition-prompt", args=[study.slug, row.pk])


def test_the_whole_prompt_of_a_step_with_the_text_and_persona_of_ones_own(
    client: Client, study: Study
) -> None:
    row = study.conditions.get(key="c1")
    row.coplayer_settings = {**row.coplayer_settings, "prompt": OWN, "persona": "You are cautious."}
    row.save()
    response = client.get(there(study), {"step": "3"})
    prompt = response.context["prompt"]
    assert [message.name for message in prompt.messages] == ["system", *["user", "assistant"] * 2, "user"]
    assert prompt.messages[0].text.startswith("Be <b>quick</b>, agent1.\n\n# Who you are\nYou are cautious.")
    assert "step 3 of 3" in prompt.messages[-1].text
    page = response.content.decode()
    assert "Be &lt;b&gt;quick" in page and f"About {prompt.tokens} tokens, {prompt.fixed} of them" in page
    assert "<code>{persona}</code>" in page and prompt.tokens > prompt.fixed > 500


def test_a_text_of_ones_own_is_in_the_document_and_in_the_preregistration(study: Study) -> None:
    before = blueprint_of(study)
    study.conditions.filter(key="c1").update(coplayer_settings={**PAID, "prompt": OWN, "persona": "Calm."})
    after = blueprint_of(Study.objects.get(pk=study.pk))
    assert after.conditions[1].coplayer_settings["prompt"] == OWN and after.digest != before.digest
    (told,) = content_of(after)["prompts"]["c1"]
    assert told.startswith("Be <b>quick</b>, agent1.\n\n# Who you are\nCalm.\n# Your task\n")
    assert program_differences(bundle_of(after, at="", by="", version=1)) == []


def test_a_step_beyond_the_end_is_refused_in_words(client: Client, study: Study) -> None:
    refused = client.get(there(study), {"step": "4", "player": "x"})
    assert refused.status_code == 422 and set(refused.context["form"].errors) == {"step", "player"}


def test_every_step_of_a_long_episode_can_be_asked_for(client: Client, study: Study) -> None:
    grids = {"world": "overcooked", "settings": {"layout": "cramped_room", "ticks": 400}}
    study.conditions.filter(key="c1").update(**grids, coplayer="skill_dispatcher", teammates=1)
    study.conditions.filter(key="c1").update(coplayer_settings={"model": "stand-in"})
    shown = client.get(there(study), {"step": "400"})
    assert "From 1 to 400" in shown.content.decode() and shown.context["prompt"].step == 400


def test_no_more_steps_are_played_than_are_allowed(
    client: Client, study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(condition_prompt_preview, "MOST", 2)
    refused = client.get(there(study), {"step": "3"})
    assert set(refused.context["form"].errors) == {"step"} and "From 1 to 2" in refused.content.decode()
    assert condition_prompt_preview.whole_prompt(study.conditions.get(key="c1"), 0, 3).step == 2


def test_what_was_played_is_not_played_again_unless_the_condition_is_another(
    client: Client, study: Study
) -> None:
    condition_prompt_preview._played.cache_clear()
    for step in ("2", "1", "2"):
        client.get(there(study), {"step": step})
    assert condition_prompt_preview._played.cache_info().misses == 1
    study.conditions.filter(key="c1").update(coplayer_settings={**PAID, "persona": "Calm."})
    shown = client.get(there(study), {"step": "2"}).context["prompt"]
    assert condition_prompt_preview._played.cache_info().misses == 2 and "Calm." in shown.messages[0].text


def test_a_condition_without_a_model_says_so_and_one_that_cannot_be_played_says_why(
    client: Client, study: Study
) -> None:
    silent = client.get(there(study, "c0"))
    assert silent.status_code == 200
    assert "No language model is asked in this condition." in silent.content.decode()
    study.conditions.filter(key="c1").update(coplayer_settings={"prompt": "{task}"})
    assert "This condition cannot be played: prompt: " in client.get(there(study)).content.decode()


def test_the_provider_counts_where_somebody_asks_it_to(
    client: Client, study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        condition_prompt_preview, "count_tokens", lambda _, asked: 10 * len(asked.messages[-1].text)
    )
    page = client.post(there(study), {"player": 0, "step": 1})
    state = 10 * len(page.context["prompt"].messages[-1].text)
    assert f"anthropic counts {state} tokens, 10 of them the same at every step." in page.content.decode()
    monkeypatch.setattr(condition_prompt_preview, "count_tokens", lambda *_: None)
    assert client.post(there(study)).context["counted"] == "anthropic does not count."
    monkeypatch.setattr(condition_prompt_preview, "count_tokens", refuse)
    assert client.post(there(study)).context["counted"] == "Not counted: no key."


def refuse(*_: Any) -> int:
    raise NotAskedError("no key")
