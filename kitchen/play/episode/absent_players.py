"""Replace people who left or are absent during a shared episode.

A person is absent who has missed a number of turns in a row (`AbsencePolicy.steps`; only under a time limit),
or who has left. The episode's setting decides: an agent takes the seat over, or the episode ends.
`Episode.gone` says from which step an agent has a seat, why, and the last message before it. The log says who
chose every command. If no person is left, the episode ends.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Self

from django.db.models import Max

from kitchen.contract.mailbox import platform_sentence
from kitchen.contract.planned_commands import BY_WORLD
from kitchen.contract.team_messages import GONE
from kitchen.contract.world import Json, SettingsError
from kitchen.play.models import Episode, Mind, Seat, SeatCommand
from kitchen.play.turn import step_timer
from kitchen.play.turn.conversation import add_platform_message, conversation_partners, member_of
from kitchen.play.turn.open_turn import OpenTurn
from kitchen.play.turn.turn_cache import refresh_turn
from kitchen.registry.agent_registry import can_play, get_agent, make_agent
from kitchen.words.translation import gettext_noop

AWAY, LEFT, NEVER = "away", "left", "never"
"""Why a co-player has somebody's seat: so many turns were missed, its person has left, or never came."""
ABSENCE_REASONS = {
    AWAY: gettext_noop("somebody who played in it was away"),
    LEFT: gettext_noop("somebody who played in it left the study"),
}
"""Where the episode ends instead: what completes “It was ended because …”."""
MAX_MISSED_STEPS = 1000


@dataclass(frozen=True, slots=True)
class AbsencePolicy:
    """What becomes of the seat of a person who is gone."""

    steps: int | None = None
    """Turns missed in a row after which somebody is gone; None for never."""
    kind: str = ""
    """Of the co-player that takes the seat over; empty where the episode ends."""
    settings: Mapping[str, Json] = field(default_factory=dict)

    def to_json(self) -> dict[str, Json]:
        """As it is stored with an episode."""
        return {**asdict(self), "settings": dict(self.settings)}

    @classmethod
    def from_json(cls, stored: Mapping[str, Json]) -> Self:
        """What `to_json` wrote."""
        return cls(stored["steps"], stored["kind"], stored["settings"])

    def check(self, world: str) -> None:
        """SettingsError if it cannot be so in this world."""
        if self.steps is not None and not 1 <= self.steps <= MAX_MISSED_STEPS:
            raise SettingsError(f"absent_steps: {self.steps} is not between 1 and {MAX_MISSED_STEPS}")
        if self.kind:
            make_agent(self.kind, self.settings)
            if not can_play(get_agent(self.kind), world):
                raise SettingsError(f"co-player: {self.kind} cannot play {world}")


def never_arrived(seats: Iterable[int]) -> dict[str, Json]:
    """`Episode.gone` where people were awaited in these seats, and the episode begins without them."""
    return {str(seat): {"step": 1, "why": NEVER, "said": 0} for seat in seats}


def absence_policy_of(episode: Episode) -> AbsencePolicy:
    """What an episode says of it; nothing: who leaves ends it."""
    return AbsencePolicy.from_json(episode.absence) if episode.absence else AbsencePolicy()


def absent_seats(turn: OpenTurn) -> list[int]:
    """Seats of people who have missed as many turns in a row as the episode allows. Turns that an outage of
    ours took, or in which there was nothing to choose, count neither way."""
    most = absence_policy_of(turn.episode).steps
    return [seat for seat in sorted(turn.people) if _missed(turn, seat, most)] if most else []


def _missed(turn: OpenTurn, seat: int, most: int) -> bool:
    rows = SeatCommand.objects.filter(episode=turn.episode, seat=seat, step__lte=turn.step)
    counted = rows.exclude(chosen_by__in=(step_timer.OUTAGE, BY_WORLD)).order_by("-step")
    lately = list(counted.values_list("chosen_by", flat=True)[:most])
    return lately == [step_timer.TIMEOUT] * most


def hand_over_seat(turn: OpenTurn, seat: int, why: str) -> bool:
    """A co-player has this person's seat from now on; False, and nothing changed, where the episode ends
    instead: it says so, or no other person is left. Needs the turn up to date and locked."""
    rule = absence_policy_of(turn.episode)
    if not rule.kind or not (turn.people | turn.leaders) - {seat}:
        return False
    episode, first, said = turn.episode, turn.step + (seat in turn.given), turn.episode.messages
    _conversation_over(turn, seat)
    last = Mind.objects.filter(episode=episode).aggregate(last=Max("number"))["last"]
    number = 0 if last is None else last + 1
    mind = Mind.objects.create(episode=episode, number=number, kind=rule.kind, settings=dict(rule.settings))
    Seat.objects.filter(episode=episode, number=seat).update(mind=mind, page="")
    Episode.objects.filter(pk=episode.pk).update(
        gone={**(episode.gone or {}), str(seat): {"step": first, "why": why, "said": said}},
        plans=_without(episode.plans, seat),
        organisation=_no_person(episode.organisation, seat),
    )
    refresh_turn(turn)
    return True


def _conversation_over(turn: OpenTurn, seat: int) -> None:
    """Whoever talks with this person, where one has one partner at a time, is told that they are gone."""
    member = member_of(turn, seat)
    if member and (partner := conversation_partners(turn).get(member.number)) is not None:
        add_platform_message(turn, None, (partner,), platform_sentence(GONE, member.number))


def _without(plans: Mapping[str, Json] | None, seat: int) -> dict[str, Json] | None:
    """What the person had planned is not done."""
    return {key: plan for key, plan in (plans or {}).items() if key != str(seat)} or None


def _no_person(organisation: Mapping[str, Json] | None, seat: int) -> dict[str, Json] | None:
    """The member who has this seat is a co-player."""
    if organisation is None:
        return None
    members = [{**one, "person": False} if seat in one["seats"] else one for one in organisation["members"]]
    return {**organisation, "members": members}
