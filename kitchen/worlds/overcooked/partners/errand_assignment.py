"""Decide which cells of the grid each of the two cooks should use next, from the current state.

A cook with full hands brings its thing to the right place. A cook with empty hands fetches a missing thing. A
thing is passed over a counter if a cook cannot reach the place, or if this saves time.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field

from kitchen.worlds.overcooked.game_rules import DISH, FOOD, Item
from kitchen.worlds.overcooked.layout import POT, SERVING, Cell
from kitchen.worlds.overcooked.partners.grid_snapshot import CounterRelay, TaskBoard
from kitchen.worlds.overcooked.partners.path_finding import UNREACHABLE

MIN_TICKS_SAVED, LATER, SLOWER = 3, 6, 2
"""Conditions for a relay over a counter, in ticks.

It saves the giver at least the first. The food reaches the pot at most the second later than by the giver
alone, and at most the third later than by the other seat alone.
"""


def find_counter_relay(board: TaskBoard) -> CounterRelay | None:
    """Return the quickest relay that saves time; None if there is none. In a relay, one seat puts food on a
    counter, and the other seat brings it to a pot.

    A relay must save the first seat some ticks. The food must reach the pot about as soon as without a relay.
    """
    if board.stuck is not None:
        return None
    found = [relay for giver in (0, 1) for relay in _relays(board, giver)]
    return min(found, default=(0, None))[1]


def _relays(board: TaskBoard, giver: int) -> Iterator[tuple[int, CounterRelay]]:
    """Yield (ticks until the food is in a pot, relay) for each relay over a counter that saves time. `giver`
    is the seat that puts food on the counter."""
    held, other = board.scene.hands[giver], board.scene.hands[1 - giver]
    missing = board.all_missing()
    food = missing[0] if held is None and missing else held
    if not isinstance(food, str) or food not in missing or not (other is None or other in FOOD):
        return
    lying = sum(1 for thing in board.scene.counters.values() if thing == food)
    if lying + (other == food) >= missing.count(food):
        return
    pots = board.pots_for(food)
    sources = [cell for cell in board.scene.sources(food) if cell not in board.scene.counters]
    direct = min(_until(board, giver, held, sources, pot) for pot in pots)
    theirs = min(_until(board, 1 - giver, other, sources, pot) for pot in pots)
    for cell in board.shared(giver):
        laid = _until(board, giver, held, sources, cell) + 1
        taken = _until_taken(board, 1 - giver, other, pots, cell)
        pot = min(ticks_between(board, 1 - giver, cell, each) for each in pots)
        total = max(laid, taken) + 1 + pot
        is_soon = total <= direct + LATER and (other or total <= theirs + SLOWER)
        if is_soon and laid + MIN_TICKS_SAVED <= direct:
            yield total, CounterRelay(giver, cell, food)


def _until(board: TaskBoard, seat: int, held: Item | None, sources: list[Cell], cell: Cell) -> int:
    """Return the number of ticks until this seat, with food in its hands, faces the cell. With empty hands,
    it first takes food from one of the `sources`."""
    if held is not None:
        return board.cost(seat, cell)
    ground, pose = board.grounds[seat], board.poses[seat]
    return min((ground.between(pose, source, cell) for source in sources), default=UNREACHABLE)


def _until_taken(board: TaskBoard, seat: int, held: Item | None, pots: list[Cell], cell: Cell) -> int:
    """Return the number of ticks until this seat, with empty hands, faces the cell. If it holds food, it
    first brings this to one of the `pots`."""
    if held is None:
        return board.cost(seat, cell)
    ground, pose = board.grounds[seat], board.poses[seat]
    return min(ground.between(pose, pot, cell) for pot in pots)


def ticks_between(board: TaskBoard, seat: int, first: Cell, target: Cell) -> int:
    """Return the ticks that this seat needs from using the cell `first` until it faces the cell `target`."""
    ground, pose = board.grounds[seat], board.poses[seat]
    return ground.between(pose, first, target) - board.cost(seat, first) - 1


SOUP, WITH_DISH, WITH_FOOD, EMPTY, NOTHING = 4, 3, 2, 1, 0
"""Urgency of an errand, by what the seat holds or fetches."""


@dataclass(frozen=True, slots=True)
class Errand:
    """The next task of a seat: to use one of some cells."""

    goals: Mapping[Cell, int] = field(default_factory=dict)
    """Cells to be used, with extra costs. Empty: nothing to do."""
    urgency: int = NOTHING
    waits: int = 0
    """Ticks until the use has an effect; the seat does not use the cell earlier."""


def assign_errands(board: TaskBoard, known: Mapping[int, Errand] | None = None) -> tuple[Errand, Errand]:
    """Return the errands (next tasks) of seat 0 and seat 1. An errand in `known` stays as it is."""
    hands = board.scene.hands
    given = dict(known or {})
    board.relay = None if known else find_counter_relay(board)
    giver = board.relay.giver if board.relay else None
    for seat in sorted({0, 1} - set(given), key=lambda seat: (hands[seat] is None, seat != giver)):
        given[seat] = _with_hands(board, seat) if hands[seat] is not None else _fetch(board, seat, given)
    return given[0], given[1]


def _with_hands(board: TaskBoard, seat: int) -> Errand:
    held = board.scene.hands[seat]
    if isinstance(held, tuple):
        return _bring(board, seat, list(board.places(SERVING)), SOUP)
    if held == DISH:
        return _with_dish(board, seat)
    return _with_food(board, seat, str(held))


def _bring(board: TaskBoard, seat: int, cells: list[Cell], urgency: int) -> Errand:
    """Return the errand (next task) to bring the held thing to one of these cells. If the seat can reach
    none, the errand is to put it where the other seat can take it."""
    found = board.reachable(seat, cells)
    return Errand(dict.fromkeys(found, 0), urgency) if found else _hand_over(board, seat, urgency)


def _hand_over(board: TaskBoard, seat: int, urgency: int) -> Errand:
    return Errand(_nearest(board, seat, board.shared(seat)), urgency)


def lay_down(board: TaskBoard, seat: int, urgency: int) -> Errand:
    """Return the errand (next task) to put the held thing on a counter. If possible, it is a counter that the
    other seat can reach."""
    cells = board.shared(seat) or board.reachable(seat, board.free_counters())
    return Errand(_nearest(board, seat, cells), urgency)


def _nearest(board: TaskBoard, seat: int, cells: list[Cell]) -> dict[Cell, int]:
    """Return the extra cost of each counter in ticks: half of the other seat's path to it, at most 6. So
    counters near the other seat are preferred."""
    return {cell: min(board.cost(1 - seat, cell), 12) // 2 for cell in cells}


def _with_dish(board: TaskBoard, seat: int) -> Errand:
    pots = [(left, cell) for left, cell in board.started() if board.cost(seat, cell) < UNREACHABLE]
    if pots:
        goals = {cell: max(0, left - board.cost(seat, cell)) for left, cell in pots}
        best = min(goals, key=lambda cell: goals[cell] + board.cost(seat, cell))
        left = board.pot(best)[1] or 0
        return Errand({best: 0}, WITH_DISH, left)
    if not board.reachable(seat, board.places(POT)):
        return _hand_over(board, seat, WITH_DISH)
    return Errand() if _brings_food(board, 1 - seat) else lay_down(board, seat, WITH_DISH)


def _brings_food(board: TaskBoard, seat: int) -> bool:
    """Return whether this seat may bring ingredients to pots: its hands are empty or hold food, and it is not
    stuck."""
    held = board.scene.hands[seat]
    return seat != board.stuck and (held is None or held in FOOD)


def _with_food(board: TaskBoard, seat: int, food: str) -> Errand:
    pots = board.pots_for(food)
    if board.relay and board.relay.giver == seat:
        return Errand({board.relay.cell: 0}, WITH_FOOD)
    if found := board.reachable(seat, pots):
        most = max(len(board.pot(cell)[0]) for cell in found)
        return Errand({cell: 2 * (most - len(board.pot(cell)[0])) for cell in found}, WITH_FOOD)
    if not board.reachable(seat, board.places(POT)):
        return _hand_over(board, seat, WITH_FOOD)
    return Errand() if _somebody_has_a_dish(board, seat) else lay_down(board, seat, WITH_FOOD)


def _somebody_has_a_dish(board: TaskBoard, seat: int) -> bool:
    """Return whether the other seat can be expected to take soups out of pots. It must not be stuck, and its
    hands must be empty or hold a dish or a soup."""
    held = board.scene.hands[1 - seat]
    return 1 - seat != board.stuck and (held is None or held == DISH or isinstance(held, tuple))


def _fetch(board: TaskBoard, seat: int, given: Mapping[int, Errand]) -> Errand:
    """Return the errand (next task) of a seat with empty hands: to fetch a missing thing that the other seat
    does not already fetch. `given` has the errands that are already fixed."""
    if not board.reachable(seat, board.places(POT)):
        return supply_partner(board, seat)
    return (
        start_pot(board, seat)
        or take_lying_soup(board, seat)
        or fetch_dish(board, seat, given)
        or fetch_food(board, seat, given)
        or fetch_ahead(board, seat, given)
        or Errand()
    )


def start_pot(board: TaskBoard, seat: int) -> Errand | None:
    cells = board.reachable(seat, board.to_start())
    nearer = [cell for cell in cells if board.cost(seat, cell) <= board.cost(1 - seat, cell)]
    alone = board.scene.hands[1 - seat] is not None
    goals = cells if alone else nearer
    return Errand(dict.fromkeys(goals, 0), WITH_DISH) if goals else None


def take_lying_soup(board: TaskBoard, seat: int) -> Errand | None:
    """Return the errand (next task) to take a soup from a counter. None if there is no soup for this seat."""
    lying = [cell for cell, thing in board.scene.counters.items() if isinstance(thing, tuple)]
    serves = board.reachable(seat, board.places(SERVING))
    cells = board.reachable(seat, lying) if serves else []
    return Errand(dict.fromkeys(cells, 0), SOUP) if cells else None


def fetch_dish(board: TaskBoard, seat: int, given: Mapping[int, Errand]) -> Errand | None:
    """Return the errand (next task) to fetch a dish. Return None if no soup will be ready, or if the other
    seat is closer to serving it."""
    sources = board.reachable(seat, board.scene.sources(DISH))
    pots = [(left, cell) for left, cell in board.started() if board.cost(seat, cell) < UNREACHABLE]
    other = board.scene.hands[1 - seat]
    if other == DISH and board.cost(1 - seat, pots[0][1] if pots else (0, 0)) < UNREACHABLE:
        pots = pots[1:]
    if not sources or not pots:
        return None
    left, pot = pots[0]
    ground, pose = board.grounds[seat], board.poses[seat]
    ways = {cell: ground.between(pose, cell, pot) for cell in sources}
    errand = Errand({cell: ways[cell] - board.cost(seat, cell) for cell in sources}, EMPTY)
    if left > min(ways.values()) + 1:
        return None
    if other is None and len(pots) < 2 and _leaves_it(board, seat, given, sources, pot):
        return None
    return errand


def _leaves_it(
    board: TaskBoard, seat: int, given: Mapping[int, Errand], sources: list[Cell], pot: Cell
) -> bool:
    """Return True if this seat should leave the dish to the other seat, which already fetches one or is
    nearer."""
    if 1 - seat in given:
        return bool(set(given[1 - seat].goals) & set(sources))
    return _is_nearer(board, seat, sources, pot)


def _is_nearer(board: TaskBoard, seat: int, sources: list[Cell], pot: Cell) -> bool:
    """Return whether the other seat would bring a dish to the pot sooner than this one. Both have empty
    hands. `sources` are the places with dishes."""
    if 1 - seat == board.stuck:
        return False
    mine, others = (
        min((board.grounds[s].between(board.poses[s], cell, pot) for cell in sources), default=UNREACHABLE)
        for s in (seat, 1 - seat)
    )
    return (others, 1 - seat) < (mine, seat)


def fetch_food(
    board: TaskBoard, seat: int, given: Mapping[int, Errand], without: Collection[str] = ()
) -> Errand | None:
    """Return the errand (next task) to fetch a missing ingredient; None if there is none for this seat.
    Ingredients that the other seat holds or is nearer to are left to that seat, and so are those in
    `without`."""
    missing = [food for food in board.all_missing() if food not in without]
    held = board.scene.hands[1 - seat]
    if isinstance(held, str) and held in missing:
        missing.remove(held)
    others = set(_nearer_to_other(board, seat))
    for cell in others:
        if (lying := board.scene.counters[cell]) in missing:
            missing.remove(str(lying))
    for food in dict.fromkeys(missing):
        sources = [cell for cell in board.reachable(seat, board.scene.sources(food)) if cell not in others]
        pots = board.pots_for(food)
        if not sources or not pots:
            continue
        if board.relay and board.relay.food == food:
            return _relayed(board, seat, given, sources, pots)
        return Errand(_on_the_way(board, seat, sources, pots), EMPTY)
    return None


def _nearer_to_other(board: TaskBoard, seat: int) -> Iterator[Cell]:
    """Yield the counters with food that the other seat brings to a pot sooner than this one."""
    pots, other = board.open_pots(), 1 - seat
    if not pots or other == board.stuck or not _brings_food(board, other):
        return
    for cell, thing in board.scene.counters.items():
        if thing in FOOD and _sooner(board, other, cell, pots) < _sooner(board, seat, cell, pots):
            yield cell


def _sooner(board: TaskBoard, seat: int, cell: Cell, pots: list[Cell]) -> int:
    """Return the number of ticks in which a seat brings food from this cell to the nearest pot. Return
    UNREACHABLE if the seat cannot reach the cell."""
    if board.cost(seat, cell) >= UNREACHABLE:
        return UNREACHABLE
    return min(ticks_between(board, seat, cell, pot) for pot in pots)


def _relayed(
    board: TaskBoard, seat: int, given: Mapping[int, Errand], sources: list[Cell], pots: list[Cell]
) -> Errand:
    """Return the errand (next task) of a seat in a relay. The first seat brings food to the counter, and the
    other seat takes it from there."""
    relay = board.relay
    assert relay  # noqa: S101 - asked for where there is one
    if seat == relay.giver:
        fresh = [cell for cell in sources if cell not in board.scene.counters]
        return Errand(_on_the_way(board, seat, fresh, [relay.cell]), EMPTY)
    best = _on_the_way(board, seat, sources, pots)
    lying = [cell for cell in best if cell in board.scene.counters]
    fetches = set(given[relay.giver].goals) & set(board.scene.sources(relay.food))
    if lying or not (board.scene.hands[relay.giver] or fetches):
        return Errand({cell: best[cell] for cell in lying} or best, EMPTY)
    return Errand({relay.cell: 0}, EMPTY, waits=1)


def _on_the_way(board: TaskBoard, seat: int, sources: list[Cell], pots: list[Cell]) -> dict[Cell, int]:
    """Return the detour in ticks over each source to the nearest of the pots. Sources without a path are left
    out."""
    ground, pose = board.grounds[seat], board.poses[seat]
    best = {cell: min(ground.between(pose, cell, pot) for pot in pots) for cell in sources}
    return {cell: way - board.cost(seat, cell) for cell, way in best.items() if way < UNREACHABLE}


def fetch_ahead(
    board: TaskBoard, seat: int, given: Mapping[int, Errand], without: Collection[str] = ()
) -> Errand | None:
    """Return an errand (next task) that prepares later work while no pot needs anything. None if there is
    none, or if it would fetch one of `without`.

    If all pots are started, the seat fetches the first ingredient of the next soup. If a pot is open, or the
    other seat holds an ingredient, it fetches a dish.
    """
    pots = [cell for _, cell in board.started()]
    if not pots and _brings_food(board, 1 - seat):
        pots = board.open_pots()[:1]
    held = board.scene.hands[1 - seat]
    wanted = _next_food(board) if board.started() and not board.open_pots() else DISH
    if held != DISH and isinstance(held, str):
        wanted = DISH
    is_held = wanted == DISH and held == DISH and len(board.started()) < 2
    if not pots or not wanted or wanted in without or is_held:
        return None
    if wanted != DISH and held == DISH and board.stuck == 1 - seat:
        return None  # the other seat waits with a dish: this one would put the food down again
    sources = board.reachable(seat, board.scene.sources(wanted))
    return Errand(_on_the_way(board, seat, sources, pots), NOTHING) if sources else None


def _next_food(board: TaskBoard) -> str:
    best = board.best(board.scene.layout.orders)
    return best[0] if best else ""


def supply_partner(board: TaskBoard, seat: int, without: Collection[str] = ()) -> Errand:
    """Return the errand (next task) of a seat that reaches no pot. It puts things that the other seat lacks
    on counters that both reach, but none of `without`."""
    shared = [cell for cell, _ in board.scene.counters.items() if board.cost(1 - seat, cell) < UNREACHABLE]
    lying = [board.scene.counters[cell] for cell in shared]
    other = board.scene.hands[1 - seat]
    for thing, wanted in _wanted(board, seat).items():
        there = lying.count(thing) + (other == thing)
        sources = [cell for cell in board.reachable(seat, board.scene.sources(thing)) if cell not in shared]
        if there < wanted and sources and thing not in without:
            return Errand(dict.fromkeys(sources, 0), EMPTY)
    return Errand()


def _wanted(board: TaskBoard, seat: int) -> dict[str, int]:
    """Return the number of each thing that this seat should put on counters for the other seat, most urgent
    first."""
    missing = board.all_missing()
    food = missing or [_next_food(board)] * 2
    wanted = {each: food.count(each) for each in dict.fromkeys(food)}
    dishes = len(board.started())
    return {DISH: dishes, **wanted} if dishes and not missing else {**wanted, DISH: max(dishes, 1)}
