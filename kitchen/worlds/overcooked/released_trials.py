"""Write and read games of the grids in the forms of Overcooked-AI: a table of steps, and an object of lists.

Row k of the table has the state before joint action k; the last row has the state after the last one. Rules
that differ between collections are in `PRESETS`; they were found by playing published games again. Without a
preset, each of them is tried, and the first under which every row agrees counts.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from kitchen.contract.canonical_json import canonical_json
from kitchen.contract.recorded_trial import (
    RecordedTrial,
    TrialError,
    TrialFormat,
    TrialLabels,
    TrialOptions,
    TrialRule,
    safe_literal,
)
from kitchen.contract.world import Command, Json
from kitchen.contract.world_errors import SettingsError
from kitchen.worlds.overcooked.game_rules import INTERACT, MOVE_COMMANDS, STAY
from kitchen.worlds.overcooked.layout import (
    DIRECTIONS,
    INGREDIENTS,
    OWN_LAYOUT_CODE,
    Layout,
    shipped_layouts,
)
from kitchen.worlds.overcooked.released_states import (
    first_difference,
    orders_of,
    released_state,
    seen_state,
    terrain_of,
)
from kitchen.worlds.overcooked.settings import COOKING_AUTO, COOKING_INTERACT
from kitchen.worlds.overcooked.world import Overcooked

MAX_TICKS = 2_000
OLD_NAMES = {
    "random0": "forced_coordination",
    "random1": "coordination_ring",
    "random3": "counter_circuit",
    "simple": "cramped_room",
    "unident_s": "asymmetric_advantages",
}
"""Names of layouts in files of 2019, and ours."""
LETTERS = {word: letter for letter, word in INGREDIENTS.items()}
VECTORS: Mapping[tuple[int, int], Command] = {
    (0, 0): STAY,
    **{DIRECTIONS[command[0]]: command for command in MOVE_COMMANDS},
}
WRITTEN: Mapping[Command, Json] = {
    **{command: list(vector) for vector, command in VECTORS.items()},
    INTERACT: "interact",
}
NO_ACTION = [[0, 0], [0, 0]]
"""The joint action of the last row, which has no step."""


@dataclass(frozen=True, slots=True)
class Rules:
    """What a collection's files do not say: how soups cook, what they count, and how long they take."""

    cooking: str
    value: int | Mapping[str, int]
    time: int | Mapping[str, int]
    only_onions: bool = False
    """True if the orders in the file mean nothing, and soups of three onions are ordered."""


PRESETS = {
    "2019": Rules(COOKING_AUTO, 5, 20, only_onions=True),
    "2020": Rules(COOKING_INTERACT, {"onion": 21, "tomato": 13}, {"onion": 15, "tomato": 7}),
}
OTHERS = (
    Rules(COOKING_AUTO, 20, 20),
    Rules(COOKING_INTERACT, 20, 20),
    Rules(COOKING_AUTO, 20, 20, only_onions=True),
)
"""Rules that are tried after the presets: those of the layouts of the papers."""


class ReleasedTrials(TrialFormat):
    """The forms of Overcooked-AI."""

    name: ClassVar[str] = "overcooked_ai"
    columns: ClassVar[tuple[str, ...]] = (
        *("state", "joint_action", "reward", "time_left", "score", "time_elapsed", "cur_gameloop"),
        *("layout", "layout_name", "trial_id", "player_0_id", "player_1_id"),
        *("player_0_is_human", "player_1_is_human"),
    )
    presets: ClassVar[Mapping[str, str]] = {
        "2019": "people's games of 2019: pots start by themselves, 5 points, 20 ticks",
        "2020": "people's games of 2020: pots are started, points and ticks for each ingredient",
    }
    rules: ClassVar[Mapping[str, TrialRule]] = {
        "cooking": TrialRule(
            "Cooking",
            "How a pot starts.",
            {COOKING_AUTO: "It starts by itself", COOKING_INTERACT: "It is started with empty hands"},
        ),
        "value": TrialRule("Points of a soup", "For example 20, or onion=21,tomato=13."),
        "time": TrialRule("Ticks of cooking", "For example 20, or onion=15,tomato=7."),
    }
    key: ClassVar[str] = "trial_id"

    def check(self, options: TrialOptions) -> None:
        """Raise SettingsError, which begins with the name of the preset or rule, for unknown ones."""
        if options.preset and options.preset not in PRESETS:
            raise SettingsError(f"preset: {options.preset!r} is not one of {', '.join(PRESETS)}")
        _given_rules(options.given)

    def rows(self, trial: RecordedTrial, labels: TrialLabels) -> Iterator[Sequence[Json]]:
        """Yield the rows of a game. Times are those of ticks of `tick_ms`; nobody's clock is in them."""
        world = _world(trial)
        layout, tick = json.dumps(terrain_of(world.layout)), world.options.values["tick_ms"] / 1000
        names = (*labels.players, *labels.people)
        length, code = len(trial.turns), _layout_name(world)
        for number in range(length + 1):
            state, before = canonical_json(released_state(world)), world.tally.points
            action = NO_ACTION if number == length else _joint(trial, number)
            if number < length:
                world.step(trial.turns[number])
            points = world.tally.points
            left, passed = round((length - number) * tick, 3), round(number * tick, 3)
            where = (number + 1, layout, code, labels.trial)
            yield (state, json.dumps(action), points - before, left, points, passed, *where, *names)

    def episode(self, trial: RecordedTrial, labels: TrialLabels) -> dict[str, Json]:
        """Return the entries of a game in the lists of the JSON object. It has a state for each action."""
        world = _world(trial)
        params = _mdp_params(world)
        states, rewards = [], []
        for turn in trial.turns:
            states.append(released_state(world))
            before = world.tally.points
            world.step(turn)
            rewards.append(world.tally.points - before)
        length = len(trial.turns)
        return {
            "ep_states": states,
            "ep_actions": [_joint(trial, number) for number in range(length)],
            "ep_rewards": rewards,
            "ep_dones": [number == length - 1 for number in range(length)],
            "ep_infos": [{} for _ in range(length)],
            "ep_returns": sum(rewards),
            "ep_lengths": length,
            "mdp_params": params,
            "env_params": {
                "start_state_fn": None,
                "horizon": length,
                "info_level": 0,
                "_variable_mdp": False,
            },
            "metadatas": {
                "trial_id": labels.trial,
                "player_ids": list(labels.players),
                "is_human": list(labels.people),
            },
        }

    def read_rows(self, rows: Sequence[Mapping[str, str]], options: TrialOptions) -> RecordedTrial:
        """Return the game in these rows of a table. Raises TrialError with the first difference."""
        states = [_parsed(row, "state", number) for number, row in enumerate(rows)]
        actions = [_action(_parsed(row, "joint_action", number), number) for number, row in enumerate(rows)]
        rewards = [_number(row["reward"], number) for number, row in enumerate(rows)]
        first = rows[0]
        people = [_is_true(first.get(f"player_{seat}_is_human", "")) for seat in (0, 1)]
        terrain = _terrain(_parsed(first, "layout", 0))
        game = _Game(states, actions[:-1], rewards[:-1], terrain, first["layout_name"], people)
        return _read_with_rules(game, str(first[self.key]), options)

    def read_episodes(
        self, content: Mapping[str, Json], options: TrialOptions
    ) -> Iterable[RecordedTrial | TrialError]:
        """Yield each game of a JSON object of lists, or why it is refused. Raises TrialError for an object
        of another form."""
        needed = ("ep_states", "ep_actions", "ep_rewards", "mdp_params")
        lists: list[Any] = [content.get(name) for name in needed]
        if not all(isinstance(each, list) for each in lists):
            raise TrialError(f"it is no object with lists {', '.join(needed)}")
        if len({len(each) for each in lists}) != 1:
            raise TrialError("its lists have different lengths")
        said = content.get("metadatas") or []
        for number, (states, actions, rewards, params) in enumerate(zip(*lists, strict=True)):
            note = said[number] if isinstance(said, list) and number < len(said) else {}
            try:
                yield self._episode(number, states, actions, rewards, params, note, options)
            except TrialError as error:
                yield error
            except (ValueError, TypeError, LookupError, AttributeError) as error:
                yield TrialError(f"episode {number} cannot be read: {_short(error)}")

    def _episode(
        self,
        number: int,
        states: Any,
        actions: Any,
        rewards: Any,
        params: Any,
        note: Any,
        options: TrialOptions,
    ) -> RecordedTrial:
        if not len(states) == len(actions) == len(rewards):
            raise TrialError(f"episode {number} has different numbers of states, actions and rewards")
        game = _Game(
            states,
            [_action(each, row) for row, each in enumerate(actions)],
            [_number(each, row) for row, each in enumerate(rewards)],
            _terrain(params["terrain"]),
            str(params.get("layout_name", "")),
            [bool(each) for each in note.get("is_human", [True, True])],
            _rules_of(params),
        )
        return _read_with_rules(game, str(note.get("trial_id", number)), options)


RELEASED_TRIALS = ReleasedTrials()


def _world(trial: RecordedTrial) -> Overcooked:
    world = Overcooked.create(seats=trial.seats, settings=trial.settings)
    world.reset(trial.seed)
    return world


def _layout_name(world: Overcooked) -> str:
    """Return the code of a layout, or the title of one that the settings hold."""
    code = str(world.options.values["layout"])
    return world.layout.title if code == OWN_LAYOUT_CODE else code


def _joint(trial: RecordedTrial, number: int) -> list[Json]:
    given = dict(trial.turns[number])
    return [WRITTEN[given.get(seat, STAY)] for seat in (0, 1)]


def _mdp_params(world: Overcooked) -> dict[str, Json]:
    layout = world.layout
    params: dict[str, Json] = {
        "layout_name": _layout_name(world),
        "terrain": [list(row) for row in terrain_of(layout)],
        "start_player_positions": [player["at"] for player in world.observe(0)["players"]],
        "start_all_orders": orders_of(layout),
        "start_bonus_orders": orders_of(layout, bonus=True),
        "old_dynamics": world.options.starts_itself,
    }
    for ours, alike, each in (("value", "delivery_reward", "value"), ("time", "cook_time", "time")):
        amount = getattr(layout, ours)
        if isinstance(amount, int):
            params[alike] = amount
        else:
            params |= {f"{food}_{each}": number for food, number in amount.items()}
    return params


def _rules_of(params: Mapping[str, Any]) -> Rules | None:
    """Return the rules that the parameters of an episode name; None if they do not name all."""
    amounts: list[Any] = []
    for alike, each in (("delivery_reward", "value"), ("cook_time", "time")):
        by_food = {food: int(params[f"{food}_{each}"]) for food in LETTERS if f"{food}_{each}" in params}
        amounts.append(int(params[alike]) if alike in params else by_food)
    if not all(amounts) or "old_dynamics" not in params:
        return None
    return Rules(COOKING_AUTO if params["old_dynamics"] else COOKING_INTERACT, amounts[0], amounts[1])


@dataclass(frozen=True, slots=True)
class _Game:
    """One game as a file has it. There may be one state more than actions."""

    states: Sequence[Any]
    actions: Sequence[tuple[Command, Command]]
    rewards: Sequence[float]
    terrain: tuple[str, ...]
    layout_name: str
    people: Sequence[bool]
    rules: Rules | None = None


def _read_with_rules(game: _Game, trial: str, options: TrialOptions) -> RecordedTrial:
    """Return the game under the first rules that agree with every row. Raises TrialError with the difference
    that comes last."""
    if not 1 <= len(game.actions) <= MAX_TICKS:
        raise TrialError(f"it has {len(game.actions)} steps, and 1 to {MAX_TICKS} fit")
    furthest: tuple[int, TrialError] | None = None
    for settings in _candidates(game, options):
        try:
            return _checked(game, settings, trial)
        except _DifferenceError as error:
            if furthest is None or error.row > furthest[0]:
                furthest = error.row, TrialError(str(error))
    raise furthest[1] if furthest else TrialError("no rules are known for it")


class _DifferenceError(TrialError):
    """The first difference of a game from the rules. `row` is -1 if it cannot be played at all."""

    def __init__(self, row: int, what: str) -> None:
        self.row = row
        super().__init__(f"row {row}: {what}" if row >= 0 else what)


def _candidates(game: _Game, options: TrialOptions) -> Iterator[dict[str, Json]]:
    """Yield the settings that may be those of the game, the likeliest first."""
    if options.preset:
        rules: Iterable[Rules] = (PRESETS[options.preset],)
    else:
        rules = (game.rules,) if game.rules else (*_rules_of_shipped(game), *PRESETS.values(), *OTHERS)
    known = _given_rules(options.given)
    found: list[dict[str, Json]] = []
    for each in rules:
        settings = _own(game, replace(each, **known))
        if settings not in found:
            found.append(settings)
            yield settings


def _given_rules(given: Mapping[str, str]) -> dict[str, Any]:
    """Return the rules that the user has named: `cooking`, `value` and `time`. Raises SettingsError for
    others."""
    found: dict[str, Any] = {}
    for name, text in given.items():
        if name == "cooking" and text in {COOKING_AUTO, COOKING_INTERACT}:
            found[name] = text
        elif name in {"value", "time"}:
            found[name] = _read_amount(name, text)
        else:
            raise SettingsError(f"{name}: {text!r} is not understood")
    return found


def _read_amount(name: str, text: str) -> int | dict[str, int]:
    if text.isdecimal() and len(text) < 8:
        return int(text)
    parts = [part.partition("=") for part in text.replace(" ", "").split(",")]
    if not all(food in LETTERS and number.isdecimal() and len(number) < 8 for food, _, number in parts):
        raise SettingsError(f"{name}: {text!r} is neither a number nor onion=21,tomato=13")
    return {food: int(number) for food, _, number in parts}


def _rules_of_shipped(game: _Game) -> list[Rules]:
    """Return the rules of the layout of ours with this name, if there is one."""
    layout = shipped_layouts().get(OLD_NAMES.get(game.layout_name, game.layout_name))
    ways = (COOKING_AUTO, COOKING_INTERACT)
    return [Rules(each, layout.value, layout.time) for each in ways] if layout else []


def _common(game: _Game, cooking: str) -> dict[str, Json]:
    return {"cooking": cooking, "ticks": len(game.actions)}


def _own(game: _Game, rules: Rules) -> dict[str, Json]:
    """Return the settings of a game under these rules. If a layout of ours is the same, it is named."""
    rows, letters = _with_starts(game), {letter for row in game.terrain for letter in row}
    orders, bonus = ["OOO"], list[str]()
    if not rules.only_onions:
        orders, bonus = (_soups(game, name, letters) for name in ("all_orders", "bonus_orders"))
    for code, layout in shipped_layouts().items():
        if rows == list(layout.rows) and _same(layout, rules, orders, bonus):
            return {**_common(game, rules.cooking), "layout": code}
    lines = (
        f"title = {json.dumps(_title(game.layout_name))}",
        f"grid = {json.dumps(rows)}",
        f"orders = {json.dumps(orders)}",
        f"bonus = {json.dumps([each for each in bonus if each in orders])}",
        f"value = {_amount(rules.value)}",
        f"time = {_amount(rules.time)}",
    )
    own = "\n".join(lines) + "\n"
    return {**_common(game, rules.cooking), "layout": OWN_LAYOUT_CODE, "own_layout": own}


def _title(name: str) -> str:
    layout = shipped_layouts().get(OLD_NAMES.get(name, name))
    return layout.title if layout else name[:80] or "Imported"


def _same(layout: Layout, rules: Rules, orders: Sequence[str], bonus: Sequence[str]) -> bool:
    def words(soups: Iterable[Sequence[str]]) -> set[str]:
        return {"".join(sorted(LETTERS[each] for each in soup)) for soup in soups}

    same = layout.value == rules.value and layout.time == rules.time
    return same and words(layout.orders) == set(orders) and words(layout.bonus) == set(bonus)


def _amount(amount: int | Mapping[str, int]) -> str:
    if isinstance(amount, int):
        return str(amount)
    return "{ " + ", ".join(f"{LETTERS[food]} = {number}" for food, number in amount.items()) + " }"


def _soups(game: _Game, name: str, letters: set[str]) -> list[str]:
    """Return the orders in the first state as words such as `OOT`, without those that the grid cannot
    make."""
    words = []
    for order in game.states[0].get(name) or []:
        word = "".join(sorted(LETTERS[str(each)] for each in order["ingredients"]))
        if set(word) <= letters and word not in words:
            words.append(word)
    return words


def _with_starts(game: _Game) -> list[str]:
    """Return the rows of the grid with `1` and `2` where the players of the first state are. Raises
    TrialError if the game does not begin at a start."""
    first = game.states[0]
    rows = [list(row) for row in game.terrain]
    for number, player in enumerate(first["players"][:2], 1):
        x, y = player["position"]
        if not (0 <= y < len(rows) and 0 <= x < len(rows[y])) or rows[y][x] != " ":
            raise _DifferenceError(0, f"player {number - 1} is on no free cell")
        rows[y][x] = str(number)
    return ["".join(row) for row in rows]


def _checked(game: _Game, settings: Mapping[str, Json], trial: str) -> RecordedTrial:
    """Play the game and compare every state and reward. Raises _DifferenceError for the first difference."""
    try:
        world = Overcooked.create(seats=2, settings=settings)
    except SettingsError as error:
        raise _DifferenceError(-1, f"it cannot be played: {error}") from None
    world.reset(0)
    _compare(world, game, 0)
    for number, action in enumerate(game.actions):
        before = world.tally.points
        world.step(dict(enumerate(action)))
        gained = world.tally.points - before
        if gained != game.rewards[number]:
            raise _DifferenceError(
                number, f"the reward is {game.rewards[number]:g} in the file, and {gained} here"
            )
        if number + 1 < len(game.states):
            _compare(world, game, number + 1)
    turns = [tuple(enumerate(action)) for action in game.actions]
    return RecordedTrial("overcooked", Overcooked.version, dict(settings), 2, 0, turns, trial, game.people)


def _compare(world: Overcooked, game: _Game, row: int) -> None:
    try:
        theirs = seen_state(game.states[row], world.layout)
    except (ValueError, TypeError, LookupError, AttributeError) as error:
        raise _DifferenceError(row, f"the state cannot be read: {_short(error)}") from None
    if found := first_difference(theirs, seen_state(released_state(world), world.layout)):
        raise _DifferenceError(row, f"{_after(row)}{found}")


def _after(row: int) -> str:
    return f"after joint action {row - 1}, " if row else "before the first action, "


def _parsed(row: Mapping[str, str], name: str, number: int) -> Any:
    try:
        return safe_literal(row[name])
    except ValueError as error:
        raise TrialError(f"row {number}: {name} cannot be read: {_short(error)}") from None


def _action(value: Any, row: int) -> tuple[Command, Command]:
    try:
        one, other = (_command(each) for each in value)
    except (ValueError, TypeError, LookupError):
        raise TrialError(f"row {row}: joint_action is no pair of actions") from None
    return one, other


def _command(value: Any) -> Command:
    if isinstance(value, str):
        if value.lower() != INTERACT[0]:
            raise ValueError(value)
        return INTERACT
    x, y = value
    return VECTORS[x, y]


def _number(value: Any, row: int) -> float:
    try:
        return float(value)
    except (ValueError, TypeError):
        raise TrialError(f"row {row}: reward is no number") from None


def _terrain(value: Any) -> tuple[str, ...]:
    """Return the rows of a grid: a text of lines, a list of texts, or a list of lists of letters."""
    rows = value.splitlines() if isinstance(value, str) else value
    if not isinstance(rows, list) or not all(isinstance(row, str | list) for row in rows):
        raise TrialError("row 0: layout is no list of rows")
    words = ["".join(map(str, row)) for row in rows]
    if sum(map(len, words)) > MAX_CELLS:
        raise TrialError(f"row 0: layout has more than {MAX_CELLS} cells")
    return tuple(row.replace("1", " ").replace("2", " ") for row in words)


MAX_CELLS = 2_000


def _is_true(text: str) -> bool:
    return text.strip().lower() not in {"false", "0", "no"}


def _short(error: Exception) -> str:
    said = f"{error} is missing" if isinstance(error, KeyError) else str(error)
    return said if len(said) < 120 else f"{said[:119]}…"
