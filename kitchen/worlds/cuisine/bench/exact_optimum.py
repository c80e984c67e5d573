"""Compute the largest possible number of completed orders in a small case, with the solver OR-tools CP-SAT.

OR-tools is an optional package. A case is a level with an order interval, a seed, and numbers of agents and
steps. `replay_plan` plays the solver's plan in the game, which gives the final count. The result is exact for
one or two agents. With more agents, a better plan may exist, because the solver assumes a fixed order of
commands within a step.
"""

# The model has a Boolean variable for each useful command in each step. Within a step, commands run in this
# order: gets, puts, activations, gets of products made in the same step, moves. With one or two agents, some
# best plan has this order. With more agents, a better plan may exist that uses a mixer in another order.

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from itertools import product as pairs
from typing import Any

from kitchen.contract.benchmark import NoSolverError, Optimum, OptimumCase, TurnCommands
from kitchen.contract.world import Command
from kitchen.registry.world_metrics import share_count_names
from kitchen.worlds.cuisine.bench.upper_bounds import drawn_orders, episode_bound
from kitchen.worlds.cuisine.level import recipe_items
from kitchen.worlds.cuisine.settings import Options, read_options
from kitchen.worlds.cuisine.world import CuisineWorld


class TimeIndexedModel:
    """The constraint model of one case. Every variable is Boolean. Steps are counted from 0."""

    def __init__(self, cp: Any, options: Options, case: OptimumCase) -> None:
        self.cp, self.level, self.case = cp, options.level, case
        self.model = cp.CpModel()
        level = options.level
        self.storage = next(place for place, tool in level.places.items() if tool.role == "storage")
        self.table = level.serving_table
        self.tools = [place for place, tool in level.places.items() if tool.role == "tool"]
        self.dishes = [dish for dish in level.dishes if dish not in level.uncookable]
        self.items = sorted({item for dish in self.dishes for item in recipe_items(dish, level.recipes)})
        self.base = [item for item in self.items if item not in level.recipes]
        self.agents, self.times = range(case.agents), range(case.steps)
        self._variables()
        self._move()
        self._hold()
        for tool in self.tools:
            self._cook(tool)
        self.most = self._serve(options)

    def _new(self, *name: object) -> Any:
        return self.model.new_bool_var("_".join(map(str, name)))

    def _variables(self) -> None:
        places, ends = list(self.level.places), range(self.case.steps + 1)
        self.at = {(a, p, t): self._new("at", a, p, t) for a, p, t in pairs(self.agents, places, ends)}
        self.holds = {(a, i, t): self._new("h", a, i, t) for a, i, t in pairs(self.agents, self.items, ends)}
        self.goes = {(a, t): self._new("go", a, t) for a, t in pairs(self.agents, self.times)}
        self.gets = {
            (a, p, i, t): self._new("get", a, p, i, t)
            for a, p, t in pairs(self.agents, [self.storage, *self.tools], self.times)
            for i in (self.base if p == self.storage else self._made(p))
        }
        self.puts = {
            (a, p, i, t): self._new("put", a, p, i, t)
            for a, p, t in pairs(self.agents, [*self.tools, self.table], self.times)
            for i in (self.dishes if p == self.table else self._wanted(p))
        }
        self.starts = {
            (a, p, r, t): self._new("act", a, p, r, t)
            for a, p, t in pairs(self.agents, self.tools, self.times)
            for r in self._made(p)
        }
        self.acts = (self.gets, self.puts, self.starts)
        self.lies = {
            (p, i, t): self._new("in", p, i, t) for p, t in pairs(self.tools, ends) for i in self._wanted(p)
        }
        self.ready = {
            (p, r, t): self._new("done", p, r, t) for p, t in pairs(self.tools, ends) for r in self._made(p)
        }

    def _made(self, tool: str) -> list[str]:
        kind = self.level.places[tool].code
        return [i for i in self.items if i in self.level.recipes and self.level.recipes[i].tool == kind]

    def _wanted(self, tool: str) -> list[str]:
        return sorted({item for made in self._made(tool) for item in self.level.recipes[made].ingredients})

    def _of(self, table: Mapping[Any, Any], agent: int, time: int) -> list[Any]:
        return [each for key, each in table.items() if key[0] == agent and key[-1] == time]

    def _move(self) -> None:
        """Add the constraints about movement to the model. In each step, an agent is at one place and has one
        command. Only `goto` changes the place."""
        model, places = self.model, list(self.level.places)
        for a in self.agents:
            model.add(self.at[a, self.table, 0] == 1)
            for t in range(self.case.steps + 1):
                model.add_exactly_one(self.at[a, p, t] for p in places)
            for t in self.times:
                acts = [act for table in self.acts for act in self._of(table, a, t)]
                model.add_at_most_one([self.goes[a, t], *acts])
                for p in places:
                    stay = self.at[a, p, t + 1] - self.at[a, p, t]
                    model.add(stay <= self.goes[a, t])
                    model.add(-stay <= self.goes[a, t])
        for table in self.acts:
            for key, act in table.items():
                model.add_implication(act, self.at[key[0], key[1], key[-1]])

    def _hold(self) -> None:
        """Add the constraints about hands to the model. Hands are empty at first and hold at most one item.
        For `get` and `activate`, they must be empty."""
        for a in self.agents:
            for i in self.items:
                self.model.add(self.holds[a, i, 0] == 0)
            for t in self.times:
                held = [self.holds[a, i, t] for i in self.items]
                empty = [*self._of(self.gets, a, t), *self._of(self.starts, a, t)]
                self.model.add(sum(held) + sum(empty) <= 1)
                for i in self.items:
                    self.model.add(self._held_after(a, i, t) == self.holds[a, i, t + 1])

    def _held_after(self, a: int, i: str, t: int) -> Any:
        got = sum(v for key, v in self.gets.items() if key[0] == a and key[2:] == (i, t))
        put = sum(v for key, v in self.puts.items() if key[0] == a and key[2:] == (i, t))
        return self.holds[a, i, t] + got - put

    def _cook(self, p: str) -> None:
        """Add the constraints about the tool `p` to the model: its contents, its product, and when it can be
        used."""
        model, made, wanted = self.model, self._made(p), self._wanted(p)
        for i in wanted:
            model.add(self.lies[p, i, 0] == 0)
        for r in made:
            model.add(self.ready[p, r, 0] == 0)
        for t in self.times:
            gone = {r: self._sum(self.gets, p, r, t) for r in made}
            come = {i: self._sum(self.puts, p, i, t) for i in wanted}
            made_now = {r: self._sum(self.starts, p, r, t) for r in made}
            model.add(sum(made_now.values()) <= 1)
            for i in wanted:
                used = sum(made_now[r] for r in made if i in self.level.recipes[r].ingredients)
                model.add(self.lies[p, i, t + 1] == self.lies[p, i, t] + come[i] - used)
                model.add(self.lies[p, i, t] + come[i] <= 1)
                for r in (r for r in made if i not in self.level.recipes[r].ingredients):
                    model.add(self.lies[p, i, t] + come[i] + made_now[r] <= 1)
            for r in made:
                model.add(self.ready[p, r, t + 1] == self.ready[p, r, t] + made_now[r] - gone[r])
                at_once = made_now[r] if self.level.places[p].busy == 0 else 0
                model.add(gone[r] <= self.ready[p, r, t] + at_once)
            self._one_recipe(p, t)
            self._closed(p, t, sum(come.values()), sum(gone.values()), made_now)

    def _sum(self, table: Mapping[Any, Any], p: str, i: str, t: int) -> Any:
        return sum(table[a, p, i, t] for a in self.agents)

    def _one_recipe(self, p: str, t: int) -> None:
        """Add the constraint that the tool `p` holds either ingredients of one recipe or one product, in step
        `t`."""
        after = t + 1
        subset = [self._new("for", p, r, after) for r in self._made(p)]
        self.model.add(sum(subset) + sum(self.ready[p, r, after] for r in self._made(p)) <= 1)
        for i in self._wanted(p):
            pairs_of = zip(subset, self._made(p), strict=True)
            fits = [part for part, made in pairs_of if i in self.level.recipes[made].ingredients]
            self.model.add(self.lies[p, i, after] <= sum(fits))

    def _closed(self, p: str, t: int, come: Any, gone: Any, made_now: Mapping[str, Any]) -> None:
        """Add two constraints on the tool `p` for step `t`: no agent uses it while it is busy, and nothing is
        added while a product is in it.

        `come` and `gone` count the items that are put in and taken out. `made_now` says which product is
        started in this step.
        """
        busy = self.level.places[p].busy
        big = 8
        for later in range(t + 1, min(t + busy, self.case.steps)):
            uses = (entry for table in self.acts for entry in table.items())
            acts = [act for key, act in uses if key[1] == p and key[-1] == later]
            self.model.add(sum(acts) <= big * (1 - sum(made_now.values())))
        lying = sum(self.ready[p, r, t] for r in self._made(p))
        self.model.add(come <= big * (1 - lying + gone))

    def _serve(self, options: Options) -> int:
        """Add the constraints about orders, and maximise the number of completed orders. Return the bound
        from `upper_bounds`, which is one of the constraints.

        Each order takes one dish that is on the table between the order's arrival and its deadline. Dishes
        may be ready before they are ordered.
        """
        interval, life = options.timing.interval, options.timing.lifetimes
        drawn = enumerate(drawn_orders(options, self.case.seed))
        orders = [(number * interval, order.dish) for number, order in drawn if order.dish in self.dishes]
        met = []
        served = {}
        for number, (begin, dish) in enumerate(orders):
            last = min(begin + life[dish], self.case.steps)
            for t in range(begin, last):
                served[number, t] = self._new("served", number, t)
            met.append(sum(served[number, t] for t in range(begin, last)))
            self.model.add(met[-1] <= 1)
        for dish in self.dishes:
            mine = [number for number, (_, ordered) in enumerate(orders) if ordered == dish]
            for t in self.times:
                laid = sum(v for k, v in self.puts.items() if k[1:3] == (self.table, dish) and k[-1] <= t)
                taken = sum(served[n, u] for n in mine for u in range(t + 1) if (n, u) in served)
                self.model.add(taken <= laid)
        case = self.case
        most = episode_bound(case.level, case.alpha, case.agents, case.seed, case.steps).completed
        self.model.add(sum(met) <= most)
        self.model.maximize(sum(met))
        return most

    def turns(self, engine: Any) -> tuple[TurnCommands, ...]:
        """Return the solver's plan as the commands of each step. The module docstring says in which order the
        commands of a step run.

        `engine` is the finished solver.
        """
        return tuple(tuple(self._turn(engine, t)) for t in self.times)

    def _turn(self, engine: Any, t: int) -> list[tuple[int, Command]]:
        early, late = self._gets(engine, t)
        turn = list(early)
        for name, table in (("put", self.puts), ("activate", self.starts)):
            turn += [(k[0], (name, k[1])) for k, v in table.items() if k[-1] == t and engine.value(v)]
        turn += late
        for a in self.agents:
            if engine.value(self.goes[a, t]):
                place = next(p for p in self.level.places if engine.value(self.at[a, p, t + 1]))
                turn.append((a, ("goto", place)))
        return turn

    def _gets(self, engine: Any, t: int) -> tuple[list[tuple[int, Command]], list[tuple[int, Command]]]:
        """Return two lists of (seat, get command) for step `t`. The first has items that were at the place
        before the step. The second has items that are put there in the same step."""
        early: list[tuple[int, Command]] = []
        late: list[tuple[int, Command]] = []
        there = {key[:2] for key, v in self.ready.items() if key[-1] == t and engine.value(v)}
        for a, p, i, _ in (key for key, v in self.gets.items() if key[-1] == t and engine.value(v)):
            if p == self.storage:
                early.append((a, ("get", p, i)))
            elif (p, i) in there:
                there.discard((p, i))
                early.append((a, ("get", p)))
            else:
                late.append((a, ("get", p)))
        return early, late


def load_solver() -> Any:
    """Import and return OR-tools' module `cp_model`. Raises NoSolverError if OR-tools is not installed."""
    try:
        return import_module("ortools.sat.python.cp_model")
    except ImportError:
        raise NoSolverError("OR-tools is not installed: `make optimum` does it") from None


def solve_case(case: OptimumCase, seconds: float) -> Optimum:
    """Return the optimum of a case. If `seconds` are not enough, return the best plan found, with an upper
    bound.

    Raises NoSolverError if OR-tools is not installed.
    """
    cp = load_solver()
    options = read_options({"level": case.level, "alpha": case.alpha, "max_steps": case.steps})
    model = TimeIndexedModel(cp, options, case)
    engine = cp.CpSolver()
    engine.parameters.max_time_in_seconds = seconds
    engine.parameters.num_workers = 1
    status = engine.solve(model.model)
    if status not in {cp.OPTIMAL, cp.FEASIBLE}:
        return Optimum(0, model.most, engine.wall_time, ((),) * case.steps)
    bound = min(model.most, round(engine.best_objective_bound))
    return Optimum(round(engine.objective_value), bound, engine.wall_time, model.turns(engine))


def replay_plan(case: OptimumCase, turns: Sequence[TurnCommands]) -> int:
    """Play these commands in the game, and return the number of completed orders."""
    settings = {"level": case.level, "alpha": case.alpha, "max_steps": case.steps}
    game = CuisineWorld.create(seats=case.agents, settings=settings)
    game.reset(case.seed)
    for turn in turns:
        game.step(turn)
    return share_count_names(game)[0]
