"""What providers say of their models and of prompts, and where our list differs."""

from __future__ import annotations

import re
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from kitchen.contract.language_model import ModelError, OfferedModel, Tool
from kitchen.llm import provider_registry
from kitchen.llm.call_costs import load_prices
from kitchen.llm.model_capabilities import ModelListError, load_model_list
from kitchen.llm.providers.anthropic import CLAUDE_MODELS, ClaudeTraits, claude_traits
from kitchen.llm.sdk_models import models_of_sdk, newer_than
from kitchen.management.commands import models as models_command
from kitchen.management.commands.models import differences_from_ours
from kitchen.registry.agent_registry import make_agent
from tests.kitchen.llm.conftest import Serve, request
from tests.stand_in_server import Answer, status

OURS = tuple(CLAUDE_MODELS)
YES, NO = {"supported": True}, {"supported": False}


def told(
    name: str, *, effort: bool = True, low: bool = False, thinking: str = "disabled", **more: Any
) -> dict[str, Any]:
    can = {"adaptive", thinking}
    ways = {way: YES if way in can else NO for way in ("adaptive", "disabled", "between_tools")}
    efforts = {"low": YES if low else NO, "high": YES if effort else NO, "supported": effort}
    capabilities = {"thinking": {"supported": True, "types": ways}, "effort": efforts}
    return {"id": name, "lifecycle": "active", "max_tokens": 64000, "capabilities": capabilities, **more}


def listed(*models: Any) -> Answer:
    return Answer("raw", body={"data": list(models)})


def models(provider: str = "anthropic", **more: Any) -> str:
    out = StringIO()
    call_command("models", provider, stdout=out, no_color=True, **more)
    return out.getvalue()


def test_the_command_tells_what_a_provider_lists_and_where_that_is_not_what_is_sent(
    anthropic_server: Serve,
) -> None:
    anthropic_server(
        listed(
            told("claude-haiku-5-5"),
            told("claude-opus-9"),
            told("claude-sonnet-5-5", lifecycle="deprecated", effort=False),
            {"no": "name"},
            {"id": "claude-odd", "capabilities": {"thinking": None, "effort": []}},
            3,
        )
    )
    lines = models().splitlines()
    can = "thinking: adaptive, disabled; effort: high; writes 64000 tokens at most"
    assert lines[0] == f"claude-haiku-5-5: active; {can}"
    assert "claude-opus-9 is not in our list: nothing special is sent to it" in lines
    assert "claude-sonnet-5-5 is deprecated" in lines
    assert "claude-sonnet-5-5 is sent thinking “between_tools”, which it does not take" in lines
    assert "claude-sonnet-5-5 takes no effort, and we think that it does" in lines
    assert any(line.startswith("claude-opus-5 is in our list and not") for line in lines)
    assert not any(line.startswith("claude-haiku-5-5 ") for line in lines)


def test_a_list_that_is_ours_has_no_differences() -> None:
    same = [OfferedModel(name, "active") for name in CLAUDE_MODELS]
    assert (
        list(differences_from_ours("anthropic", same))
        == list(differences_from_ours("openai-compatible", []))
        == []
    )


def test_a_server_of_ones_own_lists_names(openai_server: Serve) -> None:
    server = openai_server(listed({"id": "llama", "max_model_len": 8192}))
    assert models("openai") == "llama: reads 8192 tokens at most\n"
    assert server.asked[0].path == "/v1/models"


@pytest.mark.parametrize(
    ("provider", "code", "said"),
    [("nobody", 2, "is no provider"), ("anthropic", 2, "ANTHROPIC_API_KEY")],
)
def test_who_cannot_be_asked_is_told_in_one_line(provider: str, code: int, said: str) -> None:
    with pytest.raises(CommandError, match=said) as caught:
        models(provider)
    assert caught.value.returncode == code and "\n" not in str(caught.value)


@pytest.mark.parametrize("answer", [status(401), Answer("raw", body=[]), Answer("raw", body={"data": 1})])
def test_a_provider_that_lists_nothing_ends_the_command(anthropic_server: Serve, answer: Answer) -> None:
    anthropic_server(answer)
    with pytest.raises(CommandError, match="does not list its models") as caught:
        models()
    assert caught.value.returncode == 1


def test_a_prompt_is_counted_by_who_reads_it(anthropic_server: Serve) -> None:
    server = anthropic_server(*(Answer("raw", body={"input_tokens": tokens}) for tokens in (1234, "x")))
    tool = Tool("go", "Goes.", {"type": "object"})
    question = replace(request("claude-haiku-4-5"), temperature=0.1, tool=tool)
    assert provider_registry.count_tokens("anthropic", question) == 1234
    (asked,) = server.asked
    assert asked.path == "/v1/messages/count_tokens"
    assert {"messages", "system", "tools"} <= asked.body.keys() and "max_tokens" not in asked.body
    with pytest.raises(ModelError):
        provider_registry.count_tokens("anthropic", question)
    assert provider_registry.count_tokens("openai-compatible", question) is None


def test_what_was_kept_of_a_list_goes_before_ours(
    anthropic_server: Serve, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file = tmp_path / "models.toml"
    anthropic_server(
        listed(
            told("claude-opus-9", thinking="between_tools"),
            told("claude-fable-9", thinking="", low=True),
            told("claude-haiku-5-5", thinking="between_tools", effort=False),
            told("claude-sonnet-5-5", thinking="between_tools"),
            told("claude-haiku-4-5-20251001", effort=False),
        )
    )
    assert "claude-opus-9 is not in our list" in models(keep=file)
    monkeypatch.setenv("BRIGADE_MODELS", str(file))
    assert "claude-opus-9 is not" not in models()
    between = {"thinking": {"type": "between_tools"}}
    assert claude_traits("claude-opus-9-20270101") == ClaudeTraits(least=between)
    assert claude_traits("claude-fable-9").least == {"output_config": {"effort": "low"}}
    assert claude_traits("claude-haiku-5-5") == replace(
        CLAUDE_MODELS["claude-haiku-5-5"], effort=False, least=between
    )
    for name in ("claude-sonnet-5-5", "claude-haiku-4-5", "claude-opus-5"):
        assert claude_traits(name) == CLAUDE_MODELS[name]


def test_a_list_that_cannot_be_used_says_why(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    file = tmp_path / "models.toml"
    monkeypatch.setenv("BRIGADE_MODELS", str(file))
    with pytest.raises(ModelListError, match=r"models\.toml: cannot be read"):
        load_model_list()
    file.write_text('[anthropic."claude-x"]\nwrites = "much"\n')
    with pytest.raises(ModelListError, match=r"^models\.toml: anthropic\.claude-x\.writes: ") as caught:
        load_model_list()
    assert "\n" not in str(caught.value)
    assert claude_traits("claude-haiku-5-5") == CLAUDE_MODELS["claude-haiku-5-5"]  # and goes on by ours


def test_what_the_sdk_knows_is_written_down_with_the_day_and_without_asking_anybody(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file = tmp_path / "models.toml"
    monkeypatch.setattr(
        models_command,
        "models_of_sdk",
        lambda _: ("claude-fable-5-2", "claude-haiku-5-6", "claude-mythos-9", *OURS),
    )
    said = models(update=file)
    assert re.match(r"# anthropic \d[\d.]+, 20\d\d-\d\d-\d\d\n", file.read_text())
    newer = re.findall(r"(\S+) is newer than our list \(.*\): (.*)", said)
    assert newer == [
        ("claude-fable-5-2", "its price is taken to be that of claude-fable-5-1"),
        ("claude-haiku-5-6", "its price is taken to be that of claude-haiku-5-5"),
        ("claude-mythos-9", "it has no price"),
    ]
    monkeypatch.setenv("BRIGADE_MODELS", str(file))
    assert claude_traits("claude-haiku-5-6").least == CLAUDE_MODELS["claude-haiku-5-5"].least
    assert {name: claude_traits(name) for name in OURS} == CLAUDE_MODELS


def test_the_installed_sdks_know_our_models_and_newer_ones_are_found_by_their_number() -> None:
    known = models_of_sdk("anthropic")
    assert set(OURS) <= set(known) and "gpt-5" in models_of_sdk("openai-compatible")
    assert models_of_sdk("stand-in") == ()
    assert newer_than(["claude-opus-5-5"], ["claude-opus-5", "claude-opus-5-10", "claude-new-4"]) == (
        "claude-opus-5-10",
    )


def test_a_newer_model_of_a_known_family_is_asked_with_default_traits_and_a_warning() -> None:
    assert claude_traits("claude-fable-5-2") == ClaudeTraits()
    newer, known = (
        load_prices().price("anthropic", name) for name in ("claude-fable-5-2", "claude-fable-5-1")
    )
    assert newer == known
    assert not any(
        "price" in why for why in provider_registry.why_not_usable("anthropic", "claude-fable-5-2")
    )
    (remark,) = make_agent("dispatcher", {"model": "anthropic:claude-fable-5-2", "temperature": -1}).remarks()
    assert "its price is taken" in remark.lower() and "claude-fable-5-1" in remark
    assert provider_registry.unlisted_model_remarks("anthropic", "claude-fable-5-1") == ()


@pytest.mark.parametrize(
    "name", ["claude-opus-4-1", "claude-opus-4-1-20250805", "claude-haiku-3-5", "claude-sonnet-4-5"]
)
def test_nothing_is_taken_from_a_newer_model_for_an_older_one(name: str) -> None:
    assert not load_prices().knows("anthropic", name)
    assert models_command.sdk_model(name) == OfferedModel(name)
    (remark,) = provider_registry.unlisted_model_remarks("anthropic", name)
    assert "price is taken" not in remark
