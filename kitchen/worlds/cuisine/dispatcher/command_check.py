"""Check a language model's commands by simulating them, and describe each fault as a sentence for the model.

The commands come from the dispatcher, an agent that commands several robots. A command that cannot be carried
out becomes `noop` (do nothing), and the fault gives the reason and advice. A second command for the same
robot is ignored. So is a command for a robot that the dispatcher does not control. Source: MindAgent, section
4.1 (Action Validation, Feedback).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from kitchen.contract.decision_notes import LEFT_OUT, NO_COMMAND, UNCLEAR, UNREAD_CODES
from kitchen.contract.world import Command, Json
from kitchen.words.english_text import and_list, counted_noun
from kitchen.worlds.cuisine.command_rules import AgentState, PlaceState
from kitchen.worlds.cuisine.dispatcher.command_extraction import GivenCommand
from kitchen.worlds.cuisine.dispatcher.settings import SENTENCES
from kitchen.worlds.cuisine.display_text import telling_reasons
from kitchen.worlds.cuisine.simulate_commands import SimulatedKitchen


def agent_name(seat: int) -> str:
    """Return the name of a seat's agent in prompts: `agent1` for seat 1."""
    return f"agent{seat}"


def spell_command(seat: int, command: Command) -> str:
    """Return a command as text, such as `get_agent1_storage0_tuna`."""
    return "_".join([command[0] if command else "", agent_name(seat), *command[1:]])


@dataclass(frozen=True, slots=True)
class CommandedTeam:
    """The number of agents in the kitchen, the seats that the dispatcher commands, and the seats that
    people command."""

    agents: int
    mine: tuple[int, ...]
    """Seats that the dispatcher commands."""
    people: tuple[int, ...] = ()
    settled: tuple[int, ...] = ()
    """Seats of `mine` that already have a command in this step."""

    @property
    def others(self) -> tuple[int, ...]:
        """Return the seats that neither the dispatcher nor a person commands."""
        return tuple(seat for seat in range(self.agents) if seat not in (*self.mine, *self.people))

    @property
    def asked(self) -> tuple[int, ...]:
        """Return the dispatcher's seats that have no command in this step yet."""
        return tuple(seat for seat in self.mine if seat not in self.settled)

    def named(self, seat: int) -> str:
        """Return the agent's name, such as `agent1`. If the dispatcher does not command this seat, a note is
        added: `agent0 (a person)` or `agent0 (not yours)`."""
        mark = " (a person)" if seat in self.people else " (not yours)" if seat in self.others else ""
        return agent_name(seat) + mark

    def list_mine(self) -> str:
        """Return the names of all agents that the dispatcher commands, such as `agent1, agent2 and
        agent3`."""
        return and_list([agent_name(seat) for seat in self.mine])

    def list_asked(self) -> str:
        """Return the names of the dispatcher's agents that need a command in this step, such as `agent1
        and agent2`."""
        return and_list([agent_name(seat) for seat in self.asked])


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
    """One fault in a model's reply: its code for the log, and a sentence for the model."""

    code: str
    text: str
    seat: int | None = None
    command: Command = ()

    def to_json(self) -> dict[str, Json]:
        """Return the fault as JSON for the log."""
        return {"code": self.code, "seat": self.seat, "command": list(self.command), "text": self.text}


def refusal_fault(
    seat: int, command: Command, reasons: Iterable[str], agent: AgentState | None, place: PlaceState | None
) -> ReplyFault:
    """Return the fault of a refused command, with a sentence that explains the reasons to the model.

    `agent` and `place` are the states at the time of the refusal; None if there is no such agent or place.
    """
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
        """Return True if at least one agent has no readable command."""
        return any(fault.code in UNREAD_CODES for fault in self.faults)

    @property
    def accepted(self) -> tuple[GivenCommand, ...]:
        """Return the commands that were not refused."""
        refused = {fault.seat for fault in self.faults if fault.command}
        return tuple(each for each in self.commands if each[0] not in refused)


def check_commands(
    scene: SimulatedKitchen,
    team: CommandedTeam,
    given: Sequence[GivenCommand],
    unclear: UnclearCommands = NOTHING_UNCLEAR,
) -> CheckedCommands:
    """Run the commands in the simulated kitchen `scene`. Return the commands, with NOOP in place of refused
    ones, and all faults.

    An agent without a command is a fault, too. `unclear` has the seats whose commands contradict each other.
    """
    ours, faults = first_commands(given, team)
    commands: list[GivenCommand] = []
    for seat, command in ours:
        agent, place = scene.agent(seat), scene.place(command)
        reasons = scene.run(seat, command)
        if reasons:
            faults.append(refusal_fault(seat, command, reasons, agent, place))
        commands.append((seat, NOOP if reasons else command))
    faults += _left_out(team, commands, unclear)
    return CheckedCommands(tuple(commands), tuple(faults))


def first_commands(
    given: Iterable[GivenCommand], team: CommandedTeam
) -> tuple[list[GivenCommand], list[ReplyFault]]:
    """Return the first command for each agent of the dispatcher, and the faults of the other commands.

    A second command for the same agent is a fault if it differs from the first. So is a command for an
    agent that the dispatcher does not command now.
    """
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
    """Return a fault if the dispatcher does not command this agent now: it does not exist, is not the
    dispatcher's, or is not asked. Return None if the command is allowed."""
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
    """Return a fault for each of the dispatcher's agents without a command. An agent that got different
    commands in different parts of the reply counts, too."""
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
    if len(ways) == 1:
        back = f"because your reply took its command back ({said}); give one command."
        text = f"{agent_name(seat)} did nothing, {back}"
        return ReplyFault(UNCLEAR, text, seat)
    text = (
        f"{agent_name(seat)} did nothing, because different commands for it stood in several places of your "
        f"reply ({said}); list one command for each agent, once."
    )
    return ReplyFault(UNCLEAR, text, seat)
