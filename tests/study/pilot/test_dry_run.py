"""`manage.py dry_run`: what it refuses, and the whole way against the running app."""

from __future__ import annotations

import re
import subprocess
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from study.design.models import Study, StudyPart
from tests.servers import Stack
from tests.study.factories import make_study

MAKE = """
from study.design.models import Condition, Study, StudyPart, SurveyItem
study = Study.objects.create(slug={slug!r}, title="Small", seed=5)
StudyPart.objects.create(study=study, kind="consent", text="I agree.")
settings = dict(level="level_0", alpha=2.0, beta=2.5, max_steps={steps})
for key, coplayer, teammates in (("alone", "none", 0), ("two", "dispatcher", 1)):
    Condition.objects.create(study=study, key=key, name=key, label="Team " + key, settings=settings,
        coplayer=coplayer, teammates=teammates)
for key in ("trust", "fun"):
    SurveyItem.objects.create(study=study, key=key, measure=key, text=key + "?")
"""
LOOK = """
from study.design.models import Study
for one in Study.objects.get(slug={slug!r}).participants.all():
    rounds = list(one.rounds.all())
    print(one.number, one.synthetic, one.status, all(r.episode.synthetic for r in rounds),
        sum(r.answers.count() for r in rounds), sum(r.episode.steps.count() for r in rounds))
"""
WAIT = """
import time
from kitchen.play.models import Step
rows = Step.objects.filter(episode__rounds__participant__study__slug={slug!r})
while rows.count() < {steps}:
    time.sleep(0.1)
print(rows.count())
"""


WHOLE = """
title = "All parts"
seed = 5
recruitment = "prolific"
shuffle_items = true
[world]
kind = "cuisine"
settings = { level = "level_0", alpha = 2.0, beta = 2.5, max_steps = 4 }
[parts.consent]
text = "I agree."
settings = { statements = ["One.", "Two."] }
[parts.about]
enabled = true
[parts.practice]
enabled = true
[parts.practice.settings.kitchen]
world = "cuisine"
settings = { level = "level_0", alpha = 2.0, beta = 2.5, max_steps = 3 }
[parts.check]
enabled = true
settings = { attempts = 2, on_failure = "end" }
[parts.final]
enabled = true
[parts.debriefing]
enabled = true
text = "That was it."
[[outcomes]]
kind = "complete"
code = "SAME4ALL"
[[outcomes]]
kind = "failed_check"
code = "FAILED"
"""
ITEMS = {
    "age": 'place = "about"\nkind = "number"\nminimum = 18\nmaximum = 99\nstep = 1',
    "games": 'place = "about"\nkind = "multiple"\noptions = ["a", "b", "c"]',
    "known": 'place = "check"\nkind = "single"\noptions = ["yes", "no"]\ncorrect = "no"',
    "both": 'place = "check"\nkind = "multiple"\noptions = ["a", "b", "c"]\ncorrect = ["a", "c"]',
    "trust": "points = 7",
    "attention": "points = 7\ncorrect = 2",
    "best": 'place = "final"\nkind = "team"',
    "words": 'place = "final"\nkind = "text"',
}
KEYS = ("c1", "c2", "c3")
COUNT = """
from collections import Counter
from kitchen.play.models import Episode, Seat
from study.design.models import Study
from study.participants.models import Answer, Participant
study = Study.objects.get(slug={slug!r})
print(sorted(Counter(study.participants.values_list("status", flat=True)).items()), study.withdrawn_synthetic)
print(study.participants.filter(synthetic=False).exists(),
    Episode.objects.filter(synthetic=True, rounds=None, practised_by=None).exists(),
    set(study.participants.exclude(status="no_consent").values_list("label", flat=True))
    <= {{f"SYN-{seed}-{{number}}" for number in range(1, 13)}})
asked = Answer.objects.filter(item__key="attention", item__study=study).values_list("value", flat=True)
print(0 < sum(value != 2 for value in asked) < len(asked))
"""


def refused(*arguments: str, **options: Any) -> str:
    """What the command says when it ends with exit code 2: one line."""
    with pytest.raises(CommandError) as caught:
        call_command("dry_run", *arguments, **{"participants": 1, "url": "http://localhost:9", **options})
    assert caught.value.returncode == 2
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.django_db
def test_an_impossible_request_is_refused_in_one_line() -> None:
    make_study("small")
    make_study("shut", status=Study.Status.CLOSED).parts.filter(kind="consent").update(text="")
    Study.objects.create(slug="bare", title="Bare")
    assert "there is no study 'nope'" in refused("nope")
    assert "--participants: 0 is below 1" in refused("small", participants=0)
    assert "--at-once: 0 is below 1" in refused("small", at_once=0)
    assert "--patience" in refused("small", patience=float("nan"))
    assert "--think" in refused("small", think=-1)
    assert "closed" in refused("shut")
    assert "together at most 100" in refused("small", drop_outs=60, withdrawals=50)
    assert "together at most 100" in refused("small", refusals=float("nan"))
    assert "from 0 to 100" in refused("small", drop_outs=-1)
    assert "no question with a right answer" in refused("small", fail_checks=10)
    StudyPart.objects.filter(kind="consent").update(enabled=False)
    assert "asks for no consent" in refused("small", refusals=10)
    assert "no conditions" in refused("bare")


@pytest.mark.django_db
@pytest.mark.parametrize("url", ["ftp://localhost/", "localhost:8000", "", "http://", "http://h:port/"])
def test_an_address_that_is_none_is_refused(url: str) -> None:
    make_study("small")
    assert "is not an address" in refused("small", url=url)


@pytest.mark.django_db
def test_a_server_that_is_not_there_is_refused() -> None:
    make_study("small")
    said = refused("small", url="http://localhost:9")
    assert "cannot be reached" in said
    assert "invitation" not in said


def walk(stack: Stack, slug: str, *more: str) -> subprocess.CompletedProcess[str]:
    """What becomes of a dry run against the running app."""
    return stack.command("dry_run", slug, "--url", stack.url, *more)


def test_synthetic_participants_walk_the_whole_way(live_stack: Stack) -> None:
    live_stack.manage("shell", "-v", "0", "-c", MAKE.format(slug="walked", steps=6))
    done = walk(live_stack, "walked", "--participants", "2", "--seed", "1")
    assert done.returncode == 0, done.stdout + done.stderr
    lines = done.stdout.splitlines()
    assert lines[-1] == "2 of 2 synthetic participants finished"
    assert lines[-2] == "2 finished, 0 dropped out, 0 withdrew, 0 refused, 0 failed the check"
    assert sorted(line[:30] for line in lines[:-2]) == [
        f"participant {n} of 2 finished in "[:30] for n in (1, 2)
    ]
    rows = live_stack.manage("shell", "-v", "0", "-c", LOOK.format(slug="walked")).splitlines()
    assert rows == [f"{number} True complete True 4 12" for number in (1, 2)]
    told = [line for line in done.stderr.splitlines() if line.startswith("warning: ")]
    assert all(any(name in line for line in told) for name in ("alone", "two")), done.stderr
    assert "none" not in lines[0] and "Dishes completed" in lines[0]


TICKING = """
slug = "ticking"
title = "A clock"
seed = 5
[world]
kind = "overcooked"
settings = { ticks = 20, clock = "tick", tick_ms = 200 }
[parts.consent]
text = "I agree."
[[conditions]]
key = "beside"
name = "Beside"
label = "Beside"
coplayer = "greedy"
teammates = 1
[[items]]
key = "trust"
measure = "trust"
text = "Trust?"
points = 7
"""
PRESSED = """
from kitchen.play.models import Episode, SeatCommand
from kitchen.play.episode.log_integrity import verify_episode_logs
rows = Episode.objects.filter(rounds__participant__study__slug="ticking")
commands = SeatCommand.objects.filter(episode__in=rows, seat=0).order_by("step")
by = list(commands.values_list("chosen_by", flat=True))
print(rows.get().status, len(by), by.count("person") > 2, set(by) <= {"person", "clock"})
print(all(verdict.holds for verdict in verify_episode_logs(rows)))
"""


def test_they_press_keys_where_a_clock_takes_the_steps(live_stack: Stack, tmp_path: Path) -> None:
    live_stack.start_ticker()
    file = tmp_path / "ticking.toml"
    file.write_text(TICKING)
    live_stack.manage("load_study", str(file))
    done = walk(live_stack, "ticking", "--participants", "1")
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"finished in \d+ s: [A-Z][a-z ]+ \d", done.stdout.splitlines()[0]), done.stdout
    found = live_stack.manage("shell", "-v", "0", "-c", PRESSED).splitlines()
    assert found == ["over 20 True True", "True"]


def whole_study(folder: Path, slug: str = "whole", conditions: Sequence[str] = ()) -> Path:
    """A study with every part and every kind of item; with three teams that are alike, unless conditions are
    given."""
    alike = [f'[[conditions]]\nkey = "{key}"\nname = "{key}"\nlabel = "Team {key}"' for key in KEYS]
    items = [
        f'[[items]]\nkey = "{key}"\nmeasure = "{key}"\ntext = "{key}?"\n{more}' for key, more in ITEMS.items()
    ]
    file = folder / f"{slug}.toml"
    file.write_text("\n".join([f'slug = "{slug}"', WHOLE, *(conditions or alike), *items]))
    return file


@pytest.mark.servers
@pytest.mark.nightly  # tests/study/test_acceptance.py sees fewer of each do so
def test_some_drop_out_withdraw_refuse_and_fail_as_planned(live_stack: Stack, tmp_path: Path) -> None:
    live_stack.manage("load_study", str(whole_study(tmp_path)))
    shares = ("--drop-outs", "25", "--withdrawals", "17", "--refusals", "8", "--fail-checks", "17")
    done = walk(live_stack, "whole", "--participants", "12", *shares)
    assert done.returncode == 0, done.stdout + done.stderr
    lines = done.stdout.splitlines()
    assert lines[-2] == "4 finished, 3 dropped out, 2 withdrew, 1 refused, 2 failed the check"
    assert lines[-1] == "4 of 12 synthetic participants finished"
    assert live_stack.manage("shell", "-v", "0", "-c", COUNT.format(slug="whole", seed=1)).splitlines() == [
        "[('complete', 4), ('failed_check', 2), ('no_consent', 1), ('timed_out', 3)] 2",
        "False False True",
        "True",
    ]
    again = walk(live_stack, "whole", "--participants", "12")
    assert again.returncode == 2
    assert "name another seed" in again.stderr


def test_a_participant_who_waits_in_vain_gives_up_and_says_where(live_stack: Stack) -> None:
    live_stack.manage("shell", "-v", "0", "-c", MAKE.format(slug="stuck", steps=6))
    live_stack.kill_worker()
    done = walk(live_stack, "stuck", "--participants", "1", "--patience", "3")
    assert done.returncode == 1
    assert done.stdout.splitlines()[-1] == "0 of 1 synthetic participants finished"
    assert "did not finish as planned: number 1: nothing moved for" in done.stderr
    assert "phase thinking" in done.stderr


@pytest.mark.nightly  # tests/live/test_kills.py kills more, and asks more afterwards
@pytest.mark.servers
def test_they_go_on_where_they_were_when_daphne_and_the_worker_die(live_stack: Stack) -> None:
    live_stack.manage("shell", "-v", "0", "-c", MAKE.format(slug="killed", steps=14))
    found: list[subprocess.CompletedProcess[str]] = []
    walker = threading.Thread(
        target=lambda: found.append(walk(live_stack, "killed", "--participants", "2", "--think", "0.05"))
    )
    walker.start()
    for kill, steps in ((live_stack.kill_daphne, 6), (live_stack.kill_worker, 14)):
        _wait_for(live_stack, "killed", steps)
        kill()
        live_stack.restart()
    walker.join()
    assert found[0].stdout.splitlines()[-1] == "2 of 2 synthetic participants finished", found[0]
    assert "retries" in found[0].stdout
    assert _wait_for(live_stack, "killed", 0) == 2 * 2 * 14


def _wait_for(stack: Stack, slug: str, steps: int) -> int:
    """Wait until so many steps were played in the study; how many it were then."""
    return int(stack.manage("shell", "-v", "0", "-c", WAIT.format(slug=slug, steps=steps)))
