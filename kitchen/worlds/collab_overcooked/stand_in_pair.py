"""Define `recipe_partner`, an agent that plays chef or assistant by fixed rules, without a language model.

The chef follows the shortest reference pair of the task. It requests the assistant's next unit (the macros
that bring one thing) when the previous one is finished, and meanwhile follows its own trajectory. The
assistant carries out what was requested, and waits otherwise. Settings let the chef make wrong requests and
the assistant ignore requests, to try out the metrics.

The only state is `Decision.memory`: what was requested last (chef), or what remains to be done (assistant).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from random import Random
from typing import ClassVar

from kitchen.contract.agent import Advice, Adviser, Agent, Decision, Situation, run_without_waiting
from kitchen.contract.organisation import END, SAY
from kitchen.contract.team_messages import REQUESTS_KEY, MessageDraft, TeamMessage
from kitchen.contract.world import Command, Json, Setting, World
from kitchen.words.gettext_without_django import in_english
from kitchen.worlds.collab_overcooked.collaboration_events import PLAN_KEY, macros_in
from kitchen.worlds.collab_overcooked.collaboration_scores import matched_prefix
from kitchen.worlds.collab_overcooked.display_text import command_words
from kitchen.worlds.collab_overcooked.food_rules import food_rules
from kitchen.worlds.collab_overcooked.macro_checks import is_known_macro
from kitchen.worlds.collab_overcooked.order_tasks import Task, tasks
from kitchen.worlds.collab_overcooked.reference_trajectories import (
    Macros,
    ReferencePair,
    bring_raw,
    references,
)
from kitchen.worlds.collab_overcooked.room_layout import ASSISTANT, CHEF

WAIT_ONE: Command = ("wait", "1")
SHORTEST_PAIR: Mapping[int, int] = {1: 0, 2: 0, 3: 0, 4: 0, 5: 1, 6: 3}
"""Index of the reference pair that is shortest in plain execution, by level."""
PATIENCE = 6
"""Steps after which the chef repeats a request, if the assistant does nothing."""


class RecipePartner(Agent):
    """An agent that plays chef or assistant by fixed rules."""

    kind: ClassVar[str] = "recipe_partner"
    worlds: ClassVar[tuple[str, ...] | None] = ("collab_overcooked",)
    reads_words: ClassVar[bool] = True
    instant: ClassVar[bool] = True
    settings: ClassVar[tuple[Setting, ...]] = (
        Setting(
            "wrong_requests",
            "float",
            "Share of wrong requests, as chef",
            0.0,
            help="It then asks for an ingredient that the recipe does not need.",
            minimum=0,
            maximum=1,
        ),
        Setting(
            "ignored_requests",
            "float",
            "Share of requests that it ignores, as assistant",
            0.0,
            minimum=0,
            maximum=1,
        ),
    )

    def unfit(self, world: World) -> str:
        """Return why the agent cannot play this world; empty if it can. It cannot if the chef does not
        know the recipe."""
        return "" if "recipe" in world.brief(CHEF) else "as chef it needs the recipe"

    async def decide(self, situation: Situation) -> Decision:
        """Return the next command of each of the agent's seats, and their messages."""
        return await decide_by_seat(situation, self._decide)

    async def _decide(self, situation: Situation) -> Decision:
        is_chef = situation.seats == (CHEF,)
        return self._as_chef(situation) if is_chef else self._as_assistant(situation)

    # The chef

    def _as_chef(self, situation: Situation) -> Decision:
        task = tasks()[str(situation.briefs[CHEF]["order"])]
        pair = references(task.name)[SHORTEST_PAIR[task.level]]
        mine, theirs = (_done(situation, seat) for seat in (CHEF, ASSISTANT))
        own = pair.chef[matched_prefix(mine, pair.chef) :]
        command = own[0] if own and own[0] in situation.legal[CHEF] else WAIT_ONE
        memory, says = self._request(situation, task, pair, theirs)
        return Decision(_commands(situation, CHEF, command), memory=memory, says=says)

    def _request(
        self, situation: Situation, task: Task, pair: ReferencePair, theirs: Sequence[Command]
    ) -> tuple[Json, tuple[MessageDraft, ...]]:
        """Return the memory and the request of the next unit, if it is due."""
        met = matched_prefix(theirs, pair.assistant)
        unit = unit_at(pair.units, met)
        before = situation.memory or {}
        is_same = before.get("met") == met and situation.step - before.get("step", 0) < PATIENCE
        is_busy = situation.observations[CHEF]["players"][ASSISTANT]["doing"] is not None
        if (
            not unit
            or is_same
            or is_busy
            or before.get("step") == situation.step
            or _is_on_it(before, theirs)
        ):
            return situation.memory, ()
        chance = Random(situation.seed)  # noqa: S311
        wanted = _wrong_unit(task, chance) if chance.random() < self.chosen["wrong_requests"] else unit
        memory = {"met": met, "step": situation.step, "count": len(theirs), "asked": list(map(list, wanted))}
        return memory, (_message("Please do this:", REQUESTS_KEY, wanted),)

    # The assistant

    def _as_assistant(self, situation: Situation) -> Decision:
        before = situation.memory or {"todo": [], "count": None, "heard": 0}
        mine = _done(situation, ASSISTANT)
        todo = [tuple(each) for each in before["todo"]]
        if todo and before["count"] is not None and len(mine) > before["count"]:
            todo = todo[1:]
        says: tuple[MessageDraft, ...] = ()
        heard = _last_number(situation.talk.messages)
        if asked := _requested(situation, before["heard"]):
            ignores = Random(situation.seed).random() < self.chosen["ignored_requests"]  # noqa: S311
            todo = todo if ignores or todo[-len(asked) :] == asked else [*todo, *asked]
            says = (_answer(asked, ignores=ignores),)
        is_free = situation.observations[ASSISTANT]["players"][ASSISTANT]["doing"] is None
        begins = is_free and bool(todo) and todo[0] in situation.legal[ASSISTANT]
        count = len(mine) if begins else before["count"] if not is_free else None
        memory = {"todo": list(map(list, todo)), "count": count, "heard": heard}
        command = todo[0] if begins else WAIT_ONE
        return Decision(_commands(situation, ASSISTANT, command), memory=memory, says=says)


def _is_on_it(before: Mapping[str, Json], theirs: Sequence[Command]) -> bool:
    """Return whether the assistant has begun what was requested last, and has not finished it."""
    asked = [tuple(each) for each in before.get("asked", ())]
    since = list(theirs[before.get("count", 0) :])
    return 0 < len(since) < len(asked) and since == asked[: len(since)]


class RecipeAdviser(Adviser):
    """An adviser for a chef who knows the recipe. An assistant gets no advice, because advice would reveal
    the recipe."""

    def advise(self, situation: Situation) -> Advice | None:
        """Return the next command of the chef's shortest reference trajectory (a known good sequence).
        None if it cannot begin now, for an assistant, and for a chef without the recipe."""
        (seat,) = situation.seats
        brief = situation.briefs[seat]
        if seat != CHEF or "recipe" not in brief:
            return None
        task = tasks()[str(brief["order"])]
        trajectory = references(task.name)[SHORTEST_PAIR[task.level]].chef
        left = trajectory[matched_prefix(_done(situation, CHEF), trajectory) :]
        return Advice(left[0], {}) if left and left[0] in situation.legal[CHEF] else None

    def decide(self, situation: Situation) -> Decision:
        """Return what `recipe_partner` would do and say in this seat. The decision is empty for a chef
        without the recipe."""
        (seat,) = situation.seats
        if seat == CHEF and "recipe" not in situation.briefs[seat]:
            return Decision({}, memory=situation.memory)
        return run_without_waiting(RecipePartner({}).decide(situation))


ADVISER = RecipeAdviser()


async def decide_by_seat(
    situation: Situation, decide: Callable[[Situation], Awaitable[Decision]]
) -> Decision:
    """Return one decision for all seats of an agent. `decide` is called for each seat alone, with a memory
    of its own."""
    if len(situation.seats) == 1:
        return await decide(situation)
    before = situation.memory if isinstance(situation.memory, dict) else {}
    made = {seat: await decide(_of_seat(situation, seat, before.get(str(seat)))) for seat in situation.seats}
    return Decision(
        {seat: command for each in made.values() for seat, command in each.commands.items()},
        memory={str(seat): each.memory for seat, each in made.items()},
        note={str(seat): each.note for seat, each in made.items()},
        calls=tuple(call for each in made.values() for call in each.calls),
        fallback=next((each.fallback for each in made.values() if each.fallback), ""),
        says=tuple(say for each in made.values() for say in each.says),
        plans={seat: plan for each in made.values() for seat, plan in each.plans.items()},
    )


def _of_seat(situation: Situation, seat: int, memory: Json) -> Situation:
    asked = situation.request.asked
    mine = asked if asked is None else tuple(one for one in asked if one == seat)
    request = replace(situation.request, asked=mine)
    observed = {seat: situation.observations[seat]}
    return replace(situation, seats=(seat,), request=request, observations=observed, memory=memory)


def _done(situation: Situation, seat: int) -> list[Command]:
    """Return the macros of a seat that took effect."""
    (observed,) = situation.observations.values()
    return [tuple(each) for each in observed["players"][seat]["done"]]


def _commands(situation: Situation, seat: int, command: Command) -> dict[int, Command]:
    """Return the command, if the seat has something to choose."""
    asked = situation.seats if situation.request.asked is None else situation.request.asked
    return {seat: command} if seat in asked else {}


def unit_at(units: Sequence[Macros], met: int) -> Macros:
    """Return the commands of the assistant's trajectory that come next: the rest of the current unit,
    after `met` commands of the whole. Empty if none are left."""
    for unit in units:
        if met < len(unit):
            return unit[met:]
        met -= len(unit)
    return ()


def _wrong_unit(task: Task, chance: Random) -> Macros:
    return bring_raw(chance.choice([name for name in food_rules().raw if name not in task.ingredients]))


def _message(text: str, key: str, macros: Sequence[Command]) -> MessageDraft:
    with in_english():
        listed = "; ".join(map(command_words, macros))
    return MessageDraft(f"{text} {listed}.", SAY, data={key: [list(macro) for macro in macros]})


def _answer(asked: Sequence[Command], *, ignores: bool) -> MessageDraft:
    return MessageDraft("Not now.") if ignores else _message("I will do this:", PLAN_KEY, asked)


def _last_number(messages: Sequence[TeamMessage]) -> int:
    return messages[-1].number if messages else 0


def _requested(situation: Situation, heard: int) -> list[Command]:
    """Return the requests of messages after number `heard`, as far as this seat could ever do them."""
    return [
        macro
        for said in situation.talk.messages
        if said.number > heard and said.sender not in (None, situation.talk.member) and said.kind != END
        for macro in macros_in(said.data, REQUESTS_KEY)
        if is_known_macro(food_rules(), ASSISTANT, macro)
    ]
