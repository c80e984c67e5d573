"""Define `Organisation`: the members of an episode, and who may command, message and observe whom.

A *member* is a person or an agent. It commands zero, one or several seats, which are players' places in the
world. A member's number is that of its first seat. Members without a seat are numbered after the last seat.

The kinds of organisation `chain`, `graph`, `tree` and `solo` come from S-Agents (arXiv 2402.04578, section
3). The kind `central` comes from MindAgent, and `pairwise` from MINDcraft. A command to another member is
sent as a message, and its receiver decides whether to obey.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, permutations
from typing import Self

from kitchen.contract.declared_settings import clean_settings
from kitchen.contract.organisation_settings import (
    ALL,
    CYCLE_HOPS,
    CYCLE_LIMIT,
    ORGANISATION_SETTINGS,
    PAIR,
    PRIVATE,
    ROUNDS,
    TAKES_STEP,
    TIME_SETTINGS,
    UNASKED,
    WITHIN,
    applicable_settings,
)
from kitchen.contract.team_schedules import (
    FREE,
    IN_ROUNDS,
    REAL,
    RECHECK,
    SCHEDULE,
    TOGETHER,
)
from kitchen.contract.world import Json
from kitchen.contract.world_errors import SettingsError

Pair = tuple[int, int]
"""A pair of member numbers: from, to."""

SAY, ASK, ANSWER, REQUEST, END = "say", "ask", "answer", "request", "end"
INFORM, WITHDRAW = "inform", "withdraw"
ACCEPT, DECLINE, REPORT = "accept", "decline", "report"
SYSTEM = "system"
TALK_KINDS = frozenset({SAY, ASK, ANSWER, REQUEST, END})
"""Messages to members that the sender may write to."""
DOWNWARD_KINDS = frozenset({INFORM, WITHDRAW})
"""Messages to members that the sender may command: giving and withdrawing a job."""
UPWARD_KINDS = frozenset({ACCEPT, DECLINE, REPORT})
"""Messages to members that may command the sender: what becomes of a job."""
MESSAGE_KINDS = TALK_KINDS | DOWNWARD_KINDS | UPWARD_KINDS | {SYSTEM}
"""All kinds of message; only the platform sends `system`."""


@dataclass(frozen=True, slots=True)
class Member:
    """A person or agent in an episode. The kind of agent is not included."""

    number: int
    seats: tuple[int, ...]
    is_person: bool
    name: str = ""
    """The member's name, where it is not called by its seats. A member without a seat needs one."""


@dataclass(frozen=True, slots=True)
class Organisation:
    """The members of one episode, and what they may do with one another. Create it with
    `make_organisation`, which checks it."""

    kind: str
    members: tuple[Member, ...]
    commands: frozenset[Pair] = frozenset()
    """(leader, worker) pairs: who may command whom."""
    writes: frozenset[Pair] = frozenset()
    """(sender, addressee) pairs: who may write to whom."""
    sees: str = PRIVATE
    messages_a_step: int = 3
    spoken: bool = False
    """True if pages offer to turn speech into text."""
    within: bool = False
    """True if members talk within the step, by the rules of `kitchen.contract.dialogue_rounds`."""
    rounds: int = 3
    """How often each agent speaks within a step, where agents talk there."""
    silence: int = 10
    """Steps without a word after which a conversation is over."""
    blocked: tuple[str, ...] = ()
    """Words that are masked in messages (`kitchen.contract.team_messages`)."""
    schedule: str = TOGETHER
    """Who waits for whom: one of `SCHEDULES`."""
    think_steps: int | str = 0
    """Steps between the question to a member and the effect of its decision, or `REAL`; 0 in `together`."""
    stale: str = RECHECK
    """What happens to commands that are no longer legal when a decision takes effect."""
    unasked: int | str = 0
    """Steps between two messages of an agent that nobody asked for; 0 for no limit, `NEVER` for none."""
    takes_step: bool = False
    """True if a message takes its sender's step, where the sender is an agent."""
    cycle_limit: int = CYCLE_HOPS
    """How often a job is given before it may not come back to a member that had it."""
    talk_language: str = ""
    """Code of the language in which pages show what agents write to people; empty for the reader's."""
    readers_language: str = ""
    """Code of the language of people's pages when the episode began; empty if it is English or unknown."""

    @property
    def one_partner(self) -> bool:
        """Return True if each member may talk with only one other at a time
        (`kitchen.contract.team_messages`)."""
        return self.kind == "pairwise"

    @property
    def delays_answers(self) -> bool:
        """Return whether agents delay their answers while somebody is busy
        (`kitchen.contract.answer_delays_and_reminders`)."""
        return self.one_partner and self.schedule == FREE

    @property
    def talks_within(self) -> bool:
        """Return True if agents answer messages within the step, before anybody chooses a command
        (`kitchen.play.coplayers.answer_messages`)."""
        return self.kind == PAIR or self.within

    @property
    def takes_turns(self) -> bool:
        """Return True if two members speak and choose in turns within the step
        (`kitchen.play.turn.speaking_order`). The first member opens."""
        return self.kind == PAIR and self.within and all(member.seats for member in self.members)

    @property
    def is_timed(self) -> bool:
        """Return whether members are asked at different times. Thinking then takes steps."""
        return self.schedule != TOGETHER

    @property
    def asks_leaders(self) -> bool:
        """Return whether steps wait for people who lead without a seat. In other schedules, none does."""
        return self.schedule == IN_ROUNDS

    @property
    def thinks_in_real_time(self) -> bool:
        """Return whether decisions take effect as soon as they have arrived, in the next step that opens."""
        return self.think_steps == REAL

    @property
    def least_think_steps(self) -> int:
        """Return the minimum number of steps from asking a member for a plan to the effect of its
        decision."""
        return 1 if self.think_steps == REAL else int(self.think_steps)

    @property
    def is_silent(self) -> bool:
        """Return True if no member may write to another."""
        return not self.commands and not self.writes

    @property
    def people_are_written_to(self) -> bool:
        """Return True if some member may write to a person."""
        people = {member.number for member in self.members if member.is_person}
        return any(addressee in people for _, addressee in self.commands | self.writes)

    @property
    def clock_refusal(self) -> str:
        """Return why members cannot write to each other like this while a clock takes the steps. Empty if
        they can: everybody writes at any time, and nobody waits for an answer."""
        if self.is_silent:
            return ""
        if self.commands:
            return "nobody can command others while a clock takes the steps"
        if self.takes_step:
            return "a message cannot take a step while a clock takes the steps"
        if self.within or self.one_partner:
            return "members write at any time while a clock takes the steps, not in turns or one to one"
        return ""

    @property
    def numbers(self) -> tuple[int, ...]:
        """Return the numbers of all members, in order."""
        return tuple(member.number for member in self.members)

    def member(self, number: int) -> Member:
        """Return the member with this number. Raises KeyError if there is none."""
        return {member.number: member for member in self.members}[number]

    def holder(self, seat: int) -> Member:
        """Return the member that commands this seat. `seat` can also be the number of a leader without a
        seat, which comes after the last seat. Raises KeyError if there is no such member."""
        held = {number: member for member in self.members for number in member.seats or (member.number,)}
        return held[seat]

    def to(self, number: int, kind: str) -> tuple[int, ...]:
        """Return the numbers of all members to whom the member `number` may send messages of this kind."""
        return tuple(other for other in self.numbers if (number, other) in self._pairs(kind))

    def _pairs(self, kind: str) -> Collection[Pair]:
        if kind in DOWNWARD_KINDS:
            return self.commands
        if kind in UPWARD_KINDS:
            return {(worker, leader) for leader, worker in self.commands}
        return self.writes if kind in TALK_KINDS else ()

    def commanded_by(self, number: int) -> tuple[int, ...]:
        """Return the numbers of the members that this member may command."""
        return self.to(number, INFORM)

    def commanders_of(self, number: int) -> tuple[int, ...]:
        """Return the numbers of the members that may command this member."""
        return self.to(number, REPORT)

    def seats_seen(self, number: int) -> tuple[int, ...]:
        """Return the seats whose observations this member receives: its own and, for a leader, those that the
        setting `sees` adds."""
        led = self.commanded_by(number)
        if not led or self.sees == PRIVATE:
            return self.member(number).seats
        seen = self.numbers if self.sees == ALL else (number, *led)
        return tuple(sorted(seat for other in seen for seat in self.member(other).seats))

    def to_json(self) -> dict[str, Json]:
        """Return the organisation as JSON, for storage with an episode."""
        return {
            "kind": self.kind,
            "members": [
                {"number": one.number, "seats": list(one.seats), "person": one.is_person, "name": one.name}
                for one in self.members
            ],
            "commands": [list(pair) for pair in sorted(self.commands)],
            "writes": [list(pair) for pair in sorted(self.writes)],
            "sees": self.sees,
            "messages_a_step": self.messages_a_step,
            "spoken": self.spoken,
            "rounds": self.rounds,
            "silence": self.silence,
            "blocked": list(self.blocked),
            **({WITHIN: True} if self.within else {}),
            **({name: getattr(self, name) for name in TIME_SETTINGS} if self.is_timed else {}),
            **({UNASKED: self.unasked} if self.unasked else {}),
            **({TAKES_STEP: True} if self.takes_step else {}),
            **({CYCLE_LIMIT: self.cycle_limit} if self.cycle_limit != CYCLE_HOPS else {}),
            **{name: value for name in _OF_LANGUAGE if (value := getattr(self, name))},
        }

    @classmethod
    def from_json(cls, stored: Mapping[str, Json]) -> Self:
        """Return the organisation that `to_json` wrote."""
        members = (
            Member(one["number"], tuple(one["seats"]), one["person"], one["name"])
            for one in stored["members"]
        )
        return cls(
            kind=stored["kind"],
            members=tuple(members),
            commands=frozenset((one, other) for one, other in stored["commands"]),
            writes=frozenset((one, other) for one, other in stored["writes"]),
            sees=stored["sees"],
            messages_a_step=stored["messages_a_step"],
            spoken=stored["spoken"],
            within=stored.get(WITHIN, False),
            rounds=stored.get("rounds", 3),
            silence=stored.get("silence", 10),
            blocked=tuple(stored.get("blocked", ())),
            **{
                name: stored[name]
                for name in (*TIME_SETTINGS, UNASKED, TAKES_STEP, CYCLE_LIMIT, *_OF_LANGUAGE)
                if name in stored
            },
        )


_OF_LANGUAGE = ("talk_language", "readers_language")
Settings = Mapping[str, Json]
DrawnPairs = tuple[Iterable[Pair], Iterable[Pair]]
"""The pairs (leader, worker) for commands, and the pairs (sender, addressee) for messages."""


def _beside_people(draft: Organisation, chosen: Settings) -> DrawnPairs:
    people = {member.number for member in draft.members if member.is_person}
    if not chosen["talk"]:
        return (), ()
    return (), [pair for pair in permutations(draft.numbers, 2) if people & set(pair)]


def _each(draft: Organisation, chosen: Settings) -> DrawnPairs:
    if any(len(member.seats) > 1 for member in draft.members):
        raise SettingsError("members: each seat has a member of its own")
    return _beside_people(draft, chosen)


def _solo(draft: Organisation, chosen: Settings) -> DrawnPairs:
    if len(draft.members) != 1:
        raise SettingsError(f"members: somebody who plays alone is one, not {len(draft.members)}")
    return (), ()


def _pair(draft: Organisation, chosen: Settings) -> DrawnPairs:
    if len(draft.members) != 2:
        raise SettingsError(f"members: a pair is two, not {len(draft.members)}")
    return (), permutations(draft.numbers, 2)


def _pairwise(draft: Organisation, chosen: Settings) -> DrawnPairs:
    if len(draft.members) < 2 or any(len(member.seats) > 1 for member in draft.members):
        raise SettingsError("members: they are two at least, each with a seat of its own")
    return (), permutations(draft.numbers, 2)


def _chain(draft: Organisation, chosen: Settings) -> DrawnPairs:
    if len(draft.members) < 2:
        raise SettingsError("members: a chain has two at least")
    down = list(pairwise(draft.numbers))
    return down, [*down, *((lower, upper) for upper, lower in down)]


def _graph(draft: Organisation, chosen: Settings) -> DrawnPairs:
    if len(draft.members) < 2:
        raise SettingsError("members: a graph has two at least")
    every = list(permutations(draft.numbers, 2))
    return every, every


def _tree(draft: Organisation, chosen: Settings) -> DrawnPairs:
    if len(draft.members) < 2:
        raise SettingsError("members: a team with a leader has two at least")
    root, leaves = draft.numbers[0], draft.numbers[1:]
    down = [(root, leaf) for leaf in leaves]
    among = permutations(leaves, 2) if chosen["leaves_talk"] else ()
    return down, [*down, *((leaf, root) for leaf in leaves), *among]


def _custom(draft: Organisation, chosen: Settings) -> DrawnPairs:
    for name, pairs in (("commands", draft.commands), ("writes", draft.writes)):
        for one, other in sorted(pairs):
            if one == other or not {one, other} <= set(draft.numbers):
                raise SettingsError(f"{name}: {one} to {other} does not lead from one member to another")
    return draft.commands, draft.writes


ORGANISATION_KINDS: Mapping[str, Callable[[Organisation, Settings], DrawnPairs]] = {
    "central": _beside_people,
    "chain": _chain,
    "custom": _custom,
    "each": _each,
    "graph": _graph,
    PAIR: _pair,
    "pairwise": _pairwise,
    "solo": _solo,
    "tree": _tree,
}
"""Every kind of organisation. The first member of a `tree` is its root, that of a `chain` its head."""

ORGANISATION_LABELS: Mapping[str, str] = {
    "central": "Co-players command the teammates; each commands one or several",
    "each": "Each teammate has its own co-player",
    "solo": "One member alone",
    PAIR: "Two who may write to each other",
    "pairwise": "Everybody may write to everybody, but only to one at a time",
    "chain": "A chain: each may command the next",
    "graph": "Everybody may command everybody",
    "tree": "A leader who may command all others",
    "custom": "As listed in the pairs below",
}
"""Labels of the kinds for researchers, in the order in which they are offered."""

_MESSAGES = "messages_a_step"


def make_organisation(
    kind: str,
    members: Sequence[Member],
    *,
    seats: int,
    settings: Mapping[str, Json] | None = None,
    commands: Sequence[Pair] = (),
    writes: Sequence[Pair] = (),
) -> Organisation:
    """Return an organisation of this kind with these members, in their order, for a world with `seats` seats.
    Unless the settings limit messages, a leader can give every worker a job in one step.

    `commands` and `writes` are (from, to) pairs, only for the kind `custom`. Raises SettingsError if
    members, settings or pairs do not fit.
    """
    if kind not in ORGANISATION_KINDS:
        raise SettingsError(f"organisation: {kind} is not one of {', '.join(ORGANISATION_KINDS)}")
    chosen = _settings(kind, settings or {})
    if kind != "custom" and (commands or writes):
        raise SettingsError(f"organisation: pairs are given for custom, not for {kind}")
    _check_members(members, seats)
    names = ["sees", "messages_a_step", "spoken", WITHIN, ROUNDS, "silence", UNASKED, TAKES_STEP]
    names.append(CYCLE_LIMIT)
    names += TIME_SETTINGS if chosen[SCHEDULE] != TOGETHER else ()
    fields = {name: chosen[name] for name in names}
    draft = Organisation(kind, tuple(members), frozenset(commands), frozenset(writes), **fields)
    down, across = map(frozenset, ORGANISATION_KINDS[kind](draft, chosen))
    if chosen[WITHIN] and not across:
        raise SettingsError(f"{WITHIN}: nobody may write to anybody")
    if chosen[WITHIN] and chosen[SCHEDULE] != TOGETHER:
        raise SettingsError(f"{SCHEDULE}: members who talk within the step choose {TOGETHER}")
    made = replace(draft, commands=down, writes=across)
    if _MESSAGES in (settings or {}):
        return made
    most_led = max(len(made.commanded_by(number)) for number in made.numbers)
    return replace(made, messages_a_step=max(made.messages_a_step, most_led))


def with_fixed_message_limit(made: Organisation, settings: Settings) -> Organisation:
    """Return the organisation with the limit of messages that `settings` name or imply for every member. A
    leader's number of workers does not raise it. Use this for designs that were frozen before it did."""
    return replace(made, messages_a_step=_settings(made.kind, settings)[_MESSAGES])


def _settings(kind: str, given: Mapping[str, Json]) -> dict[str, Json]:
    chosen = clean_settings(ORGANISATION_SETTINGS, given)
    meant = applicable_settings(kind, chosen)
    for setting in ORGANISATION_SETTINGS:
        if setting.name not in meant and chosen[setting.name] != setting.default:
            raise SettingsError(f"{setting.name}: it means nothing in {kind}")
    if _MESSAGES not in given:  # nobody is silenced before the last round
        chosen[_MESSAGES] = max(chosen[_MESSAGES], chosen[ROUNDS])
    return chosen


def _check_members(members: Sequence[Member], seats: int) -> None:
    """Check that every seat belongs to exactly one member, and that no two members have the same number.
    Raises SettingsError otherwise."""
    if not members:
        raise SettingsError("members: there is nobody")
    held = sorted(seat for member in members for seat in member.seats)
    if held != list(range(seats)):
        raise SettingsError(f"members: each of the seats 0 to {seats - 1} is to be held once, not {held}")
    without = [member for member in members if not member.seats]
    if sorted(member.number for member in without) != list(range(seats, seats + len(without))):
        raise SettingsError(f"members: those without a seat are numbered from {seats} on")
    for member in members:
        if member.seats and member.number != min(member.seats):
            raise SettingsError(f"members: {member.number} is not the first seat of {list(member.seats)}")
        if not member.seats and not member.name:
            raise SettingsError("members: somebody without a seat needs a name")
