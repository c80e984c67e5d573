"""Draw a diagram of who plays in a condition and who may command or write to whom.

The module also describes the diagram as text, for readers who cannot see it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import cos, hypot, pi, sin

from kitchen.contract.organisation import SAY, Member, Organisation
from kitchen.contract.world_errors import WorldError
from kitchen.forms.setting_fields import error_without_name, readable_name
from kitchen.play.episode.create_episode import MindPlan, members_of_plans
from kitchen.registry.agent_registry import get_agent
from kitchen.registry.dotted_paths import UnknownNameError
from kitchen.registry.world_registry import get_page
from kitchen.words.english_text import and_list
from study.design.condition_seats import mind_plans, planned_organisation, seats_of
from study.design.models import Condition
from study.editor.form_fields import LEAD

WIDTH, HEIGHT, RADIUS = 400, 276, 22
ABOVE, BELOW = -31, 40
"""The vertical offset of a member's text from its centre. It is on the side without lines."""


@dataclass(frozen=True, slots=True)
class Node:
    """A team member in the diagram: its position, its number, its name, and by how much the name is moved
    up or down."""

    x: int
    y: int
    number: str
    who: str
    aside: int


@dataclass(frozen=True, slots=True)
class Edge:
    """A line from one team member to another, from circle to circle."""

    x1: int
    y1: int
    x2: int
    y2: int
    commands: bool
    both: bool


@dataclass(frozen=True, slots=True)
class Player:
    """One player with its names: the number in the diagram, the name in the world, and the seat in the
    data."""

    number: str
    who: str
    called: str
    """The name that participants read. It is empty for a member without a seat."""
    seat: int


@dataclass(frozen=True, slots=True)
class Picture:
    """The diagram, the sentences that describe it, and the table of players."""

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    sentences: tuple[str, ...]
    views: tuple[str, ...]
    """A sentence for each person: what this person sees, and with whom the person works."""
    players: tuple[Player, ...]
    width: int = WIDTH
    height: int = HEIGHT
    radius: int = RADIUS


def team_picture(condition: Condition) -> Picture | None:
    """Return the diagram of a condition, or None if the participant plays alone.

    Raises WorldError or UnknownNameError if the condition cannot be played.
    """
    minds = mind_plans(condition)
    organisation = planned_organisation(condition) or _silent(minds, seats_of(condition))
    if len(organisation.members) < 2:
        return None
    lead = seats_of(condition)
    kinds = {min(mind.seats, default=lead): readable_name(mind.kind) for mind in minds}
    models = {min(mind.seats, default=lead): _model(mind) for mind in minds}
    nodes = {
        member.number: _node(place, member, kinds, len(organisation.members))
        for place, member in enumerate(organisation.members)
    }
    return Picture(
        tuple(nodes.values()),
        _edges(organisation, nodes),
        _sentences(organisation, kinds),
        _views(organisation, kinds),
        _players(organisation, kinds, models, condition.world),
    )


def picture_or_why(condition: Condition) -> tuple[Picture | None, str]:
    """Return (picture, ""), or (None, the reason why there is no picture).

    If the participant plays alone, return (None, "").
    """
    try:
        return team_picture(condition), ""
    except (WorldError, UnknownNameError) as error:
        return None, error_without_name(str(error.args[0]))


def _silent(minds: list[MindPlan], seats: int) -> Organisation:
    """Return the organisation to draw for a condition that defines no organisation."""
    return Organisation("central", members_of_plans(minds, seats=seats))


def _model(mind: MindPlan) -> str:
    """Return the language model that a co-player uses, or an empty string."""
    kind = get_agent(mind.kind)
    declared = {setting.name: setting.default for setting in kind.settings}
    return str(mind.settings.get(kind.names_model, declared[kind.names_model])) if kind.names_model else ""


def _players(
    organisation: Organisation, kinds: dict[int, str], models: dict[int, str], world: str
) -> tuple[Player, ...]:
    """Return the members of the diagram in the order of their seats. A member without a seat comes last."""
    page = get_page(world)
    rows = [
        Player(
            str(seat + 1) if member.seats else LEAD,
            " · ".join(filter(None, (_who(member, kinds), models.get(member.number, "")))),
            page.named(seat + 1) if member.seats else "",
            seat,
        )
        for member in organisation.members
        for seat in member.seats or (member.number,)
    ]
    return tuple(sorted(rows, key=lambda row: row.seat))


def _node(place: int, member: Member, kinds: dict[int, str], many: int) -> Node:
    """Return the node of a member in the diagram. `place` is its index among `many` nodes, which lie on an
    ellipse; the first one is on top."""
    angle = 2 * pi * place / many - pi / 2
    x, y = WIDTH / 2 + 140 * cos(angle), HEIGHT / 2 + 84 * sin(angle)
    aside = ABOVE if round(y) < HEIGHT / 2 else BELOW
    return Node(round(x), round(y), _numbers(member), _who(member, kinds), aside)


def _numbers(member: Member) -> str:
    """Return a member's player numbers as text. For a member without a seat in the world, return a star."""
    return ", ".join(str(seat + 1) for seat in member.seats) or LEAD


def _who(member: Member, kinds: dict[int, str]) -> str:
    return "Participant" if member.is_person else kinds[member.number]


def _edges(organisation: Organisation, nodes: dict[int, Node]) -> tuple[Edge, ...]:
    drawn = [(pair, True) for pair in sorted(organisation.commands)]
    drawn += [(pair, False) for pair in sorted(organisation.writes - organisation.commands)]
    edges = []
    for (one, other), commands in drawn:
        pairs = organisation.commands if commands else organisation.writes
        both = (other, one) in pairs
        if not (both and one > other and commands == ((other, one) in organisation.commands)):
            beside = not commands and bool({(one, other), (other, one)} & organisation.commands)
            edges.append(_edge(nodes[one], nodes[other], commands=commands, both=both, beside=beside))
    return tuple(edges)


def _edge(one: Node, other: Node, *, commands: bool, both: bool, beside: bool) -> Edge:
    """Return the line between two members. A line beside a line for commands is moved outwards, so that their
    arrowheads stay apart."""
    length = hypot(other.x - one.x, other.y - one.y) or 1.0
    dx, dy = (other.x - one.x) / length, (other.y - one.y) / length
    outwards = (other.x + one.x - WIDTH) * -dy + (other.y + one.y - HEIGHT) * dx >= 0
    aside = (13 if outwards else -13) if beside else 0
    rim = RADIUS + 5
    return Edge(
        round(one.x + dx * rim - dy * aside),
        round(one.y + dy * rim + dx * aside),
        round(other.x - dx * rim - dy * aside),
        round(other.y - dy * rim + dx * aside),
        commands,
        both,
    )


def _names(organisation: Organisation, kinds: dict[int, str]) -> dict[int, str]:
    """Return what sentences call each member, by member number."""
    alone = sum(member.is_person for member in organisation.members) == 1
    return {
        member.number: "the participant" + ("" if member.seats else ", who controls no player,")
        if member.is_person and alone
        else f"{_who(member, kinds)} (player {_numbers(member)})"
        for member in organisation.members
    }


def _views(organisation: Organisation, kinds: dict[int, str]) -> tuple[str, ...]:
    """Return for each person one sentence: what the person sees, and with whom the person exchanges jobs and
    messages."""
    names, said = _names(organisation, kinds), []
    for person in (member for member in organisation.members if member.is_person):
        seats = organisation.seats_seen(person.number)
        seen = f"sees what {_players_called(seats)} see{'s' * (len(seats) == 1)}"
        parts = [seen if seats else "sees only the goal, the time and what becomes of the jobs"]
        for verb, others in (
            ("gives jobs to", organisation.commanded_by(person.number)),
            ("gets jobs from", organisation.commanders_of(person.number)),
            ("can write to", organisation.to(person.number, SAY)),
        ):
            members = [organisation.member(other) for other in others]
            reached = [seat for member in members for seat in member.seats]
            leaders = [f"the leader ({LEAD})" for member in members if not member.seats]
            called = and_list([*leaders, *([_players_called(reached)] if reached else [])])
            parts += [f"{verb} {called}"] if others else []
        said.append(
            f"{names[person.number]} {', '.join(parts[:-1])}{', and ' if parts[1:] else ''}{parts[-1]}."
        )
    return tuple(one[:1].upper() + one[1:] for one in said)


def _players_called(seats: Sequence[int]) -> str:
    """Return the players of these seats in words, such as `players 1 and 2`."""
    return f"player{'s' * (len(seats) > 1)} {and_list([str(seat + 1) for seat in sorted(seats)])}"


def _sentences(organisation: Organisation, kinds: dict[int, str]) -> tuple[str, ...]:
    names, said = _names(organisation, kinds), []
    for member in organisation.members:
        for verb, pairs in (("command", organisation.commands), ("write to", organisation.writes)):
            others = [names[other] for other in organisation.numbers if (member.number, other) in pairs]
            if others:
                said.append(f"{names[member.number]} may {verb} {and_list(others).removesuffix(',')}.")
    return tuple(one[:1].upper() + one[1:] for one in said) or ("Nobody may write to anybody.",)
