"""A researcher is told, before people come, that a condition would always play its fallback."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from kitchen.registry.agent_registry import make_agent
from study.design.models import Condition
from tests.study.editor.test_condition_and_item_forms import change, said, save
from tests.study.factories import make_study

pytestmark = pytest.mark.django_db

UNPRICED = "No price is known for anthropic:claude-unheard-of"
NO_KEY = "anthropic cannot be asked from here: ANTHROPIC_API_KEY"


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """No provider but the stand-in."""
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "OPENAI_BASE_URL", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)


def condition(model: str, **more: Any) -> Condition:
    make_study(conditions=1)
    Condition.objects.update(coplayer="dispatcher", coplayer_settings={"model": model, **more}, teammates=1)
    return Condition.objects.get()


def test_a_model_without_a_price_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-not-a-key")
    (told,) = condition("anthropic:claude-unheard-of").cautions
    assert told.startswith(UNPRICED)
    assert "the planner will command the teammates in every step" in told


def test_a_provider_without_a_key_is_told_with_what_plays_then() -> None:
    (told,) = condition("anthropic:claude-haiku-4-5", fallback="noop").cautions
    assert told.startswith(NO_KEY)
    assert "the teammates will wait in every step" in told


@pytest.mark.parametrize("model", ["stand-in", "", "nobody-knows:this"])
def test_what_plays_as_it_is_set_up_or_cannot_be_played_has_no_caution(model: str) -> None:
    assert condition(model).cautions == ()


def test_a_model_that_can_be_asked_has_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-not-a-key")
    assert condition("anthropic:claude-haiku-4-5").cautions == ()


def test_the_form_the_message_after_saving_and_the_studys_page_say_so(admin_client: Client) -> None:
    found = condition("anthropic:claude-unheard-of")
    saved = save(admin_client, change(found), name="Renamed")
    assert "But mind: " in said(saved) and UNPRICED in said(saved)
    pages = [change(found), reverse("study:staff-study", args=[found.study.slug])]
    for page in pages:
        text = admin_client.get(page).content.decode()
        assert UNPRICED in text
        assert NO_KEY in text


def remarks(model: str, **more: Any) -> tuple[str, ...]:
    return Condition(coplayer="dispatcher", coplayer_settings={"model": model, **more}, teammates=1).remarks


def test_what_is_not_sent_to_a_model_is_told() -> None:
    assert remarks("anthropic:claude-sonnet-5-5", top_p=0.5, seeded=True) == (
        "anthropic:claude-sonnet-5-5 takes no temperature (0.1): none is sent.",
        "anthropic:claude-sonnet-5-5 takes no top p (0.5): none is sent.",
        "anthropic:claude-sonnet-5-5 takes no seed: none is sent.",
    )
    assert remarks("anthropic:claude-sonnet-5-5", temperature=-1) == ()
    assert remarks("openai:llama", top_p=0.5, seeded=True) == remarks("stand-in", top_p=0.5) == ()


def test_the_form_says_what_is_not_sent(admin_client: Client) -> None:
    row = condition("anthropic:claude-sonnet-5-5")
    (told,) = row.remarks
    there = reverse("study:staff-design-condition", args=[row.study.slug, row.pk])
    assert told in admin_client.get(there).content.decode()
    assert told in said(save(admin_client, change(row)))


NO_ROOM = "max_tokens: 1024 leave no room for a reply"


def test_thinking_that_leaves_no_room_for_a_reply_is_told_and_who_has_it_plays_on(
    admin_client: Client,
) -> None:
    row = condition("anthropic:claude-haiku-5-5", effort="high", max_tokens=1024)
    row.full_clean()  # a study's file of before, and one that is to be opened
    assert make_agent("dispatcher", row.coplayer_settings)
    assert row.cautions[-1].startswith(NO_ROOM) and "“High”, let it have 8192" in row.cautions[-1]
    assert save(admin_client, change(row), name="Renamed").status_code == 302
    row.coplayer_settings["max_tokens"] = 8192
    assert not any(NO_ROOM in caution for caution in row.cautions)


@pytest.mark.parametrize(
    ("model", "refused"),
    [
        ("anthropic:claude-haiku-4-5", "accepts no amount of thinking, not “Low”"),
        ("anthropic:claude-haiku-5-5", ""),
        ("openai:gpt-6-sol", ""),
        ("stand-in", ""),
    ],
)
def test_an_amount_of_thinking_that_the_model_does_not_accept_cannot_be_chosen(
    admin_client: Client, model: str, refused: str
) -> None:
    row = condition(model, max_tokens=8192)
    answer = save(admin_client, change(row), coplayer__dispatcher__effort="low")
    assert answer.status_code == (422 if refused else 302)
    assert refused in answer.content.decode()


def test_a_list_of_models_says_which_amounts_of_thinking_they_accept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "models.toml"
    file.write_text('[openai-compatible."gpt-6-sol"]\nefforts = ["low", "high"]\n')
    monkeypatch.setenv("BRIGADE_MODELS", str(file))
    chosen = {"model": "openai:gpt-6-sol", "max_tokens": 8192}
    assert not make_agent("dispatcher", {**chosen, "effort": "high"}).refusal()
    refusal = make_agent("dispatcher", {**chosen, "effort": "medium"}).refusal()
    assert "gpt-6-sol accepts Low, High, not “Medium”" in refusal


def test_thinking_that_leaves_no_room_for_a_reply_cannot_be_chosen(admin_client: Client) -> None:
    row = condition("anthropic:claude-haiku-5-5", effort="high", max_tokens=8192)
    answer = save(admin_client, change(row), coplayer__dispatcher__max_tokens="1024")
    assert answer.status_code == 422
    assert "1024 leave no room for a reply" in answer.content.decode()
    row.refresh_from_db()
    assert row.coplayer_settings["max_tokens"] == 8192
