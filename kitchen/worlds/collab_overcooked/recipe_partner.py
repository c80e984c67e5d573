"""Define `recipe_partner`, an agent that plays the chef or the assistant by fixed rules.

It uses no language model. The chef follows a known good sequence of commands, and asks the assistant for one
thing at a time, or a person for up to two (`chef_requests`). The assistant carries out the requests, and
waits otherwise. Settings add wrong or ignored requests, to test the metrics.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import dropwhile
from random import Random
from typing import ClassVar

from kitchen.agents.plain_sentences.sentence_clauses import DOING, HELP, TALK, UNCLEAR
from kitchen.contract.advisers import Advice, Adviser
from kitchen.contract.agent import Agent, Decision, Situation, run_without_waiting
from kitchen.contract.declared_settings import Setting
from kitchen.contract.organisation import END, TALK_KINDS
from kitchen.contract.team_messages import (
    PLAN_KEY,
    REQUESTS_KEY,
    MessageDraft,
    TeamMessage,
    commands_in,
)
from kitchen.contract.world import Command, Json, World
from kitchen.worlds.collab_overcooked.chef_answers import ASKS_NEXT, DECLINES, chef_answer, declined_things
from kitchen.worlds.collab_overcooked.chef_requests import (
    ABOUT_KEY,
    MOST_OPEN,
    OpenRequests,
    PersonAtWork,
    ask_person,
    chef_pairs,
    message,
    thing_use,
)
from kitchen.worlds.collab_overcooked.food_rules import food_rules
from kitchen.worlds.collab_overcooked.macro_checks import (
    PICKUP,
    WAIT_ONE,
    KitchenThings,
    is_known_macro,
    refusal_code,
    things_from_observation,
)
from kitchen.worlds.collab_overcooked.order_tasks import Task, tasks
from kitchen.worlds.collab_overcooked.reference_trajectories import (
    PLACE_HELD,
    Macros,
    ReferencePair,
    bring_raw,
    references,
)
from kitchen.worlds.collab_overcooked.remaining_plan import RemainingPlan, remaining_plan, remaining_unit
from kitchen.worlds.collab_overcooked.room_layout import ASSISTANT, CHEF
from kitchen.worlds.collab_overcooked.spoken_requests import SpokenRequests, all_requests, brings

SHORTEST_PAIR: Mapping[int, int] = {1: 0, 2: 0, 3: 0, 4: 0, 5: 1, 6: 3}
"""Index of the reference pair that is shortest in plain execution, by level."""
HESITATION = 0.75
"""Share of the errors of synthetic participants that only lose a step. We chose it; it is not estimated from
people."""
MESSAGES_A_STEP = 3
"""Messages that a cook may send in one step, if no organisation says it."""
REPEAT_AFTER = 6
"""Steps without progress after which the chef repeats a request."""

CHEF_MEMORY: Mapping[str, Json] = {
    "due_unit": [],
    "requested": [],
    "progress_step": -REPEAT_AFTER,
    "done_at_request": 0,
    "done_so_far": 0,
}
"""Memory of a chef that has requested nothing: the unit that was due at the last request, the macros that
were requested, the step of this request or of later progress, and how many macros the assistant had finished
at the request and at that step."""
ASSISTANT_MEMORY: Mapping[str, Json] = {
    "units": [],
    "macros_read": 0,
    "last_message": 0,
    "stuck_since": None,
}
"""Memory of an assistant that has heard nothing: the units to do, how many own macros were looked at, the
number of the last message, and since which step the first unit cannot be carried out."""


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
        Setting(
            "tells_use",
            "bool",
            "Tells what it needs each thing for, as chef",
            False,
            help="Its requests then name a utensil, which is part of the recipe. The benchmark's do not.",
        ),
        Setting(
            "requests_at_once",
            "int",
            "Requests that are open at the same time, as chef beside a person",
            MOST_OPEN,
            help="With one, the person has to think of the second thing.",
            minimum=1,
            maximum=MOST_OPEN,
            later=True,
        ),
    )

    def unfit(self, world: World, seats: Collection[int]) -> str:
        """Return why it cannot play these seats: a chef by rule needs the recipe."""
        lacks_recipe = CHEF in seats and "recipe" not in world.brief(CHEF)
        return "as chef it needs the recipe" if lacks_recipe else ""

    async def decide(self, situation: Situation) -> Decision:
        """Return the next command of each of the agent's seats, and their messages."""
        return await decide_by_seat(situation, self._decide)

    async def _decide(self, situation: Situation) -> Decision:
        is_chef = situation.seats == (CHEF,)
        return self._as_chef(situation) if is_chef else self._as_assistant(situation)

    # The chef

    def _as_chef(self, situation: Situation) -> Decision:
        plan, pair = _chef_plan(situation)
        command = next((one for one in plan.chef[:1] if one in situation.legal[CHEF]), WAIT_ONE)
        answer = chef_answer(_new_words(situation))
        says = _answer_of_chef(answer, command)
        if ASSISTANT in situation.people:
            memory, asks = self._ask_person(situation, plan, pair, answer)
        else:
            memory, asks = self._request(situation, plan.units[0] if plan.units else (), answer)
        if says and answer != DECLINES and not any(commands_in(one.data, REQUESTS_KEY) for one in asks):
            asks = ()
        return Decision(_commands(situation, CHEF, command), memory=memory, says=(*says, *asks))

    def _ask_person(
        self, situation: Situation, plan: RemainingPlan, pair: ReferencePair, answer: str
    ) -> tuple[Json, tuple[MessageDraft, ...]]:
        """Return the new memory, and what the chef says to a person who assists it (`chef_requests`)."""
        chance, task = Random(situation.seed), _task(situation)  # noqa: S311

        def wrong_unit() -> Macros | None:
            return _wrong_unit(task, chance) if chance.random() < self.chosen["wrong_requests"] else None

        person, before = (
            situation.observations[CHEF]["players"][ASSISTANT],
            OpenRequests.from_memory(situation.memory),
        )
        seen = PersonAtWork(
            situation.step,
            _done(situation, ASSISTANT),
            person["doing"] is not None,
            situation.step - max(person["done_in"], default=0),
            _things(situation, CHEF),
            pair,
            plan.units,
            task.ingredients,
            plan.chef,
            tuple(declined_things(_new_words(situation), dict(before.open))),
            _messages_left(situation) - bool(answer),
            bool(self.chosen["tells_use"]),
            int(self.chosen["requests_at_once"]),
        )
        code = ASKS_NEXT if not answer and _has_question(situation) else answer
        now, says = ask_person(seen, before, code, wrong_unit)
        if _has_request(situation):
            says = (message("chef_cannot"), *says)
        elif not says and not answer and _is_addressed(situation):
            says = (message("will_ask"),)
        return now.to_memory(), says

    def _request(
        self, situation: Situation, unit: Macros, answer: str
    ) -> tuple[Json, tuple[MessageDraft, ...]]:
        """If the next unit (a thing that the assistant brings) is due, return the new memory and a message
        that requests what remains of it. Otherwise return no message. `answer` is the code of the answer to
        what a person has just said; with ASKS_NEXT, a request is repeated."""
        theirs, step = _done(situation, ASSISTANT), situation.step
        before = {**CHEF_MEMORY, **(situation.memory or {})}
        asked, since = _macros(before["requested"]), tuple(theirs[before["done_at_request"] :])
        if len(theirs) != before["done_so_far"]:
            before = {**before, "done_so_far": len(theirs), "progress_step": step - 1}
        is_begun = 0 < len(since) < len(asked) and since == asked[: len(since)]
        is_same = is_begun or (since != asked and _is_end(unit, _macros(before["due_unit"])))
        is_busy = situation.observations[CHEF]["players"][ASSISTANT]["doing"] is not None
        has_question = answer == ASKS_NEXT if answer else _has_question(situation)
        if has_question and not unit:
            return before, (message("nothing_now"),)
        is_recent = is_same and step - before["progress_step"] < REPEAT_AFTER and not has_question
        if not unit or is_busy or before["progress_step"] == step or is_recent:
            code = "will_ask"
            if answer == ASKS_NEXT:
                code = "finish_first" if is_busy else "asked_already"
            return before, (message(code),) if _is_addressed(situation) or answer == ASKS_NEXT else ()
        chance = Random(situation.seed)  # noqa: S311
        is_wrong = chance.random() < self.chosen["wrong_requests"]
        wanted = _wrong_unit(_task(situation), chance) if is_wrong else unit
        memory = {
            "due_unit": unit,
            "requested": wanted,
            "progress_step": step,
            "done_at_request": len(theirs),
            "done_so_far": len(theirs),
        }
        thing = unit[-2][1] if len(unit) > 1 else _things(situation, CHEF).hold[ASSISTANT] or ""
        tells = self.chosen["tells_use"] and not is_wrong
        use = thing_use(_chef_plan(situation)[1].chef, thing) if tells else ""
        return memory, (message("do_this", REQUESTS_KEY, wanted, use),)

    # The assistant

    def _as_assistant(self, situation: Situation) -> Decision:
        before = {**ASSISTANT_MEMORY, **(situation.memory or {})}
        mine, things = _done(situation, ASSISTANT), _things(situation, ASSISTANT)
        todo = _without_done(list(map(_macros, before["units"])), mine, before["macros_read"])
        asked, ignores = _requested(situation, before["last_message"]), False
        left_out: list[Macros] = []
        spoken = _spoken(situation, before["last_message"])
        if spoken.stops or spoken.unwanted:
            kept = [] if spoken.stops else [unit for unit in todo if not brings(unit, spoken.unwanted)]
            left_out, todo = [unit for unit in todo if unit not in kept], kept
        asked = asked or [macro for unit in spoken.units for macro in unit]
        if asked:
            ignores = Random(situation.seed).random() < self.chosen["ignored_requests"]  # noqa: S311
            possible = list(dropwhile(lambda unit: not remaining_unit(things, unit), todo))
            todo = todo if ignores else _with_units(possible, _units_of(asked))
        rest = remaining_unit(things, todo[0]) if todo else None
        why = refusal_code(things, ASSISTANT, todo[0][0]) if todo and not rest else ""
        says = (_answer(asked, spoken, ignores=ignores, can_begin=bool(rest), why=why),) if asked else ()
        if asked and spoken.kind == UNCLEAR:
            says = (*says, _spoken_answer(SpokenRequests(kind=UNCLEAR), todo))
        if not asked and (spoken.stops or spoken.unwanted or spoken.kind or _is_addressed(situation)):
            says = (_spoken_answer(spoken, todo, left_out),)
        stuck = situation.step if before["stuck_since"] is None or rest or asked else before["stuck_since"]
        if todo and situation.step - stuck >= REPEAT_AFTER:  # it cannot be done: the next one is tried
            says = (
                *says,
                *([message("gives_up", ABOUT_KEY, todo[0], why=why)] if CHEF in situation.people else []),
            )
            todo, stuck = todo[1:], situation.step
        memory = {
            "units": todo,
            "macros_read": len(mine),
            "last_message": _last_number(situation.talk.messages),
            "stuck_since": stuck,
        }
        command = rest[0] if rest and rest[0] in situation.legal[ASSISTANT] else WAIT_ONE
        return Decision(_commands(situation, ASSISTANT, command), memory=memory, says=says)


def _chef_plan(situation: Situation) -> tuple[RemainingPlan, ReferencePair]:
    """Return what remains of a reference pair (known good commands of both cooks), and this pair: the
    shortest one. Beside a person, prefer a pair of which no part was missed and that can go on now. If
    there is none, because things that were brought ahead are in the way, the chef makes room. The plan is
    empty if the delivery cannot be reached any more."""
    task, things = _task(situation), _things(situation, CHEF)
    pairs = list(chef_pairs(references(task.name), SHORTEST_PAIR[task.level]))
    pairs = pairs if ASSISTANT in situation.people else pairs[:1]
    found = [(remaining_plan(things, task.name, pair) or RemainingPlan((), ()), pair) for pair in pairs]
    if ASSISTANT not in situation.people:
        return found[0]
    in_order = [one for one in found if _is_in_order(*one, things.hold[CHEF])]
    if not in_order:
        ways = ((remaining_plan(things, task.name, pair, makes_room=True), pair) for pair in pairs)
        cleared = next(((plan, pair) for plan, pair in ways if plan), None)
        return cleared or next((one for one in found if one[0].chef), found[0])
    return next((one for one in in_order if one[0].chef[0] in situation.legal[CHEF]), in_order[0])


def _is_in_order(plan: RemainingPlan, pair: ReferencePair, held: str | None) -> bool:
    """Return whether the chef goes on with the pair where it is, with the thing that the pair holds then."""
    number = len(pair.chef) - len(plan.chef)
    if not plan.chef or plan.chef != pair.chef[number:]:
        return False
    before = pair.chef[number - 1] if number else PLACE_HELD
    return before[0] != PICKUP or before[1] == held


class RecipeAdviser(Adviser):
    """An adviser for a chef who knows the recipe. An assistant gets no advice, because advice would reveal
    the recipe."""

    needs_words: ClassVar[bool] = True

    def advise(self, situation: Situation) -> Advice | None:
        """Return the next command of the chef's shortest reference trajectory (a known good sequence).
        None if the command cannot begin now. Also None for an assistant, and for a chef who does not know
        the recipe."""
        (seat,) = situation.seats
        brief = situation.briefs[seat]
        if seat != CHEF or "recipe" not in brief:
            return None
        left = _chef_plan(situation)[0].chef
        return Advice(left[0], {}) if left and left[0] in situation.legal[CHEF] else None

    def decide(self, situation: Situation) -> Decision:
        """Return what `recipe_partner` would do and say in this seat. The decision is empty for a chef
        without the recipe."""
        (seat,) = situation.seats
        if seat == CHEF and "recipe" not in situation.briefs[seat]:
            return Decision({}, memory=situation.memory)
        return run_without_waiting(RecipePartner({}).decide(situation))

    def slip(self, offered: Sequence[Command], chance: Random) -> Command:
        """Return the command of somebody who errs: mostly hesitating for a step. A random macro would cost up
        to eight steps each time, more than the time limit of level 1 allows."""
        if WAIT_ONE in offered and chance.random() < HESITATION:
            return WAIT_ONE
        return super().slip(offered, chance)


ADVISER = RecipeAdviser()


async def decide_by_seat(
    situation: Situation, decide: Callable[[Situation], Awaitable[Decision]]
) -> Decision:
    """Return one decision for all seats of an agent. `decide` is called once for each seat, with a
    situation and a memory of this seat only."""
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
    """Return the macros of a seat that took effect so far."""
    (observed,) = situation.observations.values()
    return [tuple(each) for each in observed["players"][seat]["done"]]


def _commands(situation: Situation, seat: int, command: Command) -> dict[int, Command]:
    """Return the command by seat. Return an empty mapping if the seat has nothing to choose."""
    asked = situation.seats if situation.request.asked is None else situation.request.asked
    return {seat: command} if seat in asked else {}


def _task(situation: Situation) -> Task:
    return tasks()[str(next(iter(situation.briefs.values()))["order"])]


def _things(situation: Situation, seat: int) -> KitchenThings:
    brief = situation.briefs[seat]
    return things_from_observation(situation.observations[seat], brief)


def _macros(listed: Iterable[Sequence[str]]) -> Macros:
    return tuple(map(tuple, listed))


def _is_end(part: Macros, whole: Macros) -> bool:
    return bool(part) and whole[-len(part) :] == part


def _units_of(macros: Sequence[Command]) -> list[Macros]:
    """Split the requested macros into units. Each unit ends with a macro that puts something on a counter."""
    units: list[Macros] = []
    for number, macro in enumerate(macros):
        if number and macros[number - 1] != PLACE_HELD:
            units[-1] = (*units[-1], macro)
        else:
            units.append((macro,))
    return units


def _with_units(todo: Sequence[Macros], units: Sequence[Macros]) -> list[Macros]:
    """Return the units that remain to be done, with `units` added. A new unit that is the end of another
    one is not added, because it is the same work."""
    kept = [one for one in todo if not any(one != unit and _is_end(one, unit) for unit in units)]
    return [*kept, *(unit for unit in units if not any(_is_end(unit, one) for one in kept))]


def _without_done(todo: list[Macros], mine: Sequence[Command], seen: int) -> list[Macros]:
    """Return the units that remain to be done after the macros that took effect since number `seen`
    (`mine`). A unit is done when its last two macros took effect one after the other."""
    for number in range(seen + 1, len(mine) + 1):
        done = next((unit for unit in todo if _is_end(unit[-2:], tuple(mine[:number]))), None)
        todo = [unit for unit in todo if unit is not done]
    return todo


def _wrong_unit(task: Task, chance: Random) -> Macros:
    return bring_raw(chance.choice([name for name in food_rules().raw if name not in task.ingredients]))


def _spoken(situation: Situation, heard: int) -> SpokenRequests:
    """Return what people's messages in words after the number `heard` ask for together. Messages that request
    commands are left out."""
    team, me = situation.talk.organisation, situation.talk.member
    people = {one.number for one in team.members if one.is_person} - {me} if team else set()
    texts = [
        said.text
        for said in situation.talk.messages
        if said.number > max(heard, situation.talk.taken_over) and said.sender in people and said.text.strip()
        if said.kind != END and not commands_in(said.data, REQUESTS_KEY)
    ]
    return all_requests(texts)


def _new_words(situation: Situation) -> list[str]:
    """Return what people have just said in words."""
    team, me = situation.talk.organisation, situation.talk.member
    people = {one.number for one in team.members if one.is_person} - {me} if team else set()
    return [said.text for said in situation.talk.messages if said.is_new and said.sender in people]


def _answer_of_chef(code: str, command: Command) -> tuple[MessageDraft, ...]:
    """Return the chef's answer to words; empty if a request is the answer."""
    if code == DOING:
        does = command != WAIT_ONE
        return (message("will_do", PLAN_KEY, (command,)) if does else message("chef_waits"),)
    return (message(code),) if code not in ("", ASKS_NEXT) else ()


def _spoken_answer(
    spoken: SpokenRequests, todo: Sequence[Macros], left_out: Sequence[Macros] = ()
) -> MessageDraft:
    """Return the answer to words that request nothing to be brought. `todo` is what remains to be done, and
    `left_out` what is not done any more."""
    if spoken.stops:
        return message("stops")
    if spoken.unwanted:
        return message("leaves_out", ABOUT_KEY, [macro for unit in left_out for macro in unit])
    if spoken.kind == DOING:
        rest = [macro for unit in todo for macro in unit]
        return message("will_do", PLAN_KEY, rest) if rest else message("no_request")
    return message({TALK: "all_right", HELP: "help"}.get(spoken.kind, "only_requests"))


def _answer(
    asked: Sequence[Command], spoken: SpokenRequests, *, ignores: bool, can_begin: bool, why: str
) -> MessageDraft:
    if ignores:
        return message("not_now")
    if can_begin and spoken.is_several:
        return message("will_do_once", PLAN_KEY, asked)
    return message("will_do", PLAN_KEY, asked) if can_begin else message("not_yet", PLAN_KEY, asked, why=why)


def _last_number(messages: Sequence[TeamMessage]) -> int:
    return messages[-1].number if messages else 0


def _is_addressed(situation: Situation) -> bool:
    """Return whether the other cook has opened the conversation of this step, and this cook has not answered
    yet."""
    step, own = situation.step + 1, situation.talk.member
    said = [one.sender for one in situation.talk.messages if one.step == step and one.kind in TALK_KINDS]
    return bool(said) and own not in said


def _messages_left(situation: Situation) -> int:
    """Return how many messages this cook may still send in this step."""
    team, own, step = situation.talk.organisation, situation.talk.member, situation.step + 1
    sent = sum(one.sender == own and one.step == step for one in situation.talk.messages)
    return (team.messages_a_step if team else MESSAGES_A_STEP) - sent


def _has_question(situation: Situation) -> bool:
    """Return whether the other cook has just asked something in words."""
    new = (said for said in situation.talk.messages if said.is_new and said.sender != situation.talk.member)
    return any(said.text.rstrip().endswith("?") for said in new)


def _has_request(situation: Situation) -> bool:
    """Return whether the other cook has just requested commands."""
    new = (said for said in situation.talk.messages if said.is_new and said.sender != situation.talk.member)
    return any(commands_in(said.data, REQUESTS_KEY) for said in new)


def _requested(situation: Situation, heard: int) -> list[Command]:
    """Return the commands that teammates requested in messages after the number `heard`. Commands that
    this seat can never carry out are left out."""
    return [
        macro
        for said in situation.talk.messages
        if said.number > heard and said.sender not in (None, situation.talk.member) and said.kind != END
        for macro in commands_in(said.data, REQUESTS_KEY)
        if is_known_macro(food_rules(), ASSISTANT, macro)
    ]
