"""Write hints for a participant who has no action to take during practice: ask, answer or wait.

The hints follow what remains to be done in the present kitchen (`remaining_plan`), regardless of what was
done before. Only a chef who knows the recipe gets hints that name things.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kitchen.contract.page_view import DRAWING_TABLES, SeatView
from kitchen.contract.team_messages import REQUESTS_KEY, TeamMessage, commands_in
from kitchen.contract.world import Command
from kitchen.words.gettext_without_django import gettext, gettext_noop
from kitchen.worlds.collab_overcooked.collaboration_scores import matched_prefix
from kitchen.worlds.collab_overcooked.display_text import command_words, thing_words
from kitchen.worlds.collab_overcooked.macro_checks import (
    PLACE,
    STARTED_BY,
    WAIT,
    KitchenThings,
    things_from_observation,
)
from kitchen.worlds.collab_overcooked.order_tasks import tasks
from kitchen.worlds.collab_overcooked.recipe_partner import REPEAT_AFTER, SHORTEST_PAIR
from kitchen.worlds.collab_overcooked.reference_trajectories import references
from kitchen.worlds.collab_overcooked.remaining_plan import remaining_plan, remaining_unit
from kitchen.worlds.collab_overcooked.room_layout import ASSISTANT, CHEF, OWN_UTENSILS
from kitchen.worlds.collab_overcooked.work_names import work_name

ASK_FIRST = gettext_noop(
    "What you need is in the other room, so ask {teammate} for it: {requests}. Press “Ask {teammate}” or the "
    "cook, and choose it."
)
ASK_IN_TABLES = gettext_noop(
    "What you need is in the other room, so ask {teammate} for it: {requests}. Press “Ask {teammate}”, and "
    "choose it."
)
ASK_TYPED = gettext_noop(
    "What you need is in the other room, so ask {teammate} for it: {requests}. Go to “Ask {teammate}”, type "
    "each action on a line of its own, and press “Send to your teammate”."
)
ASK_REST = gettext_noop(
    "{teammate} answers within the same step, so you can write once more before you act. Ask for the rest in "
    "the same way: {requests}. Single actions are under “Ask {teammate}”, “More”."
)
REST_TYPED = gettext_noop(
    "{teammate} answers within the same step, so you can write once more before you act. Ask for the rest in "
    "the same way: {requests}."
)
JOB_RUNS = gettext_noop(
    "The {utensil} runs for 3 steps. The ring around it shows the steps left. Press “Wait for {teammate}” "
    "until it is done."
)
RUNS_IN_TABLES = gettext_noop("The {utensil} runs for 3 steps. Press “Wait for {teammate}” until it is done.")
TEAMMATE_WORKS = gettext_noop(
    "{teammate} does what you asked for. Press “Wait for {teammate}”: the wait ends when the next thing lies "
    "on a shared counter."
)
ACCEPT = gettext_noop(
    "{teammate} asks you for something. Press “Do this”: the first action begins, and the others follow by "
    "themselves."
)
NEXT_ACTION = gettext_noop("{teammate} asked you for something that is not done yet. Next: {action}.")
NOT_YET = gettext_noop(
    "{teammate} asked you for something that is not possible yet: {action}. Wait, or first put down what you "
    "hold."
)
ALL_DONE = gettext_noop(
    "You have done what {teammate} asked for. Press “Wait for {teammate}”: the wait ends with the next "
    "request. You can also press “Ask {teammate}” and “What next?”."
)
DONE_TYPED = gettext_noop(
    "You have done what {teammate} asked for. Press “Wait for {teammate}”: the wait ends with the next "
    "request. You can also ask under “Say” what to do next."
)
NOTHING_ASKED = gettext_noop(
    "You do not have the recipe. Press “Wait for {teammate}” until you are asked for something. You can also "
    "press “Ask {teammate}” and “What next?”."
)
NOTHING_TYPED = gettext_noop(
    "You do not have the recipe. Press “Wait for {teammate}” until you are asked for something. You can also "
    "ask under “Say” what to do next."
)
REASONS: Mapping[str, str] = {
    "pickup": gettext_noop("It is ready for you."),
    "pickup counter": gettext_noop("It lies on a shared counter. Your cook walks there by itself."),
    "put_obj_in_utensil": gettext_noop("The recipe says what belongs in there."),
    **dict.fromkeys(
        STARTED_BY, gettext_noop("Nothing happens before you start it. Wrong contents would be lost.")
    ),
    "fill_dish_with_food": gettext_noop("This order is served in a dish."),
    "deliver": gettext_noop("The first correct delivery ends the game."),
}
"""Why a macro comes next, by verb, and for a counter by verb and place."""


def reason_words(macro: Command) -> str:
    """Return a text that explains why this command comes next; empty if there is no explanation for it."""
    text = REASONS.get(" ".join((macro[0], macro[-1])), REASONS.get(macro[0], ""))
    return gettext(text) if text else ""


def teammate_hint(view: SeatView) -> str:
    """Return the hint for a step in which the seat cannot begin the next command of its reference
    trajectory (a known good sequence). It tells the person to ask the teammate, accept a request, or wait."""
    teammate = view.players[1 - view.seat].name
    if not _leads_by_recipe(view):
        return _answer_hint(view, teammate)
    if running := _running_utensil(view, CHEF):
        text = RUNS_IN_TABLES if view.shown == DRAWING_TABLES else JOB_RUNS
        return gettext(text).format(utensil=thing_words(running), teammate=teammate)
    missing, is_begun = _missing_requests(view)
    if not missing:
        return gettext(TEAMMATE_WORKS).format(teammate=teammate)
    typed = view.brief["typed"]
    name = "" if typed else work_name(missing)
    requests = name or "; ".join(map(typed_words if typed else command_words, missing))
    return gettext(_ask_text(view, is_begun=is_begun)).format(teammate=teammate, requests=requests)


def _ask_text(view: SeatView, *, is_begun: bool) -> str:
    """Return the text, in English, that says how to ask with the controls that this page has."""
    if view.brief["typed"]:
        return REST_TYPED if is_begun else ASK_TYPED
    if is_begun:
        return ASK_REST
    return ASK_IN_TABLES if view.shown == DRAWING_TABLES else ASK_FIRST


def hinted_requests(view: SeatView) -> Sequence[Command]:
    """Return the macros that `teammate_hint` says to ask for; empty if it says something else."""
    if not _leads_by_recipe(view) or _running_utensil(view, CHEF):
        return ()
    return _missing_requests(view)[0]


def _leads_by_recipe(view: SeatView) -> bool:
    return view.seat == CHEF and "recipe" in view.brief


def _answer_hint(view: SeatView, teammate: str) -> str:
    """Return a hint about the teammate's newest request. It names only the requested things."""
    requested, typed = _requests_of_teammate(view), view.brief["typed"]
    if not requested:
        return gettext(NOTHING_TYPED if typed else NOTHING_ASKED).format(teammate=teammate)
    left = _left_of_newest(
        requested, [tuple(each) for each in view.observation["players"][view.seat]["done"]]
    )
    if not left:
        return gettext(DONE_TYPED if typed else ALL_DONE).format(teammate=teammate)
    rest = remaining_unit(_things(view), _unit_at(requested[-1], len(requested[-1]) - len(left)))
    action = rest[0] if rest else left[0]
    text = ACCEPT if left == requested[-1] and action == left[0] else NEXT_ACTION
    text = text if action in view.choice.legal else NOT_YET
    return gettext(text).format(teammate=teammate, action=command_words(action))


def _unit_at(macros: Sequence[Command], number: int) -> tuple[Command, ...]:
    """Return the unit of a request that contains the macro with this index. A unit ends with a macro that
    puts something on a counter."""
    ends = [end for end, macro in enumerate(macros, start=1) if macro == (PLACE,)]
    first = max((end for end in ends if end <= number), default=0)
    return tuple(macros[first : min((end for end in ends if end > number), default=len(macros))])


def _things(view: SeatView) -> KitchenThings:
    return things_from_observation(view.observation, view.brief)


def _requests_of_teammate(view: SeatView) -> list[list[Command]]:
    """Return the macros of each request that the teammate sent, without waits. A request that repeats the
    one before it is left out."""
    of_teammate = (said for said in view.talk.messages if said.sender != view.talk.member)
    found: list[list[Command]] = []
    for said in of_teammate:
        macros = [macro for macro in commands_in(said.data, REQUESTS_KEY) if macro[0] != WAIT]
        if macros and found[-1:] != [macros]:
            found.append(macros)
    return found


def _left_of_newest(requested: Sequence[list[Command]], done: Sequence[Command]) -> list[Command]:
    """Return the macros of the newest request that this cook still has to do. Macros done earlier count for
    earlier requests first."""
    left: list[Command] = []
    for macros in requested:
        left, done = _left_of(macros, done)
    return left


def _left_of(macros: Sequence[Command], done: Sequence[Command]) -> tuple[list[Command], Sequence[Command]]:
    """Return the macros of a request that were not done, and the macros that were done after the request was
    complete."""
    left = list(macros)
    for number, macro in enumerate(done, start=1):
        if macro == left[0]:
            left.pop(0)
        if not left:
            return [], done[number:]
    return left, done


def typed_words(macro: Command) -> str:
    """Return a command in the form in which a person types it: `pickup(egg, counter)`."""
    return f"{macro[0]}({', '.join(macro[1:])})"


def _running_utensil(view: SeatView, seat: int) -> str:
    own = OWN_UTENSILS[seat]
    utensils = view.observation["utensils"]
    return next((each["thing"] for each in utensils if each["thing"] in own and each["left"] is not None), "")


def _missing_requests(view: SeatView) -> tuple[Sequence[Command], bool]:
    """Return the macros to request for the assistant's next unit (thing to bring), and whether some of them
    were requested already."""
    task = tasks()[str(view.brief["order"])]
    plan = remaining_plan(_things(view), task.name, references(task.name)[SHORTEST_PAIR[task.level]])
    unit = plan.units[0] if plan and plan.units else ()
    own = [said for said in view.talk.messages if said.sender == view.talk.member]
    requested = [macro for said in own for macro in commands_in(said.data, REQUESTS_KEY)]
    asked = 0 if _is_given_up(view, own) else matched_prefix(_undone(view, requested), unit)
    return unit[asked:], asked > 0


def _undone(view: SeatView, requested: Sequence[Command]) -> list[Command]:
    """Return the requested macros that the assistant has not carried out."""
    left = list(requested)
    for macro in map(tuple, view.observation["players"][ASSISTANT]["done"]):
        if macro in left:
            left.remove(macro)
    return left


def _is_given_up(view: SeatView, own: Sequence[TeamMessage]) -> bool:
    """Return True if the assistant does nothing although the person's newest message (the last of `own`)
    is several steps old."""
    waits = bool(view.history) and view.history[0].commands.get(ASSISTANT, (WAIT,))[0] == WAIT
    is_late = bool(own) and view.step - own[-1].step >= REPEAT_AFTER
    is_busy = view.observation["players"][ASSISTANT]["doing"] is not None or _running_utensil(view, ASSISTANT)
    return waits and is_late and not is_busy
