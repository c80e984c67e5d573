"""Implement the agent `GridPlanner`, which plans errands and paths for both cooks of Overcooked.

An errand says which cell a cook should use next, such as a pot. If the partner moves unexpectedly, the
planner predicts that it takes the shortest path to its goal. The planner then goes around this path. A
partner that has not moved for some ticks (steps) is treated as a wall. The adviser `OvercookedAdviser` uses
the planner to advise participants.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from random import Random
from typing import Any, ClassVar

from kitchen.contract.advisers import Advice, Adviser
from kitchen.contract.agent import Agent, Decision, Situation, run_without_waiting
from kitchen.contract.world import Command, Json
from kitchen.worlds.overcooked.game_rules import BLOCKED_BY_SEAT, INTERACT, STAY
from kitchen.worlds.overcooked.layout import Cell
from kitchen.worlds.overcooked.partners.baseline_agents import WORLDS, foreseen_poses, greedy_goals
from kitchen.worlds.overcooked.partners.errand_assignment import WITH_FOOD, Errand, assign_errands
from kitchen.worlds.overcooked.partners.grid_snapshot import GridScene, TaskBoard, scene_from_situation
from kitchen.worlds.overcooked.partners.path_finding import (
    FACE_ORDER,
    TimedPath,
    find_evasion,
    find_path,
    pose_graph_of,
)
from kitchen.worlds.overcooked.partners.path_finding import STAY as STAYS

PATIENCE_TICKS = 6
"""Number of ticks without a move after which a partner is treated as a wall."""
UNEXPECTED_MOVES, MAX_UNEXPECTED_MOVES = 4, 8
"""Scores for unexpected moves of a partner: from the first on, it counts as independent.

The second is the maximum.

An unexpected move adds twice as much as an expected one takes away.
"""


def planner_memory(
    poses: Json, still: Sequence[int] = (0, 0), odd: Sequence[int] = (0, 0)
) -> dict[str, Json]:
    """Return the planner's memory as JSON, with no expected poses yet.

    `poses` are [x, y, direction] of both seats. `still` counts the ticks for which each seat has not moved.
    `odd` is a score of each seat's unexpected moves.
    """
    return {"poses": poses, "still": list(still), "odd": list(odd), "expected": [None, None]}


class GridPlanner(Agent):
    """An agent that plans for both seats, and gives the commands of its own seats."""

    kind: ClassVar[str] = "grid_planner"
    worlds: ClassVar[tuple[str, ...] | None] = WORLDS
    instant: ClassVar[bool] = True

    async def decide(self, situation: Situation) -> Decision:
        """Return the planned command for each seat that the agent plays. The same situation gives the same
        commands."""
        scene, rng = scene_from_situation(situation), Random(situation.seed)  # noqa: S311
        memory = updated_memory(scene, situation.memory or planner_memory(None))
        commands = {seat: choose_move(scene, seat, memory, rng, situation.seats) for seat in situation.seats}
        return Decision(commands, memory=memory)


def updated_memory(scene: GridScene, before: Any) -> dict[str, Json]:
    """Return the planner's memory, updated with the present poses of both seats. `before` is the memory of
    the last step."""
    still, odd = [0, 0], [0, 0]
    for seat in (0, 1):
        pose = scene.poses[seat]
        if before["poses"] and before["poses"][seat] == pose:
            still[seat] = before["still"][seat] + 1
        expected = before["expected"][seat]
        wrong = expected is not None and expected != pose
        change = 2 if wrong else -1
        odd[seat] = min(max(before["odd"][seat] + change, 0), MAX_UNEXPECTED_MOVES)
    return planner_memory(scene.poses, still, odd)


OwnErrand = Callable[[TaskBoard, int, Mapping[int, Errand]], Errand | None]
"""Returns the errand of a seat, or None to let the planner assign it. The last argument has the other seat's
errand if it is known."""


def _planned_errand(board: TaskBoard, seat: int, known: Mapping[int, Errand]) -> None:
    """Return None: the planner assigns the errand."""


def choose_move(
    scene: GridScene,
    seat: int,
    memory: dict[str, Any],
    rng: Random,
    own: Sequence[int],
    errand_of: OwnErrand = _planned_errand,
) -> Command:
    """Return the command of this seat, and store in `memory` the poses that are expected after it. `own` are
    the agent's seats. `errand_of` may replace the errand that the planner assigns to the seat."""
    other = 1 - seat
    wall = other if memory["still"][other] >= PATIENCE_TICKS and other not in own else None
    board = _board(scene, wall)
    if wall is None and memory["odd"][other] >= UNEXPECTED_MOVES:
        given, courses = _around_independent_partner(board, seat, errand_of)
    else:
        given, courses = _together(board, seat, errand_of)
    if wall is not None and memory["still"][seat] >= PATIENCE_TICKS and not courses[seat].arrives:
        board = _board(scene, None)
        given, courses = _together(board, seat, errand_of)
    memory["expected"] = [_expected(board, courses[each], each) for each in (0, 1)]
    command = _command(board, given[seat], courses[seat], seat)
    is_stuck = memory["still"][seat] and memory["odd"][seat] and command not in (INTERACT, STAY)
    if is_stuck and rng.random() < 0.5:
        return _random_direction(board, seat, rng) or command
    return command


def _together(
    board: TaskBoard, seat: int, errand_of: OwnErrand
) -> tuple[tuple[Errand, Errand], tuple[TimedPath, TimedPath]]:
    """Return the errands (next tasks) and the paths of both seats, planned together."""
    mine = errand_of(board, seat, {})
    given = assign_errands(board, {seat: mine} if mine else None)
    return given, plan_both_paths(board, given)


def _expected(board: TaskBoard, course: TimedPath, seat: int) -> Json:
    """Return the pose [x, y, direction] that a seat is expected to have after this tick."""
    pose = course.poses[1] if len(course.poses) > 1 else course.poses[0]
    return [*board.grounds[seat].cell_of[pose], FACE_ORDER[pose % len(FACE_ORDER)]]


def _around_independent_partner(
    board: TaskBoard, seat: int, errand_of: OwnErrand
) -> tuple[tuple[Errand, Errand], tuple[TimedPath, TimedPath]]:
    """Return the errands (next tasks) and paths of both seats, for a partner that ignores this seat. The
    partner is planned first, as if it were alone. This seat's path then avoids the partner's."""
    other = 1 - seat
    its = Errand(dict.fromkeys(greedy_goals(board.scene, other), 0), WITH_FOOD)
    mine = errand_of(board, seat, {other: its})
    given = assign_errands(board, {other: its, **({seat: mine} if mine else {})})
    ground = board.grounds[other]
    poses = tuple(ground.pose(*each) for each in foreseen_poses(board.scene, other))
    moves = tuple(after % len(FACE_ORDER) if after != pose else STAYS for pose, after in pairwise(poses))
    theirs = TimedPath(poses, moves, True)
    course = _course(board, given[seat], seat, theirs.cells(ground))
    return given, (course, theirs) if seat == 0 else (theirs, course)


def _board(scene: GridScene, wall: int | None) -> TaskBoard:
    walls = [scene.at[wall] if wall == 1 - seat else None for seat in (0, 1)]
    grounds = [pose_graph_of(scene.layout, cell) for cell in walls]
    poses = tuple(ground.pose(scene.at[seat], scene.face[seat]) for seat, ground in enumerate(grounds))
    return TaskBoard(scene, (grounds[0], grounds[1]), (poses[0], poses[1]), wall)


def _random_direction(board: TaskBoard, seat: int, rng: Random) -> Command | None:
    """Return a random direction that leads to another cell; None if there is none."""
    ground, pose = board.grounds[seat], board.poses[seat]
    taken = {board.scene.at[seat], board.scene.at[1 - seat]}
    afters = zip(FACE_ORDER, ground.moves[pose], strict=True)
    ways = [face for face, after in afters if ground.cell_of[after] not in taken]
    return (rng.choice(ways),) if ways else None


def plan_both_paths(board: TaskBoard, given: tuple[Errand, Errand]) -> tuple[TimedPath, TimedPath]:
    """Return paths for both seats' errands (next tasks). The path of the seat with the more urgent errand is
    planned first.

    If one of the seats then does not reach its goal, the opposite order is also tried. The cheaper result is
    returned.
    """
    rank = [(given[seat].urgency, -_way(board, given, seat)) for seat in (0, 1)]
    urgent = 0 if rank[0] >= rank[1] else 1
    best: tuple[int, tuple[TimedPath, TimedPath]] | None = None
    for first in (urgent, 1 - urgent):
        courses = _in_order(board, given, first)
        cost = sum(_cost(given[seat], courses[seat]) for seat in (0, 1))
        if best is None or cost < best[0]:
            best = cost, courses
        if all(courses[seat].arrives or not given[seat].goals for seat in (0, 1)):
            break
    assert best  # noqa: S101 - one of two
    return best[1]


def _way(board: TaskBoard, given: tuple[Errand, Errand], seat: int) -> int:
    return min((board.cost(seat, cell) + more for cell, more in given[seat].goals.items()), default=0)


def _cost(errand: Errand, course: TimedPath) -> int:
    if not errand.goals:
        return 0
    return len(course.moves) * (errand.urgency + 1) if course.arrives else 100 * (errand.urgency + 1)


def _in_order(board: TaskBoard, given: tuple[Errand, Errand], first: int) -> tuple[TimedPath, TimedPath]:
    one = _course(board, given[first], first, [])
    cells: list[Cell] = one.cells(board.grounds[first])
    other = _course(board, given[1 - first], 1 - first, cells)
    return (one, other) if first == 0 else (other, one)


def _course(board: TaskBoard, errand: Errand, seat: int, around: list[Cell]) -> TimedPath:
    ground, pose = board.grounds[seat], board.poses[seat]
    if seat == board.stuck:
        return TimedPath((pose, pose), (STAYS,), False)
    found = find_path(ground, pose, errand.goals, around)
    return found or find_evasion(ground, pose, around)


def _command(board: TaskBoard, errand: Errand, course: TimedPath, seat: int) -> Command:
    if course.moves:
        move = course.moves[0]
        return STAY if move == STAYS else (FACE_ORDER[move],)
    if course.arrives and board.grounds[seat].ahead[board.poses[seat]] in errand.goals and not errand.waits:
        return INTERACT
    return STAY


class OvercookedAdviser(Adviser):
    """Advises participants with the planner's commands."""

    def advise(self, situation: Situation) -> Advice | None:
        """Return the planner's command for the seat as advice; None if the planner would stay.

        If the other seat blocked the last move, the advice is one of two, with equal chance: go around the
        other seat, or try again.
        """
        (seat,) = situation.seats
        poses = scene_from_situation(situation).poses
        own = [event.data for event in situation.events if event.seat == seat]
        is_barred = any(data.get("blocked_by") == BLOCKED_BY_SEAT for data in own)
        if is_barred and Random(situation.seed).random() < 0.5:  # noqa: S311
            odd = [MAX_UNEXPECTED_MOVES, MAX_UNEXPECTED_MOVES]
            odd[seat] = 0
            situation = replace(situation, memory=planner_memory(poses, odd=odd))
        elif situation.step and not _moved(situation, 1 - seat):
            still = (PATIENCE_TICKS, PATIENCE_TICKS)
            situation = replace(situation, memory=planner_memory(poses, still=still))
        command = run_without_waiting(GridPlanner({}).decide(situation)).commands[seat]
        return None if command == STAY else Advice(command, {})

    def decide(self, situation: Situation) -> Decision:
        """Return the planner's decision. Its memory tracks how the partner plays."""
        return run_without_waiting(GridPlanner({}).decide(situation))

    def output(self, score: Mapping[str, Json], steps: int) -> float:
        """Return the points per tick, at most 1. One point per tick is the highest output to be expected."""
        return float(min(1.0, score["points"] / max(1, steps)))


def _moved(situation: Situation, seat: int) -> bool:
    """Return whether this seat turned or moved in the last tick. Return False if the situation does not list
    the last tick's events."""
    return any(event.seat == seat and "moved" in event.data for event in situation.events)


ADVISER = OvercookedAdviser()
"""The adviser in the world's registry entry."""
