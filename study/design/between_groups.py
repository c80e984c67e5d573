"""Parse a study's between-subjects groups, and find the conditions that each group plays.

Each participant belongs to one group. Participants play the conditions of their group, and all conditions
that have no group. Groups are assigned in blocks: each block has every group once, in random order. If a
participant drops out, withdraws or is excluded, the next participant gets this place in the group. The module
does not import Django.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

from study.design.analysis_plan import KEY

MOST_GROUPS = 12
"""The most groups of a study."""


def group_keys(text: str) -> tuple[str, ...]:
    """Split a text such as `novices experts` at its spaces, and return the keys of the groups."""
    return tuple(text.split())


def group_keys_problem(text: str) -> str:
    """Return why the words of this text cannot be the keys of groups. Return an empty string if they can,
    or if the text has no words."""
    keys = group_keys(text)
    if wrong := [key for key in keys if not KEY.fullmatch(key)]:
        return f"{wrong[0]}: letters, digits, hyphens and underscores only, with spaces between the groups."
    if twice := [key for key in keys if keys.count(key) > 1]:
        return f"Two groups have the key {twice[0]}."
    if len(keys) == 1:
        return "One group is no comparison: name two or more, or none."
    return f"At most {MOST_GROUPS} groups." if len(keys) > MOST_GROUPS else ""


Plan = TypeVar("Plan")


def conditions_of_group(conditions: Iterable[Plan], group: str) -> tuple[Plan, ...]:
    """Return the conditions that this group plays, in the given order: its own conditions, and conditions
    without a group. If `group` is empty, return only conditions without a group."""
    return tuple(one for one in conditions if _group_of(one) in ("", group))


def groups_meet(group: str, other: str) -> bool:
    """Return whether any participant plays conditions of both groups. Return True if both keys are equal or
    one of them is empty. An empty key means all groups."""
    return group == other or not (group and other)


def level_of(condition: Any) -> str:
    """Return a condition's level of the within-subjects factor. This is `within_level` or, if that is
    empty, the condition's key."""
    return str(condition.within_level or condition.key)


def level_problem(conditions: Sequence[Any], groups: Sequence[str]) -> str:
    """Return why the groups and within-subjects levels cannot be analysed together. Return an empty string if
    they can.

    Every group must play every level once.
    """
    levels = {group: [level_of(one) for one in conditions_of_group(conditions, group)] for group in groups}
    for group, played in levels.items():
        if twice := [level for level in played if played.count(level) > 1]:
            return f"the group {group} plays the level {twice[0]} twice"
    first = next(iter(levels.values()), [])
    for group, played in levels.items():
        if missing := set(first) ^ set(played):
            return f"the groups {groups[0]} and {group} do not both play the level {min(missing)}"
    return ""


def _group_of(condition: Any) -> str:
    return str(condition.between_group)
