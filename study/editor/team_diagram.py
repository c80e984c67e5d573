"""Draw a diagram of who plays in a condition and who may command or write to whom, and describe it in
words.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import cos, hypot, pi, sin

from kitchen.contract.organisation import Member, Organisation
from kitchen.contract.world import WorldError
from kitchen.forms.setting_fields import error_without_name, readable_name
from kitchen.play.episode.create_episode import MindPlan, members_of_plans
from kitchen.registry.agent_registry import get_agent
from kitchen.registry.dotted_paths import UnknownNameError
from kitchen.registry.world_registry import get_page
from kitchen.words.english_text import and_list
from study.design.condition_plan import mind_plans, planned_organisation, seats_of
from study.design.models import Condition
from study.editor.form_fields import LEAD

WIDTH, HEIGHT, RADIUS = 400, 276, 22
ABOVE, BELOW = -31, 40
"""Where the words are that belong to a member, from its middle: on the side where no line comes from."""


@dataclass(frozen=True, slots=True)
class Node:
    """A member: where it is drawn, its number, who it is, and how far below its middle that is written."""

    x: int
    y: int
    number: str
    who: str
    aside: int


@dataclass(frozen=True, slots=True)
class Edge:
    """A line from one member to another, between the rims of both."""

    x1: int
    y1: int
    x2: int
    y2: int
    commands: bool
    both: bool


@dataclass(frozen=True, slots=True)
class Player:
    """One player under all the names that it has: here, in the world, and in the data."""

    number: str
    who: str
    called: str
    """As participants read it; empty for who has no place in the game."""
    seat: int


@dataclass(frozen=True, slots=True)
class Picture:
    """All that is drawn, sentences that say the same, and which player is which."""

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    sentences: tuple[str, ...]
    players: tuple[Player, ...]
    width: int = WIDTH
    height: int = HEIGHT
    radius: int = RADIUS


def team_picture(condition: Condition) -> Picture | None:
    """That of a condition; None where the participant plays alone. WorldError or UnknownNameError where it
    cannot be played."""
    minds = mind_plans(condition)
    organisation = planned_organisation(condition) or _silent(minds, seats_of(condition))
    if len(organisation.members) < 2:
        return None
    kinds = {mind.seats[0]: readable_name(mind.kind) for mind in minds}
    models = {mind.seats[0]: _model(mind) for mind in minds}
    nodes = {
        member.number: _node(place, member, kinds, len(organisation.members))
        for place, member in enumerate(organisation.members)
    }
    return Picture(
        tuple(nodes.values()),
        _edges(organisation, nodes),
        _sentences(organisation, kinds),
        _players(organisation, kinds, models, condition.world),
    )


def picture_or_why(condition: Condition) -> tuple[Picture | None, str]:
    """The picture, or in words why there is none; neither where the participant plays alone."""
    try:
        return team_picture(condition), ""
    except (WorldError, UnknownNameError) as error:
        return None, error_without_name(str(error.args[0]))


def _silent(minds: list[MindPlan], seats: int) -> Organisation:
    """That of a condition that says nothing of it."""
    return Organisation("central", members_of_plans(minds, seats=seats))


def _model(mind: MindPlan) -> str:
    """The language model that it asks; empty if it asks none."""
    kind = get_agent(mind.kind)
    declared = {setting.name: setting.default for setting in kind.settings}
    return str(mind.settings.get(kind.names_model, declared[kind.names_model])) if kind.names_model else ""


def _players(
    organisation: Organisation, kinds: dict[int, str], models: dict[int, str], world: str
) -> tuple[Player, ...]:
    """By their seats, who has none at the end."""
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
    """Around an ellipse, the first on top."""
    angle = 2 * pi * place / many - pi / 2
    x, y = WIDTH / 2 + 140 * cos(angle), HEIGHT / 2 + 84 * sin(angle)
    aside = ABOVE if round(y) < HEIGHT / 2 else BELOW
    return Node(round(x), round(y), _numbers(member), _who(member, kinds), aside)


def _numbers(member: Member) -> str:
    """Of players; who has no place in the game has a star."""
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
            edges.append(_edge(nodes[one], nodes[other], commands=commands, both=both))
    return tuple(edges)


def _edge(one: Node, other: Node, *, commands: bool, both: bool) -> Edge:
    length = hypot(other.x - one.x, other.y - one.y) or 1.0
    dx, dy = (other.x - one.x) / length, (other.y - one.y) / length
    aside = 0 if commands else 6  # beside a command along the same way
    rim = RADIUS + 5
    return Edge(
        round(one.x + dx * rim - dy * aside),
        round(one.y + dy * rim + dx * aside),
        round(other.x - dx * rim - dy * aside),
        round(other.y - dy * rim + dx * aside),
        commands,
        both,
    )


def _sentences(organisation: Organisation, kinds: dict[int, str]) -> tuple[str, ...]:
    alone = sum(member.is_person for member in organisation.members) == 1
    names = {
        member.number: "the participant" + ("" if member.seats else ", who has no place in the game,")
        if member.is_person and alone
        else f"{_who(member, kinds)} (player {_numbers(member)})"
        for member in organisation.members
    }
    said = []
    for member in organisation.members:
        for verb, pairs in (("command", organisation.commands), ("write to", organisation.writes)):
            others = [names[other] for other in organisation.numbers if (member.number, other) in pairs]
            if others:
                said.append(f"{names[member.number]} may {verb} {and_list(others)}.")
    return tuple(one[:1].upper() + one[1:] for one in said) or ("Nobody may write to anybody.",)
