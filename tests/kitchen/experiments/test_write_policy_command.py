"""`manage.py write_policy`: its files, its last line, and what it refuses."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

BAD_TREE = "wait\ndeliver\nput\nfill\nif dish needed: pickup dish\npickup onion\n"


def run(out: Path, *arguments: str) -> list[str]:
    """The lines that the command prints."""
    output = io.StringIO()
    call_command("write_policy", "--out", str(out), *arguments, stdout=output, stderr=io.StringIO())
    return output.getvalue().splitlines()


def test_a_bad_tree_becomes_better_and_every_round_is_kept(tmp_path: Path) -> None:
    out, begin = tmp_path / "tree.txt", tmp_path / "bad.txt"
    begin.write_text(BAD_TREE)
    small = ("--layouts", "cramped_room", "--partner", "stay", "--ticks", "70", "--seeds", "1")
    lines = run(out, *small, "--rounds", "2", "--seed", "21", "--begin", str(begin))
    assert len(lines) == 5
    assert lines[-1].endswith("(beginning 0.0)")
    assert "mean 0.0" not in lines[-1]
    rounds = [json.loads(line) for line in (tmp_path / "tree.txt.jsonl").read_text().splitlines()]
    assert [one["round"] for one in rounds] == [0, 1, 2]
    assert rounds[1]["calls"][0]["prompt"][1]["text"].count("100% by line 1: wait") == 1
    assert out.read_text() == [one["policy"] for one in rounds if one["is_best"]][-1]


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("--layouts", "nowhere"), "--layouts: 'nowhere' is not one of"),
        (("--partner", "nobody"), "--partner: "),
        (("--partner", "proagent"), "--partner: proagent cannot play here without waiting for anything"),
        (("--partner", "greedy", "--rounds", "0"), "--rounds: 0 is not from 1 to 200"),
        (("--model", "nobody:x"), "model: 'nobody' is no provider"),
        (("--model", "anthropic:claude-sonnet-5-5"), "--budget: anthropic:claude-sonnet-5-5 may cost money"),
        (("--budget", "much"), "--budget: 'much' is no amount"),
        (("--begin", "missing.txt"), "--begin: missing.txt: "),
        (("--world", "cuisine"), "--world: 'cuisine' is not one of overcooked"),
    ],
)
def test_bad_input_is_refused_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], why: str
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "none")
    with pytest.raises(CommandError) as raised:
        run(tmp_path / "tree.txt", *arguments)
    assert raised.value.returncode == 2
    assert str(raised.value).startswith(why)
    assert "\n" not in str(raised.value)
    assert list(tmp_path.iterdir()) == []


def test_a_tree_with_a_mistake_is_refused_with_its_line(tmp_path: Path) -> None:
    begin = tmp_path / "begin.txt"
    begin.write_text("put\nfry\n")
    with pytest.raises(CommandError, match=r"begin.txt: line 2: 'fry' is no act"):
        run(tmp_path / "tree.txt", "--begin", str(begin))


def test_files_that_exist_are_never_overwritten(tmp_path: Path) -> None:
    (tmp_path / "tree.txt.jsonl").write_text("paid")
    with pytest.raises(CommandError, match=r"exists already; name a new file$"):
        run(tmp_path / "tree.txt")
