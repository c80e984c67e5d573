"""`make minds` in its smallest form finds nothing wrong, and finds what is."""

from __future__ import annotations

import re
from typing import Any

import pytest

from kitchen.llm.call_costs import PriceList
from kitchen.worlds.cuisine.dispatcher import agent, message_and_job_text
from kitchen.worlds.cuisine.dispatcher.reply_extraction import ExtractedCommands
from kitchen.worlds.overcooked.fast_slow import aim_reflection
from tests.minds import injection_checks
from tests.minds.model_checks import SERVED, TINY, check, verdict


def test_nothing_is_wrong_with_some_replies_faults_words_and_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(injection_checks, "TEXTS", injection_checks.TEXTS[3::9])
    said: list[str] = []
    results = check(list(SERVED), TINY, said.append)
    assert [each.wrong for each in results] == [[]] * len(SERVED), said
    assert all(each.cases and each.calls for each in results) and verdict(0) == "nothing was wrong"


def test_lost_commands_wrong_costs_and_words_out_of_their_quotes_are_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def read_nothing(*_: Any, **__: Any) -> Any:
        return ExtractedCommands((), {})

    def cost_more(*_: Any, **__: Any) -> float:
        return 0.01

    with monkeypatch.context() as patch:
        patch.setattr(agent, "extract_from_reply", read_nothing)
        assert "lost a command" in str(check(["styles"], TINY, list[str]().append)[0].wrong)
    with monkeypatch.context() as patch:
        patch.setattr(PriceList, "cost", cost_more)
        assert "instead of" in str(check(["styles"], TINY, list[str]().append)[0].wrong)
    for prompts in (message_and_job_text, aim_reflection):
        monkeypatch.setattr(prompts, "quote_text", str)
    monkeypatch.setattr(injection_checks, "TEXTS", injection_checks.TEXTS[9:10])
    wrong = str(check(["injections"], TINY, list[str]().append)[0].wrong)
    for kind in ("dispatcher", "fast_and_slow"):
        assert re.search(f"{kind}, .*changed other lines.*{kind}, .*marks of chat templates", wrong)
