"""Declare the settings of organisations, and which of them apply to which kind.

`kitchen.contract.organisation` has what the settings mean.
"""

from __future__ import annotations

from collections.abc import Mapping

from kitchen.contract.declared_settings import Setting
from kitchen.contract.team_schedules import SCHEDULE, SCHEDULE_SETTINGS, STALE, THINK_STEPS, TOGETHER
from kitchen.contract.world import Json

PRIVATE, TEAM, ALL = "private", "team", "all"
"""The seats that a leader sees: its own seats, also those of all members it commands, or every seat."""

PAIR = "pair"
"""The kind in which two members talk within a step."""
WITHIN, ROUNDS = "within", "rounds"
"""Names of settings: whether members talk within the step, and how often each of them speaks there."""

UNASKED, NEVER = "unasked", "never"
"""Name of the setting that limits messages of agents that nobody asked for, and its value for none."""
TAKES_STEP = "takes_step"
"""Name of the setting by which a message costs its sender, an agent, the step (`talk_cost`)."""
CYCLE_LIMIT, CYCLE_HOPS = "cycle_limit", 3
ORGANISATION_SETTINGS = (
    Setting("talk", "bool", "People and co-players may write to each other", False),
    Setting("leaves_talk", "bool", "Team members may write to each other", True),
    Setting(
        "sees",
        "choice",
        "What the leader sees",
        PRIVATE,
        choices=(
            (PRIVATE, "only its own players"),
            (TEAM, "also its team's players"),
            (ALL, "everything"),
        ),
    ),
    Setting(
        "spoken",
        "bool",
        "People may speak instead of typing",
        False,
        help="The browser turns speech into text, which the person sends. Chrome and Edge do this on "
        "their makers' servers: state this in the consent.",
    ),
    Setting(
        "messages_a_step", "int", "Messages that each member may send in one step", 3, minimum=1, maximum=20
    ),
    Setting(
        WITHIN,
        "bool",
        "Members talk within the step, before anybody chooses",
        False,
        help="A co-player answers each message at once, even while it is busy. The first member opens the "
        "talk. Two members who may write to each other always talk within the step. With this setting, their "
        "co-player may also open the talk. The two take turns: nobody may choose or write before their turn. "
        "Both answer even while an action or plan of theirs continues, and the step waits for the answer.",
    ),
    Setting(
        ROUNDS,
        "int",
        "Answers of a co-player within a step, before anybody chooses",
        3,
        minimum=1,
        maximum=10,
    ),
    Setting(
        "silence",
        "int",
        "Silent steps after which a conversation ends",
        10,
        minimum=1,
        maximum=1000,
    ),
    *SCHEDULE_SETTINGS,
    Setting(
        UNASKED,
        "int",
        "Steps between two messages of a co-player that nobody asked for",
        0,
        help="0: it writes as it likes. never: it only answers. One message to it allows one of its own. "
        "Jobs, and what becomes of them, are always told.",
        minimum=0,
        maximum=1000,
        choices=((NEVER, "never"),),
        later=True,
    ),
    Setting(
        TAKES_STEP,
        "bool",
        "A message of a co-player takes its step",
        False,
        help="In a step in which it writes, it does nothing else. So it has to choose whether speaking is "
        "worth it. An action or plan that is under way continues. People write at no cost, and jobs and what "
        "becomes of them cost nothing.",
        later=True,
    ),
    Setting(
        CYCLE_LIMIT,
        "int",
        "Times that a job is given before it may not come back to a member that had it",
        CYCLE_HOPS,
        minimum=2,
        maximum=1000,
    ),
)
"""The settings of all kinds; `SETTINGS_BY_KIND` lists which apply to which kind."""

TIME_SETTINGS = (SCHEDULE, THINK_STEPS, STALE)
"""Names of the settings about who is asked when, and how long thinking takes."""
_IN_STEP = frozenset({WITHIN, ROUNDS})
_TIMED = frozenset(TIME_SETTINGS)
_PAIRS = frozenset({"spoken", "messages_a_step", UNASKED}) | _IN_STEP
_USUAL = _PAIRS | {TAKES_STEP}
SETTINGS_BY_KIND: Mapping[str, frozenset[str]] = {
    "central": _USUAL | _TIMED | {"talk"},
    "each": _USUAL | _TIMED | {"talk"},
    "solo": _TIMED,
    PAIR: _PAIRS,
    "pairwise": _TIMED | {"spoken", "messages_a_step", "silence", UNASKED},
    "chain": _USUAL | _TIMED | {"sees"},
    "graph": _USUAL | _TIMED | {"sees", CYCLE_LIMIT},
    "tree": _USUAL | _TIMED | {"sees", "leaves_talk"},
    "custom": _USUAL | _TIMED | {"sees", CYCLE_LIMIT},
}
"""Settings that apply to a kind; the others must keep their defaults. `cycle_limit` applies where a job can
come back to a member that had it."""


def applicable_settings(kind: str, chosen: Mapping[str, Json]) -> frozenset[str]:
    """Return the names of the settings that have an effect for this kind, given the values in `chosen`.

    `within` is included only if it is on; `takes_step` only if `within` is off. `rounds` needs members that
    talk within the step, as in a `pair`. `think_steps` and `stale` need a schedule other than `together`.
    """
    left_out: frozenset[str] = frozenset()
    if not chosen.get(WITHIN):
        left_out |= _IN_STEP - ({ROUNDS} if kind == PAIR else set())
    else:
        left_out |= {TAKES_STEP}
    if chosen.get(SCHEDULE, TOGETHER) == TOGETHER:
        left_out |= {THINK_STEPS, STALE}
    return SETTINGS_BY_KIND[kind] - left_out
