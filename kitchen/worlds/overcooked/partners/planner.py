"""The planner of the grids: errands for both seats, ways for both in space and time. Plain Python.

Who has the more urgent errand goes first, the other one around it. A partner that does other things than
were expected of it is taken for one that goes its own way, and is gone around; one that has not moved for
some ticks is a wall, unless the way is only barred by it and neither has moved: then each may wait for the
other, and it is gone to as if the other would make way. Chance only breaks a standstill.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from random import Random
from typing import Any, ClassVar

from kitchen.contract.agent import Agent, Decision, Situation
from kitchen.contract.world import Command, Json
from kitchen.worlds.overcooked.layout import Cell
from kitchen.worlds.overcooked.partners.board import Board
from kitchen.worlds.overcooked.partners.errands import WITH_FOOD, Errand, errands
from kitchen.worlds.overcooked.partners.greedy import foreseen, goals
from kitchen.worlds.overcooked.partners.ground import FACES, ground_of
from kitchen.worlds.overcooked.partners.scene import Scene, scene_of
from kitchen.worlds.overcooked.partners.simple import WORLDS
from kitchen.worlds.overcooked.partners.ways import STAY as STAYS
from kitchen.worlds.overcooked.partners.ways import Course, evade, find
from kitchen.worlds.overcooked.stands import INTERACT, STAY

PATIENCE = 6
"""Ticks without a move after which a partner is a wall."""
ODD, MOST_ODD = 4, 8
"""From when on a partner goes its own way: it did something else than was expected, twice as often as that
it did it."""
FIRST = {"poses": None, "still": [0, 0], "odd": [0, 0], "expected": [None, None]}
"""The memory before the first tick."""


def beside_somebody_still(scene: Scene) -> Json:
    """The memory of a seat where neither has moved for long."""
    return {"poses": scene.poses, "still": [PATIENCE, PATIENCE], "odd": [0, 0], "expected": [None, None]}


def beside_a_loner(scene: Scene, seat: int) -> Json:
    """The memory of a seat whose partner goes its own way."""
    odd = [MOST_ODD, MOST_ODD]
    odd[seat] = 0
    return {"poses": scene.poses, "still": [0, 0], "odd": odd, "expected": [None, None]}


class Planner(Agent):
    """Plans for both seats, and plays its own."""

    kind: ClassVar[str] = "grid_planner"
    worlds: ClassVar[tuple[str, ...] | None] = WORLDS
    instant: ClassVar[bool] = True

    def decide(self, situation: Situation) -> Decision:
        """The command of each of its seats; chance comes from the situation's seed alone."""
        scene, rng = scene_of(situation), Random(situation.seed)  # noqa: S311
        memory = _noted(scene, situation.memory or FIRST)
        commands = {seat: _choose(scene, seat, memory, rng, situation.seats) for seat in situation.seats}
        return Decision(commands, memory=memory)


def _noted(scene: Scene, before: Any) -> dict[str, Json]:
    """The memory as this moment has it."""
    still, odd = [0, 0], [0, 0]
    for seat in (0, 1):
        pose = scene.poses[seat]
        if before["poses"] and before["poses"][seat] == pose:
            still[seat] = before["still"][seat] + 1
        expected = before["expected"][seat]
        wrong = expected is not None and expected != pose
        odd[seat] = min(before["odd"][seat] + 2, MOST_ODD) if wrong else max(before["odd"][seat] - 1, 0)
    return {"poses": scene.poses, "still": still, "odd": odd, "expected": [None, None]}


def _choose(scene: Scene, seat: int, memory: dict[str, Any], rng: Random, own: Sequence[int]) -> Command:
    other = 1 - seat
    wall = other if memory["still"][other] >= PATIENCE and other not in own else None
    board = _board(scene, wall)
    if wall is None and memory["odd"][other] >= ODD:
        given, courses = _around_a_loner(board, seat)
    else:
        given, courses = _together(board)
    if wall is not None and memory["still"][seat] >= PATIENCE and not courses[seat].arrives:
        board = _board(scene, None)
        given, courses = _together(board)
    memory["expected"] = [_expected(board, courses[each], each) for each in (0, 1)]
    command = _command(board, given[seat], courses[seat], seat)
    if (
        memory["still"][seat]
        and memory["odd"][seat]
        and command not in (INTERACT, STAY)
        and rng.random() < 0.5
    ):
        return _stir(board, seat, rng) or command
    return command


def _together(board: Board) -> tuple[tuple[Errand, Errand], tuple[Course, Course]]:
    """Plans for both."""
    given = errands(board)
    return given, both_courses(board, given)


def _expected(board: Board, course: Course, seat: int) -> Json:
    """Where it will stand and face after this tick."""
    pose = course.poses[1] if len(course.poses) > 1 else course.poses[0]
    return [*board.grounds[seat].cell_of[pose], FACES[pose % len(FACES)]]


def _around_a_loner(board: Board, seat: int) -> tuple[tuple[Errand, Errand], tuple[Course, Course]]:
    """Plans for a partner that goes its own way, as if it were alone."""
    other = 1 - seat
    its = Errand(dict.fromkeys(goals(board.scene, other), 0), WITH_FOOD)
    given = errands(board, {other: its})
    ground = board.grounds[other]
    poses = tuple(ground.pose(*each) for each in foreseen(board.scene, other))
    moves = tuple(after % len(FACES) if after != pose else STAYS for pose, after in pairwise(poses))
    theirs = Course(poses, moves, True)
    mine = _course(board, given[seat], seat, theirs.cells(ground))
    return given, (mine, theirs) if seat == 0 else (theirs, mine)


def _board(scene: Scene, wall: int | None) -> Board:
    grounds = tuple(ground_of(scene.layout, scene.at[wall] if wall == 1 - seat else None) for seat in (0, 1))
    poses = tuple(ground.pose(scene.at[seat], scene.face[seat]) for seat, ground in enumerate(grounds))
    return Board(scene, (grounds[0], grounds[1]), (poses[0], poses[1]), wall)


def _stir(board: Board, seat: int, rng: Random) -> Command | None:
    """A direction that leads somewhere else."""
    ground, pose = board.grounds[seat], board.poses[seat]
    taken = {board.scene.at[seat], board.scene.at[1 - seat]}
    ways = [
        face
        for face, after in zip(FACES, ground.moves[pose], strict=True)
        if ground.cell_of[after] not in taken
    ]
    return (rng.choice(ways),) if ways else None


def both_courses(board: Board, given: tuple[Errand, Errand]) -> tuple[Course, Course]:
    """The more urgent one first; the other way round where that leads nowhere."""
    urgent = (
        0 if (given[0].urgency, -_way(board, given, 0)) >= (given[1].urgency, -_way(board, given, 1)) else 1
    )
    best: tuple[int, tuple[Course, Course]] | None = None
    for first in (urgent, 1 - urgent):
        courses = _in_order(board, given, first)
        cost = sum(_cost(given[seat], courses[seat]) for seat in (0, 1))
        if best is None or cost < best[0]:
            best = cost, courses
        if all(courses[seat].arrives or not given[seat].goals for seat in (0, 1)):
            break
    assert best  # noqa: S101 - one of two
    return best[1]


def _way(board: Board, given: tuple[Errand, Errand], seat: int) -> int:
    return min((board.cost(seat, cell) + more for cell, more in given[seat].goals.items()), default=0)


def _cost(errand: Errand, course: Course) -> int:
    if not errand.goals:
        return 0
    return len(course.moves) * (errand.urgency + 1) if course.arrives else 100 * (errand.urgency + 1)


def _in_order(board: Board, given: tuple[Errand, Errand], first: int) -> tuple[Course, Course]:
    one = _course(board, given[first], first, [])
    cells: list[Cell] = one.cells(board.grounds[first])
    other = _course(board, given[1 - first], 1 - first, cells)
    return (one, other) if first == 0 else (other, one)


def _course(board: Board, errand: Errand, seat: int, around: list[Cell]) -> Course:
    ground, pose = board.grounds[seat], board.poses[seat]
    if seat == board.stuck:
        return Course((pose, pose), (STAYS,), False)
    found = find(ground, pose, errand.goals, around)
    return found or evade(ground, pose, around)


def _command(board: Board, errand: Errand, course: Course, seat: int) -> Command:
    if course.moves:
        move = course.moves[0]
        return STAY if move == STAYS else (FACES[move],)
    if course.arrives and board.grounds[seat].ahead[board.poses[seat]] in errand.goals and not errand.waits:
        return INTERACT
    return STAY
