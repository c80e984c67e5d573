"""Explain to a language model how to write a decision tree for a cook, and tell it what a tree reached."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random
from statistics import fmean
from typing import ClassVar

from kitchen.agents.skill_agents.skill_text import titled_parts
from kitchen.contract.episode_log import EpisodeLog
from kitchen.contract.policy_language import PolicyLanguage
from kitchen.contract.world import Json
from kitchen.worlds.overcooked.layout import Layout, shipped_layouts
from kitchen.worlds.overcooked.written_policy.policy_facts import ACT_MEANINGS, FACT_MEANINGS
from kitchen.worlds.overcooked.written_policy.policy_measures import decisions_by_line
from kitchen.worlds.overcooked.written_policy.policy_tree import MAX_CHARACTERS, MAX_DEPTH, MAX_LINES
from kitchen.worlds.overcooked.written_policy.policy_variation import vary_policy
from kitchen.worlds.overcooked.written_policy.written_policy_agent import (
    DEFAULT_TREE,
    TREE_SETTING,
    WrittenPolicyAgent,
    read_tree,
)

_TASK = """You write a small decision tree for one of two cooks, who make soups in a small kitchen.
Both earn the same points, by the soups served. The tree plays in both seats, beside a partner that you
cannot command. It is played without you. You then see what it reached, and may revise it."""
_RULES = """A cook holds one thing at most. Three ingredients in a pot make a soup. A pot that cooks, or is
ready, takes nothing more. With a dish, a cook takes a ready soup out of a pot, and serves it.
Cooks cannot pass through each other. What one of them cannot reach, the other can lay on a counter."""
_FORM = f"""Each line is an act or a condition. In every tick, lines are tried from the first to the last.
The first act that applies and is possible now is done, so an impossible act costs nothing.
A condition is `if FACT and not FACT:` with an act behind the colon, or with indented lines below it.
`elif FACT:` and `else:` may follow. There is no `or`. Comments begin with #.
At most {MAX_LINES} lines, {MAX_DEPTH} levels and {MAX_CHARACTERS} characters."""
_LETTERS = """O onions, T tomatoes, D dishes, P pot, S serving place, X counter. The cook of seat 0 begins
at 1, that of seat 1 at 2."""


class GridPolicyLanguage(PolicyLanguage):
    """The language of the co-player `written_policy`."""

    agent: ClassVar[str] = WrittenPolicyAgent.kind
    setting: ClassVar[str] = TREE_SETTING
    beginning = DEFAULT_TREE

    def primer(self, levels: Sequence[str]) -> str:
        """Return the task, the rules, the layouts, and the acts and facts of the language."""
        layouts = [shipped_layouts()[level] for level in levels]
        return titled_parts(
            [
                ("Your task", _TASK.splitlines()),
                ("Rules", _RULES.splitlines()),
                ("Kitchens", [*_LETTERS.splitlines(), *(line for one in layouts for line in _drawn(one))]),
                ("The tree", _FORM.splitlines()),
                ("Acts", [f"{act}: {meaning}" for act, meaning in ACT_MEANINGS.items()]),
                ("Facts", [f"{fact}: {meaning}" for fact, meaning in FACT_MEANINGS.items()]),
            ]
        )

    def check(self, policy: str) -> None:
        """Raise ValueError with one line for the first mistake in a tree."""
        read_tree(policy)

    def vary(self, policy: str, chance: Random) -> str:
        """Return a correct tree with small changes (`vary_policy`)."""
        return vary_policy(policy, chance)

    def decisions(self, log: EpisodeLog, seat: int) -> Mapping[int, int]:
        """Return how many decisions each line of the tree made for this seat (`decisions_by_line`)."""
        return decisions_by_line(log, seat)

    def result_text(self, scores: Sequence[Mapping[str, Json]], seat: int) -> str:
        """Return the mean points, soups, idle ticks of both cooks, and collisions."""
        points, soups, idle, idle_partner, collisions = (
            fmean(score[name] for score in scores)
            for name in (
                "points",
                "soups",
                f"idle_ticks_seat_{seat}",
                f"idle_ticks_seat_{1 - seat}",
                "collisions",
            )
        )
        return (
            f"{points:.0f} points, {soups:.1f} soups; your cook stood still for {idle:.0f} ticks, its "
            f"partner for {idle_partner:.0f}; they blocked each other in {collisions:.0f}"
        )


def _drawn(layout: Layout) -> list[str]:
    soups = ", ".join(" and ".join(soup) for soup in layout.orders)
    return [f"{layout.code}. Ordered: {soups}.", *layout.rows]


GRID_POLICY_LANGUAGE = GridPolicyLanguage()
