"""Compare in tables and charts how fast differently organised teams reach a goal.

The layout follows Figure 7 of S-Agents (arXiv 2402.04578). TC is the mean number of steps to the goal, over
the episodes that reached it. mPT is the mean number of times that a member planned, over all episodes. The
paper's values were read from the figure. These are minutes in another game, so compare only how the teams
rank.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from kitchen.charts.chart_data import Axis, Chart, Panel, Point, Series
from kitchen.contract.line_up import MEMBER_SEPARATOR, line_up_kinds, line_up_members
from kitchen.experiments.comparison_tables import Estimate, TextTable
from kitchen.experiments.experiment_results import CellResult, IntervalResult, decision_makers_of
from kitchen.experiments.experiment_setup import ExperimentColumn, ExperimentSetup
from kitchen.registry.agent_registry import get_agent

READ = "S-Agents, read from a figure"
MINUTES_AND_MPT: Mapping[str, tuple[float, float]] = {
    "chain": (29.0, 4.0),
    "graph": (9.3, 3.0),
    "tree(3)": (7.5, 3.8),
}
"""Figure 7a: TC in minutes, and mPT."""
MINUTES_BY_TASK: Mapping[str, Mapping[str, float | None]] = {
    "solo": {
        "50 logs": 10.2,
        "100 logs": 18.3,
        "50 stones": 6.5,
        "50 irons": None,
        "100 irons": None,
    },
    "tree(1)": {"50 logs": 7.1, "50 stones": 6.9, "50 irons": None},
    "tree(3)": {"50 logs": 5.1, "100 logs": 11.1, "50 stones": 7.5, "50 irons": 15.3, "100 irons": 24.3},
}
"""Figures 7b and 7c: TC in minutes. None: no progress for 40 minutes and more than 5 failures."""
NOT_REACHED = "not reached"
CONTRADICTIONS = (
    "S-Agents' values were read from a figure (arXiv 2402.04578, Figure 7). They are minutes in another "
    "world. The numbers of runs and their variance are unknown.",
    "The paper contradicts itself. For 7a, the text names 50 logs and the caption 50 stones; 7.5 minutes is "
    "the value of the tree for stones in 7b. The text calls the tree best with an mPT of 3.8, but that of "
    "the graph is 3.0. Three agents are announced, but tree(3) has four. On stones, the tree is slower than "
    "solo.",
)
UNLIKE_LEAVES = (
    "The mPT are not comparable where our leaves are followers, which never plan: S-Agents' leaves plan "
    "themselves, as an hourglass does."
)
"""A note on the members at the ends of a tree."""


@dataclass(frozen=True, slots=True)
class OrganisationResult:
    """The results of one organisation and line-up in one level, over all intervals."""

    level: str
    name: str
    time: Estimate
    """Steps to the goal in the episodes that reached it."""
    episodes: int
    plannings: Estimate
    steps: int = 0
    """Number of steps of the longest episode."""
    idle_leaders: tuple[str, ...] = ()
    """Kinds of agents that have workers in this organisation, and do jobs but give none."""

    @property
    def is_missed(self) -> bool:
        """Return True if episodes were played, and none of them reached the goal."""
        return bool(self.episodes) and not self.time.values

    @property
    def texts(self) -> tuple[str, str]:
        """Return two texts: the steps to the goal (TC) with interval, and the planning iterations per member
        (mPT) with interval. If not all episodes reached the goal, the first says how many did."""
        reached = len(self.time.values)
        part = "" if reached == self.episodes else f" ({reached} of {self.episodes})"
        time = f"{_with_interval(self.time)}{part}" if reached else NOT_REACHED if self.is_missed else ""
        return time, _with_interval(self.plannings)


def _with_interval(estimate: Estimate) -> str:
    if estimate.mean is None:
        return ""
    interval = "" if estimate.interval is None else " [{:.1f}, {:.1f}]".format(*estimate.interval)
    return f"{estimate.mean:.1f}{interval}"


def organisation_results(results: Iterable[CellResult]) -> list[OrganisationResult]:
    """Return the results of each organisation and line-up (agents that play together) in each level."""
    return [_result(cell) for cell in results]


def _result(cell: CellResult) -> OrganisationResult:
    def all_of(values: Iterable[Sequence[float | None]]) -> tuple[float, ...]:
        return tuple(one for several in values for one in several if one is not None)

    intervals: Sequence[IntervalResult] = cell.intervals
    return OrganisationResult(
        cell.column.level,
        cell.column.variant.name,
        Estimate(all_of(each.goals for each in intervals), (0, None), are_counts=True),
        sum(each.episodes for each in intervals),
        Estimate(all_of(each.plannings for each in intervals), (0, None), are_counts=True),
        steps=max((steps for each in intervals for steps in each.steps), default=0),
        idle_leaders=_idle_leaders(cell.column),
    )


def _idle_leaders(column: ExperimentColumn) -> tuple[str, ...]:
    """Return the kinds of agents in this cell that have workers to lead, and do jobs but give none. A leader
    is left out if all its workers get jobs from other leaders, as in a graph."""
    line_up, team = column.variant.coplayer, column.variant.organisation
    if team is None:
        return ()
    members = line_up_members(line_up, column.agents)
    kinds = {one.number: kind for kind, one in zip(line_up_kinds(line_up), members, strict=True)}
    idle = {number for number, kind in kinds.items() if (one := get_agent(kind)).pursues and not one.leads}
    without = {number for number in kinds if set(team.commanders_of(number)) <= idle}
    return tuple(sorted({kinds[number] for number in idle if without & set(team.commanded_by(number))}))


def reasons_not_reached(results: Iterable[OrganisationResult]) -> tuple[str, ...]:
    """Return sentences about the organisations that did not reach the goal: the steps that they had, and
    agents that pass no jobs on."""
    missed: dict[tuple[int, tuple[str, ...]], list[str]] = {}
    for each in results:
        if each.is_missed:
            name = f"{_with_repetitions_counted(each.name)} in {each.level}"
            missed.setdefault((each.steps, each.idle_leaders), []).append(name)
    return tuple(
        f"Not reached in {steps} steps: {'; '.join(names)}."
        + "".join(f" A {kind} passes no jobs on, so its workers get none from it." for kind in idle)
        for (steps, idle), names in missed.items()
    )


def organisation_text_tables(setup: ExperimentSetup, results: Sequence[CellResult]) -> list[TextTable]:
    """Return the result tables of an experiment with a goal. Return an empty list if there is no goal.

    The tables follow the paper's Figure 7: steps to the goal (TC) and planning iterations per member (mPT) of
    every organisation (7a), and TC by task (7b and 7c).
    """
    if not setup.goal:
        return []
    found = organisation_results(results)
    levels = list(dict.fromkeys(each.level for each in found))
    names = list(dict.fromkeys(each.name for each in found))
    cells = {(each.name, each.level): each for each in found}
    goal = ", ".join(f"{name} {least:g}" for name, least in setup.goal.items())
    head = [f"{measure}, {level}" for level in levels for measure in ("TC", "mPT")]
    rows = [(name, *(text for level in levels for text in cells[name, level].texts)) for name in names]
    title = f"Organisations: steps to {goal} (TC), and planning iterations of a member (mPT)"
    who = str(decision_makers_of(results))
    notes = (seeds_in_words(setup), UNLIKE_LEAVES, *reasons_not_reached(found))
    ours = TextTable(title, ("", *head), tuple(rows), notes, played_by=who)
    return [ours, _published_means(), _published_tasks()]


def seeds_in_words(setup: ExperimentSetup) -> str:
    """Return a sentence with the seed of our episodes and their number in each cell."""
    return (
        f"Ours: {_episodes_in_words(setup)} in each cell, from seed {setup.seed}, the same for all "
        "organisations with the same number of seats. experiment.json has the seed of each episode."
    )


def _episodes_in_words(setup: ExperimentSetup) -> str:
    return "1 episode" if setup.episodes == 1 else f"{setup.episodes} episodes"


def _published_means() -> TextTable:
    rows = tuple((name, f"{time:g}", f"{mean:g}") for name, (time, mean) in MINUTES_AND_MPT.items())
    return TextTable(f"{READ}: 7a", ("", "TC, minutes", "mPT"), rows, CONTRADICTIONS)


def _published_tasks() -> TextTable:
    tasks = list(MINUTES_BY_TASK["tree(3)"])
    rows = tuple(
        (name, *(_minutes(values, task) for task in tasks)) for name, values in MINUTES_BY_TASK.items()
    )
    return TextTable(f"{READ}: 7b and 7c, TC in minutes", ("", *tasks), rows)


def _minutes(values: Mapping[str, float | None], task: str) -> str:
    if task not in values:
        return ""
    return NOT_REACHED if (value := values[task]) is None else f"{value:g}"


def organisation_chart(setup: ExperimentSetup, results: Sequence[CellResult]) -> Chart:
    """Return bars of steps to the goal (TC) and planning iterations per member (mPT) by organisation: first
    ours by level, then those in Figure 7a of S-Agents.

    Each bar is a share of the largest one in its group, because steps and the paper's minutes have no common
    axis. The values are below the names. An organisation without a bar did not reach the goal; the note says
    why.
    """
    found = organisation_results(results)
    missed = {(each.level, each.name) for each in found if each.is_missed}
    groups = dict[str, dict[str, tuple[float | None, float | None]]]()
    for each in found:
        groups.setdefault(each.level, {})[each.name] = (each.time.mean, each.plannings.mean)
    groups[READ] = dict(MINUTES_AND_MPT)
    why = " ".join((*reasons_not_reached(found), UNLIKE_LEAVES))
    places = [(group, name) for group, values in groups.items() for name in values]
    below = tuple(_values(*groups[group][name], is_missed=(group, name) in missed) for group, name in places)
    who, title = decision_makers_of(results), "Time to the goal (TC) and planning iterations (mPT)"
    return Chart(
        key="figure7",
        title=f"{title}, by organisation",
        x=Axis.of_names(
            "", tuple(f"{_with_repetitions_counted(name)}, {group}" for group, name in places), below
        ),
        y=Axis("share of the largest", 0, 1.05, ticks=(0, 0.25, 0.5, 0.75, 1)),
        panels=(
            _panel("TC in steps; S-Agents' in minutes", groups, 0),
            _panel("mPT: planning iterations of a member", groups, 1),
        ),
        under=str(who),
        note=f"Seed {setup.seed}, {_episodes_in_words(setup)} in each cell. Hollow: read from a figure. Each "
        f"bar is a share of the largest one in its group. {why}",
        words=f"{title}, as shares of the largest value. {who}",
        head=("group", "organisation", "TC", "mPT"),
        rows=tuple((group, name, *groups[group][name]) for group, name in places),
    )


def _with_repetitions_counted(name: str) -> str:
    """Return the name with equal neighbours as one, followed by their number."""
    kind, _, members = name.rpartition(" ")
    counted = [(one, len(list(same))) for one, same in groupby(members.split(MEMBER_SEPARATOR))]
    told = MEMBER_SEPARATOR.join(
        one if many == 1 else f"{one}\N{MULTIPLICATION SIGN}{many}" for one, many in counted
    )
    return f"{kind} {told}".strip()


def _values(time: float | None, mean: float | None, *, is_missed: bool) -> str:
    known = (("TC", time), ("mPT", mean))
    told = [f"{name} {value:.1f}" for name, value in known if value is not None]
    return "\n".join([NOT_REACHED, *told]) if is_missed else ", ".join(told)


def _panel(
    title: str, groups: Mapping[str, Mapping[str, tuple[float | None, float | None]]], measure: int
) -> Panel:
    bars: dict[bool, list[Point]] = {False: [], True: []}
    place = 0
    for group, values in groups.items():
        most = max((each[measure] or 0 for each in values.values()), default=0) or 1
        for name, each in values.items():
            if (value := each[measure]) is not None:
                words = f"{name}, {group}: {value:.1f}"
                bars[group == READ].append(Point(place, value / most, words=words))
            place += 1
    ours = Series("ours", "bars", tuple(bars[False]), 4, listed=False)
    return Panel((ours, Series(READ, "hollow", tuple(bars[True]), None, listed=False)), title)
