"""Each agent's command is tried one step ahead, in order; what cannot be done becomes noop, with words why.

Paper, section 4.1 (Action Validation). A refused command changes nothing for the others: the commands that
are kept are exactly those that the rules carry out when they run in this order after what was commanded
before. A second command for one agent, and one for an agent that is not ours, is left out (section 4.2).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from kitchen.contract.reading import LEFT_OUT, NO_COMMAND, UNCLEAR, UNREAD
from kitchen.contract.world import Command
from kitchen.worlds.cuisine.dispatcher.lookahead import Scene
from kitchen.worlds.cuisine.dispatcher.moment import Given, Moment, Team, agent_name
from kitchen.worlds.cuisine.dispatcher.spelling import spell
from kitchen.worlds.cuisine.dispatcher.wording import Fault, refusal

NOOP = ("noop",)
Unclear = Mapping[int, Sequence[Command]]
"""What several passages of an answer say for one agent, by seat."""
NOT_UNCLEAR: Unclear = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is left of a list of commands."""

    commands: tuple[Given, ...]
    """In the order in which they came, each agent once; unusable ones are noop."""
    faults: tuple[Fault, ...]

    @property
    def unread(self) -> bool:
        """For some agent no command could be read."""
        return any(fault.code in UNREAD for fault in self.faults)

    @property
    def kept(self) -> tuple[Given, ...]:
        """Without those that were refused."""
        refused = {fault.seat for fault in self.faults if fault.command}
        return tuple(each for each in self.commands if each[0] not in refused)


def validate(moment: Moment, given: Sequence[Given], unclear: Unclear = NOT_UNCLEAR) -> Verdict:
    """Look one step ahead. Everything that ran before ours this step is taken into account."""
    ours, faults = sort_out(given, moment.team)
    scene = Scene(moment.brief, moment.observation)
    for seat, command in moment.commanded.items():
        scene.run(seat, command)
    commands: list[Given] = []
    for seat, command in ours:
        agent, place = scene.agent(seat), scene.place(command)
        reasons = scene.run(seat, command)
        if reasons:
            faults.append(refusal(seat, command, reasons, agent, place))
        commands.append((seat, NOOP if reasons else command))
    faults += _left_out(moment.team, commands, unclear)
    return Verdict(tuple(commands), tuple(faults))


def sort_out(given: Iterable[Given], team: Team) -> tuple[list[Given], list[Fault]]:
    """The first command of each of our agents, and what was wrong with the rest. Saying the same twice is
    not wrong."""
    first: dict[int, Given] = {}
    faults: dict[str, Fault] = {}
    for seat, command in given:
        if seat not in team.mine:
            fault = _not_ours(seat, team)
            faults.setdefault(fault.text, fault)
        elif seat in team.settled:
            fault = _not_now(seat)
            faults.setdefault(fault.text, fault)
        elif first.setdefault(seat, (seat, command)) != (seat, command):
            fault = _twice(seat, first[seat])
            faults.setdefault(fault.text, fault)
    return list(first.values()), list(faults.values())


def _twice(seat: int, first: Given) -> Fault:
    text = (
        f"{agent_name(seat)} was commanded twice; agent ids cannot be the same, "
        f"so only the first command counts ({spell(*first)})."
    )
    return Fault("duplicate_agent", text, seat)


def _not_now(seat: int) -> Fault:
    text = f"{agent_name(seat)} was not to be commanded in that step: your command for it was ignored."
    return Fault("not_asked_now", text, seat)


def _not_ours(seat: int, team: Team) -> Fault:
    if seat >= team.agents:
        return Fault("unknown_agent", f"There is no {agent_name(seat)}; command {team.list_mine()}.", seat)
    who = "is a person and decides alone" if seat in team.people else "is commanded by somebody else"
    return Fault("not_yours", f"{agent_name(seat)} {who}: your command for it was ignored.", seat)


def _left_out(team: Team, commands: Iterable[Given], unclear: Unclear) -> list[Fault]:
    """Agents of ours that were given no command, or several in several places: they do nothing."""
    told = {seat for seat, _ in commands}
    if not told and not unclear:
        text = f"No command was found in your reply: give one command each to {team.list_asked()}."
        return [Fault(NO_COMMAND, text)]
    left = [seat for seat in team.asked if seat not in told]
    return [_unclear(seat, unclear[seat]) if seat in unclear else _without(seat) for seat in left]


def _without(seat: int) -> Fault:
    words = "{} got no command and did nothing; give noop if that is meant."
    return Fault(LEFT_OUT, words.format(agent_name(seat)), seat)


def _unclear(seat: int, ways: Sequence[Command]) -> Fault:
    said = " and ".join(spell(seat, command) for command in ways)
    text = (
        f"{agent_name(seat)} did nothing, because different commands for it stood in several places of your "
        f"reply ({said}); list one command for each agent, once."
    )
    return Fault(UNCLEAR, text, seat)
