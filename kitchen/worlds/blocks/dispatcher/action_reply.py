"""Read the actions in a language model's reply to `blocks_dispatcher`, and check them in a simulated step.

A reply is a structured list (strict schema), a JSON object, or text such as `goto(agent0, furnace)`. Each
fault becomes a sentence for the model. A player whose action cannot be carried out waits.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from kitchen.agents.job_answers import JOB_ANSWER_PATTERN, JOB_ANSWERS_SCHEMA
from kitchen.contract.data_limits import json_object_in_text
from kitchen.contract.decision_notes import LEFT_OUT, NO_COMMAND
from kitchen.contract.language_model import Reply, Tool
from kitchen.contract.world import Command, Json
from kitchen.words.english_text import and_list
from kitchen.words.quoted_messages import clip_line
from kitchen.words.reply_limits import limited_text
from kitchen.worlds.blocks.dispatcher.kitchen_view import KitchenView, agent_name
from kitchen.worlds.blocks.kitchen_world import (
    ACTIONS,
    GO_ON,
    IDLE_VERBS,
    LOG,
    MEAT,
    PLACES,
    TAKE_OUT,
    BlocksKitchen,
)

NOOP: Command = ("noop",)
"""The action without effect."""
ALL = "all"
"""The addressee of a line to everybody."""
NOTHING = "none"
"""The `thing` of an action that is about nothing."""
THINGS = (
    *dict.fromkeys((*PLACES, *MEAT, LOG, *MEAT.values(), *(f"cooked_{meat}" for meat in MEAT.values()))),
)
GivenAction = tuple[int, Command]
"""The number of an agent, and its action."""


def dispatch_tool(view: KitchenView, *, addressed: bool = False) -> Tool:
    """Return the tool (JSON schema) with which the model gives its actions as a structured list. If
    `addressed`, its line may be for one member."""
    schema: dict[str, Json] = {
        "plan": {"type": "string", "description": "One sentence: what the agents work towards now."}
    }
    if view.talks:
        schema["say"] = {"type": "string", "description": "One short line to the people; empty for none."}
        if addressed and len(view.addressees) > 1:
            schema["say_to"] = {**_one_of((ALL, *view.addressees)), "description": "Who gets the line."}
    if view.is_led:
        schema["jobs"] = JOB_ANSWERS_SCHEMA
    action = {
        "agent": _one_of(map(agent_name, view.mine)),
        "action": _one_of((*ACTIONS, *NOOP)),
        "thing": _one_of((*THINGS, NOTHING)),
    }
    schema["actions"] = {
        "type": "array",
        "description": "Exactly one action for each agent.",
        "items": _object(action),
    }
    return Tool("dispatch", "Give each agent that you command its action for this step.", _object(schema))


def _object(properties: Mapping[str, Json]) -> dict[str, Json]:
    required = list(properties)
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def _one_of(values: Iterable[str]) -> dict[str, Json]:
    return {"type": "string", "enum": list(values)}


def spell_action(seat: int, command: Command) -> str:
    """Return an action as text, such as `goto(agent1, furnace)`."""
    verb, *things = command or ("",)
    return f"{NOOP[0] if verb in IDLE_VERBS else verb}({', '.join((agent_name(seat), *things))})"


def action_object(seat: int, command: Command) -> dict[str, str]:
    """Return an action as an object of the structured list."""
    verb, thing = (*command, NOTHING)[:2]
    return {"agent": agent_name(seat), "action": NOOP[0] if verb in IDLE_VERBS else verb, "thing": thing}


def spell_actions(given: Iterable[GivenAction], *, as_tool: bool) -> str:
    """Return several actions as the model must write them: as JSON if `as_tool`, else one per line."""
    if as_tool:
        return json.dumps({"actions": [action_object(*each) for each in given]})
    return "\n".join(spell_action(*each) for each in given)


# Reading

_HEADING = re.compile(r"^[^\w\n]*(?:my )?(?:actions|commands)\b[^:\n]*:", re.IGNORECASE | re.MULTILINE)
_THOUGHTS = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.IGNORECASE | re.DOTALL)
_CALL = re.compile(r"\b([A-Za-z]\w*?)\(\s*agent[ _]?(\d{1,3})\s*(?:,\s*([\w ]*?)\s*)?,?\s*\)")
_JOINED = re.compile(r"\b([A-Za-z]+)_agent[ _]?(\d{1,3})(?:_(\w+))?\b")
_AGENT = re.compile(r"(?:agent)?[ _]?(\d{1,3})", re.IGNORECASE)
_SAY = re.compile(
    r"^[ \t>*_-]*say(?:[ \t]+to[ \t]+([^:\n]{1,60}?))?[ \t*_]*:[ \t*_]*(.+)$", re.IGNORECASE | re.MULTILINE
)


@dataclass(frozen=True, slots=True)
class ActionReply:
    """A reply that was read: the actions in their order, the line to people, the plan in words, and the name
    of the one to whom the line is addressed (empty: everybody)."""

    given: tuple[GivenAction, ...] = ()
    say: str = ""
    plan: str = ""
    to: str = ""


def read_action_reply(reply: Reply) -> ActionReply:
    """Return what a reply says. Text without actions, and a list in a wrong form, give no actions. Never
    raises."""
    written = limited_text(reply.text)
    parts = reply.call if reply.call is not None else json_object_in_text(written)
    if parts is not None and isinstance(parts.get("actions"), list):
        listed = (_listed(each) for each in parts["actions"] if isinstance(each, dict))
        keys = ("say", "plan", "say_to")
        say, plan, to = (part if isinstance(part := parts.get(key), str) else "" for key in keys)
        given = tuple(each for each in listed if each)
        return ActionReply(given, clip_line(say), clip_line(plan), "" if to == ALL else to)
    text = _THOUGHTS.sub(" ", written)
    said = _SAY.search(text)
    given = _in_text(JOB_ANSWER_PATTERN.sub("", _SAY.sub("", text)))
    return ActionReply(given, clip_line(said[2]), to=said[1] or "") if said else ActionReply(given)


def _listed(entry: Mapping[str, Json]) -> GivenAction | None:
    agent = _AGENT.fullmatch(str(entry.get("agent", "")).strip())
    verb, thing = (str(entry.get(key) or "").strip() for key in ("action", "thing"))
    return (int(agent[1]), _command(verb, thing)) if agent and verb else None


def _in_text(text: str) -> tuple[GivenAction, ...]:
    """Return the actions in a reply's text. Only the text after the last heading (such as `Actions:`) that
    is followed by an action is read. If there is no such heading, the whole text is read."""
    starts = [found.end() for found in _HEADING.finditer(text)]
    for start in (*reversed(starts), 0):
        found = [*_CALL.finditer(text, start), *_JOINED.finditer(text, start)]
        if found:
            found.sort(key=lambda one: one.start())
            return tuple((int(one[2]), _command(one[1], one[3] or "")) for one in found)
    return ()


_SPELLED = {name.lower(): name for name in (*ACTIONS, *IDLE_VERBS)}


def _command(verb: str, thing: str) -> Command:
    verb, thing = _SPELLED.get(verb.lower(), verb)[:40], "_".join(thing.lower().split())[:40]
    if verb in IDLE_VERBS:
        return GO_ON
    bare = thing in ("", NOTHING) or verb == TAKE_OUT  # where to take out of is known
    return (verb,) if bare else (verb, thing)


# Checking


@dataclass(frozen=True, slots=True)
class ActionFault:
    """One fault in a reply: its code for the log, and a sentence for the model."""

    code: str
    text: str
    seat: int | None = None
    command: Command = ()

    def to_json(self) -> dict[str, Json]:
        """Return the fault as JSON for the log (`kitchen.contract.decision_notes`)."""
        return {"code": self.code, "seat": self.seat, "command": list(self.command), "text": self.text}


@dataclass(frozen=True, slots=True)
class CheckedActions:
    """The result of checking a list of actions."""

    commands: Mapping[int, Command]
    """One action for each agent that got one; an action that cannot be carried out is GO_ON."""
    faults: tuple[ActionFault, ...]

    @property
    def accepted(self) -> dict[int, Command]:
        """Return the actions that were not refused."""
        refused = {fault.seat for fault in self.faults if fault.command}
        return {seat: command for seat, command in self.commands.items() if seat not in refused}


def check_actions(view: KitchenView, given: Sequence[GivenAction]) -> CheckedActions:
    """Check these actions, in a simulated step together with the known commands of others. Return one action
    for each agent, and all faults.

    The step runs in the order of seats, as in the game.
    """
    ours: dict[int, Command] = {}
    faults = list[ActionFault]()
    for seat, command in given:
        if fault := _not_followed(view, seat):
            faults.append(fault)
        elif ours.setdefault(seat, command) != command:
            first = spell_action(seat, ours[seat])
            text = f"{agent_name(seat)} got two actions; only the first counts: {first}."
            faults.append(ActionFault("duplicate_agent", text, seat))
    game = simulate_commands(view)
    turn = {**view.commanded, **ours}
    for event in game.step(turn):
        if event.kind == "refused" and event.seat in ours:
            faults.append(refusal_fault(view, event.seat, ours[event.seat], event.data["reasons"]))
    refused = {fault.seat for fault in faults if fault.command}
    commands = {seat: GO_ON if seat in refused else command for seat, command in ours.items()}
    return CheckedActions(commands, (*dict.fromkeys(faults), *_left_out(view, commands)))


def simulate_commands(view: KitchenView) -> BlocksKitchen:
    """Return a simulated kitchen in the observed state, in which a step can be tried out. The orders that
    arrive later in it differ from the real ones."""
    brief, seen = view.brief, view.observation
    settings = {
        "interval": brief["interval"],
        "steps": brief["steps"],
        "porkchop": "cooked_porkchop" in brief["dishes"],
    }
    game = BlocksKitchen.create(seats=len(seen["players"]), settings=settings)
    game.reset(0)
    game.clock = seen["step"]
    game.at = [tuple(player["at"]) for player in seen["players"]]
    game.inventories = [dict(player["holds"]) for player in seen["players"]]
    furnace = seen["furnace"]
    game.fuel, game.input, game.output = furnace["fuel"], list(furnace["input"]), list(furnace["output"])
    game.chest = dict(seen["chest"])
    return game


def refusal_fault(view: KitchenView, seat: int, command: Command, reasons: Sequence[str]) -> ActionFault:
    """Return the fault of a refused action, with a sentence that explains the reasons to the model."""
    thing = command[1] if len(command) > 1 else "that"
    held = ", ".join(view.holds(seat)) or "nothing"
    facts = {"verb": command[0], "thing": thing, "held": held, "verbs": ", ".join((*ACTIONS, *NOOP))}
    facts["raw"] = view.observation["furnace"]["input"][0] or "something else"
    why = "; ".join(REFUSALS.get(code, "it cannot be carried out").format(**facts) for code in reasons)
    text = f"{agent_name(seat)} could not {spell_action(seat, command)}: {why}."
    return ActionFault(" ".join(reasons), text, seat, command)


REFUSALS: Mapping[str, str] = {
    "unknown_verb": "there is no action {verb}; the actions are {verbs}",
    "wrong_arguments": "it needs exactly one thing, except takeOutFurnace and noop, which need none",
    "unknown_place": "nobody can go to {thing}; the places are " + ", ".join(PLACES),
    "unknown_target": "{verb} does not work on {thing}",
    "not_fuel": "{thing} is no fuel; only oak_log is",
    "not_smeltable": "{thing} is no raw meat, and nothing else goes into the furnace",
    "not_near": "{thing} is too far away, or another player takes it in this step; go there first",
    "no_item": "it does not hold {thing}; it holds {held}",
    "furnace_taken": "{raw} is in the furnace, and only the same kind can be added",
    "empty": "nothing cooked is in the furnace",
}
"""Why an action could not be carried out, by the code of the world."""


def _not_followed(view: KitchenView, seat: int) -> ActionFault | None:
    """Return a fault if the action is for an agent that the dispatcher does not command now. Return None
    if it commands the agent."""
    name, mine = agent_name(seat), and_list([agent_name(each) for each in view.mine])
    if not 0 <= seat < len(view.observation["players"]):
        return ActionFault("unknown_agent", f"There is no {name}; you command {mine}.", seat)
    if seat not in view.mine:
        who = "is a person, who decides alone" if seat in view.people else "is commanded by somebody else"
        return ActionFault("not_yours", f"{name} {who}: your action for it was ignored.", seat)
    if seat not in view.asked:
        return ActionFault("not_asked_now", f"{name} needed no action in that step.", seat)
    return None


def _left_out(view: KitchenView, commands: Mapping[int, Command]) -> list[ActionFault]:
    if not commands:
        names = and_list([agent_name(seat) for seat in view.asked])
        return [ActionFault(NO_COMMAND, f"No action was found in your reply: give one each to {names}.")]
    left = [seat for seat in view.asked if seat not in commands]
    words = "{} got no action and did nothing; give noop if that is meant."
    return [ActionFault(LEFT_OUT, words.format(agent_name(seat)), seat) for seat in left]
