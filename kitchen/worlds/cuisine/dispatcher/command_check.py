"""Simulate commands by the game's rules before they run, and write to the model what was wrong.

Source: section 4.1 of the paper (Action Validation, Feedback). A command that cannot be carried out becomes
noop, with a reason and advice. A refused command does not affect the others. A second command for an agent is
left out, and so is a command for another's agent.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from kitchen.contract.decision_notes import LEFT_OUT, NO_COMMAND, UNCLEAR, UNREAD_CODES
from kitchen.contract.world import Command, Event, Json
from kitchen.words.english_text import counted_noun
from kitchen.worlds.cuisine.command_rules import AgentState, PlaceState
from kitchen.worlds.cuisine.dispatcher.kitchen_snapshot import (
    SENTENCES,
    CommandedTeam,
    GivenCommand,
    KitchenMoment,
    agent_name,
    is_useful_item,
    spell_command,
)
from kitchen.worlds.cuisine.display_text import telling_reasons
from kitchen.worlds.cuisine.simulated_kitchen import SimulatedKitchen

VERB_FORMS: Mapping[str, str] = {
    "goto": "goto_AGENT_LOCATION",
    "get": "get_AGENT_LOCATION_ITEM",
    "put": "put_AGENT_LOCATION",
    "activate": "activate_AGENT_LOCATION",
    "noop": "noop_AGENT",
}
"""The form of every command in free text."""


@dataclass(frozen=True, slots=True)
class ReplyFault:
    """One fault of a reply: `code` for the log, `text` for the model."""

    code: str
    text: str
    seat: int | None = None
    command: Command = ()

    def to_json(self) -> dict[str, Json]:
        """Return the fault for the decision's note."""
        return {"code": self.code, "seat": self.seat, "command": list(self.command), "text": self.text}


def refusal_fault(
    seat: int, command: Command, reasons: Iterable[str], agent: AgentState | None, place: PlaceState | None
) -> ReplyFault:
    """Return the fault of a command that the rules refuse, given the agent and the place at that moment."""
    codes = telling_reasons(tuple(reasons))
    parts = [_sentence(code, command).format(**_facts(seat, command, agent, place)) for code in codes]
    text = f"{agent_name(seat)} could not {spell_command(seat, command)}: {'; '.join(parts)}."
    return ReplyFault(" ".join(codes), text, seat, command)


def _facts(seat: int, command: Command, agent: AgentState | None, place: PlaceState | None) -> dict[str, str]:
    where = command[1] if len(command) > 1 else "that place"
    return {
        "agent": agent_name(seat),
        "verb": command[0] if command else "",
        "place": where,
        "item": command[2] if len(command) > 2 else "that",
        "at": agent.at if agent else "nowhere",
        "held": (agent.holds if agent else None) or "nothing",
        "rest": counted_noun(agent.busy if agent else 0, "more step"),
        "busy": counted_noun(place.busy if place else 0, "more step"),
        "inside": " and ".join(place.items if place else ()) or "nothing",
        "verbs": ", ".join(VERB_FORMS),
        "form": VERB_FORMS.get(command[0] if command else "", ""),
        "go": spell_command(seat, ("goto", where)),
    }


def _sentence(code: str, command: Command) -> str:
    of_verb = SENTENCES["refusals_of_verb"].get(f"{code} {command[0] if command else ''}")
    return str(of_verb or SENTENCES["refusals"].get(code, "it could not be carried out"))


NOOP = ("noop",)
UnclearCommands = Mapping[int, Sequence[Command]]
"""Commands of several passages of an answer for one agent, by seat."""
NOTHING_UNCLEAR: UnclearCommands = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class CheckedCommands:
    """The result of checking a list of commands."""

    commands: tuple[GivenCommand, ...]
    """Commands in their order, one for each agent; unusable ones are noop."""
    faults: tuple[ReplyFault, ...]

    @property
    def unread(self) -> bool:
        """Return whether some agent has no command that could be read."""
        return any(fault.code in UNREAD_CODES for fault in self.faults)

    @property
    def accepted(self) -> tuple[GivenCommand, ...]:
        """The commands that were not refused."""
        refused = {fault.seat for fault in self.faults if fault.command}
        return tuple(each for each in self.commands if each[0] not in refused)


def check_commands(
    moment: KitchenMoment, given: Sequence[GivenCommand], unclear: UnclearCommands = NOTHING_UNCLEAR
) -> CheckedCommands:
    """Simulate this step: first the commands of others and of settled seats, then the commands `given`.
    Return these commands, with NOOP in place of each refused one, and the faults found, including agents left
    without a command."""
    ours, faults = first_commands(given, moment.team)
    scene = SimulatedKitchen(moment.brief, moment.observation)
    scene.run_all(moment.commanded)
    commands: list[GivenCommand] = []
    for seat, command in ours:
        agent, place = scene.agent(seat), scene.place(command)
        reasons = scene.run(seat, command)
        if reasons:
            faults.append(refusal_fault(seat, command, reasons, agent, place))
        commands.append((seat, NOOP if reasons else command))
    faults += _left_out(moment.team, commands, unclear)
    return CheckedCommands(tuple(commands), tuple(faults))


def first_commands(
    given: Iterable[GivenCommand], team: CommandedTeam
) -> tuple[list[GivenCommand], list[ReplyFault]]:
    """Return the first command of each of the dispatcher's agents, and the faults of all other commands
    except repetitions."""
    first: dict[int, GivenCommand] = {}
    faults: dict[str, ReplyFault] = {}
    for seat, command in given:
        fault = _not_followed(seat, team)
        if not fault and first.setdefault(seat, (seat, command)) != (seat, command):
            text = "was commanded twice; agent ids cannot be the same, so only the first command counts"
            text = f"{agent_name(seat)} {text} ({spell_command(*first[seat])})."
            fault = ReplyFault("duplicate_agent", text, seat)
        if fault:
            faults.setdefault(fault.text, fault)
    return list(first.values()), list(faults.values())


def _not_followed(seat: int, team: CommandedTeam) -> ReplyFault | None:
    """Return the fault of a command for an agent that the dispatcher does not command now; None if it
    does."""
    name = agent_name(seat)
    if seat >= team.agents:
        return ReplyFault("unknown_agent", f"There is no {name}; command {team.list_mine()}.", seat)
    if seat not in team.mine:
        who = "is a person and decides alone" if seat in team.people else "is commanded by somebody else"
        return ReplyFault("not_yours", f"{name} {who}: your command for it was ignored.", seat)
    if seat in team.settled:
        text = f"{name} was not to be commanded in that step: your command for it was ignored."
        return ReplyFault("not_asked_now", text, seat)
    return None


def _left_out(
    team: CommandedTeam, commands: Iterable[GivenCommand], unclear: UnclearCommands
) -> list[ReplyFault]:
    """Return faults for the dispatcher's agents without a command, or with several in different passages."""
    commanded = {seat for seat, _ in commands}
    if not commanded and not unclear:
        text = f"No command was found in your reply: give one command each to {team.list_asked()}."
        return [ReplyFault(NO_COMMAND, text)]
    left = [seat for seat in team.asked if seat not in commanded]
    words = "{} got no command and did nothing; give noop if that is meant."
    return [
        _unclear(seat, unclear[seat])
        if seat in unclear
        else ReplyFault(LEFT_OUT, words.format(agent_name(seat)), seat)
        for seat in left
    ]


def _unclear(seat: int, ways: Sequence[Command]) -> ReplyFault:
    said = " and ".join(spell_command(seat, command) for command in ways)
    text = (
        f"{agent_name(seat)} did nothing, because different commands for it stood in several places of your "
        f"reply ({said}); list one command for each agent, once."
    )
    return ReplyFault(UNCLEAR, text, seat)


def feedback_sentences(moment: KitchenMoment, remembered: Sequence[str]) -> list[str]:
    """Return the feedback for the model before this step; empty if there is none.

    Feedback is the faults of the last reply (`remembered`), events of the kitchen, and advice on current
    obstacles.
    """
    lines = [*remembered, *_late(moment), *_refused(moment), *_news(moment.events), *_advice(moment)]
    return list(dict.fromkeys(lines))


def _late(moment: KitchenMoment) -> Iterator[str]:
    """Yield sentences about late replies, which were not followed because the kitchen had changed."""
    for late in moment.late:
        given = ", ".join(spell_command(*each) for each in late.commands.items())
        said = f" ({given})" if given else ""
        yield f"Your reply for step {late.step} came too late and was not followed{said}: see the state now."


def _refused(moment: KitchenMoment) -> Iterator[str]:
    """Yield sentences about commands of the dispatcher's agents that passed the check but were refused in the
    game."""
    scene = SimulatedKitchen(moment.brief, moment.observation)
    for event in moment.events:
        if event.kind == "refused" and event.seat in moment.team.mine:
            command = tuple(str(part) for part in event.data["command"])
            seat, place = int(event.seat or 0), scene.place(command)
            yield refusal_fault(seat, command, event.data["reasons"], scene.agent(seat), place).text


def _news(events: Sequence[Event]) -> Iterator[str]:
    for event in events:
        if event.kind in SENTENCES["news"]:
            yield SENTENCES["news"][event.kind].format(dish=event.data.get("dish", ""))


def _advice(moment: KitchenMoment) -> Iterator[str]:
    """Yield advice to throw away useless items, which otherwise stay in the hands."""
    storage = next(id for id, kind in moment.brief["locations"].items() if kind == "storage")
    for seat in moment.team.mine:
        agent = moment.observation["agents"][seat]
        if agent["holds"] and not is_useful_item(agent["holds"], moment.brief):
            verb = "put" if agent["at"] == storage else "goto"
            yield (
                f"{agent_name(seat)} holds {agent['holds']}, which no recipe here needs: bring it to "
                f"{storage} and put it there; next {spell_command(seat, (verb, storage))}."
            )
