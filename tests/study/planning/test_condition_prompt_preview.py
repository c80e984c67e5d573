"""Prompts are counted by who reads them."""

from __future__ import annotations

from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from tests.stand_in_server import Answer, Body, StandInServer, status
from tests.study.factories import make_study
from tests.study.planning.test_study_cost_forecast import PAID, dispatched

pytestmark = pytest.mark.django_db


def counted(body: Body) -> Answer:
    return Answer(
        "raw", body={"input_tokens": 3000 if len(body["messages"][0]["content"][0]["text"]) > 1 else 2500}
    )


def told(*script: Any, monkeypatch: pytest.MonkeyPatch) -> str:
    study, out = make_study(conditions=2), StringIO()
    dispatched(study, "c1", PAID)
    with StandInServer(script) as server:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-test-0123456789")
        monkeypatch.setenv("NO_PROXY", "127.0.0.1")
        try:
            call_command("count_tokens", study.slug, stdout=out)
        except CommandError as error:
            assert error.returncode == 1
            out.write(str(error))
    return out.getvalue()


def test_every_condition_has_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    alone, paid = told(counted, monkeypatch=monkeypatch).splitlines()
    assert alone.endswith(": asks no language model")
    assert "anthropic:claude-sonnet-5-5 counts 3000 tokens, 2500 of them fixed; from the length" in paid


def test_a_provider_that_does_not_answer_ends_it_with_one(monkeypatch: pytest.MonkeyPatch) -> None:
    _, paid, said = told(status(401, message="no key"), monkeypatch=monkeypatch).splitlines()
    assert paid.endswith("not counted: 401: no key") and said == "not every prompt could be counted"


def test_a_study_that_is_not_there_is_told() -> None:
    with pytest.raises(CommandError, match="no study is called 'none'") as caught:
        call_command("count_tokens", "none")
    assert caught.value.returncode == 2
