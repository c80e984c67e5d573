"""The stand-in server itself, and on the command line."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from brigade.paths import base_dir
from kitchen.contract.language_model import Message, Tool
from kitchen.llm.model_wrappers import ask_and_record
from kitchen.llm.providers.anthropic import Anthropic
from tests.kitchen.llm.conftest import KEY, Asking, Serve, request
from tests.stand_in_server import Answer, noop, read_script, reply


def test_noop_commands_everybody_whom_the_prompt_names(asking: Asking) -> None:
    asking.serve(noop)
    messages = [Message("system", "There are agent1 and agent 2."), Message("user", "Go.")]
    question = replace(request(asking.name), messages=messages)
    tool = Tool("command", "x", {"type": "object", "properties": {}})
    plain, called = (
        asyncio.run(ask_and_record(asking.model, replace(question, tool=each))).reply for each in (None, tool)
    )
    assert plain is not None
    assert plain.text.splitlines()[1:] == ["noop_agent1", "noop_agent2"]
    assert called is not None
    assert called.call is not None
    assert called.call["commands"] == ["noop_agent1", "noop_agent2"]


def test_the_last_answer_is_given_for_ever(anthropic_server: Serve) -> None:
    server = anthropic_server(reply("one"), reply("two"))
    texts = [
        found.reply and found.reply.text
        for found in (asyncio.run(ask_and_record(Anthropic(), request())) for _ in "123")
    ]
    assert texts == ["one", "two", "two"]
    assert len(server.asked) == 3


def test_a_script_is_a_list_of_answers() -> None:
    assert read_script('[{"text": "hi"}, "noop"]') == [Answer(text="hi"), noop]


@pytest.mark.parametrize("entry", ['{"kind": "odd"}', '{"txt": "x"}', '"odd"'])
def test_a_wrong_entry_is_named(entry: str) -> None:
    with pytest.raises(ValueError, match="answer 2"):
        read_script(f'["noop", {entry}]')


@contextmanager
def running(*arguments: str) -> Iterator[str]:
    command = [sys.executable, "-m", "tests.stand_in_server", *arguments]
    with subprocess.Popen(command, cwd=base_dir(), stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.terminate()


def test_it_runs_from_the_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = tmp_path / "script.json"
    script.write_text(json.dumps([{"kind": "status", "status": 529}, "noop"]))
    with running("--script", str(script)) as url:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", url)
        monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
        assert asyncio.run(ask_and_record(Anthropic(), request())).error == "529"
        found = asyncio.run(ask_and_record(Anthropic(), request())).reply
    assert found is not None
    assert "noop_agent1" in found.text
