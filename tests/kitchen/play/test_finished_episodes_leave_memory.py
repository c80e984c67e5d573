"""Episodes that are over leave nothing in memory but what is kept up to a bound."""

from __future__ import annotations

import gc
from collections import Counter
from random import Random
from typing import Any
from weakref import ref

import pytest
from django.template import engines

from kitchen.agents.policy import policy_folder
from kitchen.agents.policy.policy_session import policy_session
from kitchen.play.live import render_page
from kitchen.play.live.page_session import PageAnswer, open_page
from kitchen.play.turn import turn_cache
from kitchen.play.turn.websocket_messages import CommandMessage
from kitchen.worlds.cuisine import action_menu, order_steps
from kitchen.worlds.cuisine.command_table import command_table_of
from tests.kitchen.factories import make_episode

pytestmark = pytest.mark.django_db

STEPS, EPISODES = 2, 12
"""Short ones, and many: what each of them leaves stands out from what comes and goes."""


def test_episodes_that_are_over_leave_nothing_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("django.db.transaction.on_commit", lambda act: act())
    monkeypatch.setattr("kitchen.play.turn.page_broadcast.nudge_pages", lambda *told: None)
    play_all(0, EPISODES)
    both = left_by(EPISODES, 2 * EPISODES) & left_by(2 * EPISODES, 3 * EPISODES)
    assert not {kind: number for kind, number in both.items() if number >= EPISODES // 2}


def left_by(first: int, last: int) -> Counter[str]:
    """Objects of each class that there are more after these episodes. What comes once comes in one of two
    such stretches; what an episode leaves behind comes in both."""
    before = held()
    play_all(first, last)
    return held() - before


def play_all(first: int, last: int) -> None:
    """So many episodes, as pages of browsers and of programs in turn."""
    for number in range(first, last):
        play(Random(number), json=number % 2 == 0)


def play(chance: Random, *, json: bool) -> None:
    """One episode to its end."""
    episode = make_episode(steps=STEPS)
    page, _ = open_page(episode.seats.get().key, "page", newest=True, json=json)
    assert page
    for step in range(1, STEPS + 1):
        with turn_cache.read_turn(episode.pk) as turn:
            options = turn.world.legal_actions(0)
        assert isinstance(page.command(CommandMessage(step, chance.choice(options))), PageAnswer)
    assert episode.pk not in turn_cache._turns


def held() -> Counter[str]:
    """How many objects there are of each class, of those that can hold others: they hardly come and go. Weak
    references hold nothing; sqlite3 has one of each of its last cursors, up to 200."""
    let_go()
    kinds = (type(one) for one in gc.get_objects())
    return Counter(f"{kind.__module__}.{kind.__qualname__}" for kind in kinds if kind is not ref)


def let_go() -> None:
    """Of drawings, menus, outcomes and templates, which have bounds of their own, and of what nobody holds.
    Jinja keeps a second key of each template that it has looked up again."""
    bounded = (
        *(render_page.render_frame, action_menu._grouped, command_table_of, order_steps._useful_commands),
        *(policy_session, policy_folder._known_file),
    )
    for kept_up_to_a_bound in bounded:
        kept_up_to_a_bound.cache_clear()
    panels: Any = engines["panels"]
    panels.env.cache.clear()
    gc.collect()
