"""Replace people who left or are absent from an episode that they share with others, or end the episode.
Give free seats to people who come later.

A person is absent after missing a number of turns in a row (`AbsencePolicy.steps`). The policy says whether
an agent then plays for the person, or the episode ends. An episode without people left always ends.
`Episode.gone` records each replaced person, with the step and the reason.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Self

from django.db.models import Max

from kitchen.contract.automatic_commands import NOT_ASKED
from kitchen.contract.mailbox import platform_sentence
from kitchen.contract.team_messages import GONE
from kitchen.contract.world import Json
from kitchen.contract.world_errors import SettingsError
from kitchen.play.models import Episode, Mind, Seat, SeatCommand, new_key
from kitchen.play.turn import step_timer
from kitchen.play.turn.conversation import add_platform_message, conversation_partners, member_of
from kitchen.play.turn.open_turn import OpenTurn
from kitchen.play.turn.turn_cache import refresh_turn
from kitchen.play.turn.websocket_messages import JOINED, RETURNED
from kitchen.registry.agent_registry import can_play, get_agent, make_agent
from kitchen.words.gettext_without_django import gettext_noop

AWAY, LEFT, NEVER, FREE = "away", "left", "never", "free"
"""The reasons why an agent has a person's seat: the person missed too many turns, left, or never came. A FREE
seat is played by an agent until a person takes it."""
ABSENCE_REASONS = {
    AWAY: gettext_noop("somebody who played in it was away"),
    LEFT: gettext_noop("somebody who played in it left the study"),
}
"""Reasons for ending the episode instead. Each completes “It was ended because …”."""
MAX_MISSED_STEPS = 1000


@dataclass(frozen=True, slots=True)
class AbsencePolicy:
    """The rule for the seat of a person who is absent or has left."""

    steps: int | None = None
    """Number of turns missed in a row after which a person counts as absent. None: never."""
    kind: str = ""
    """Kind of the agent that takes the seat over. Empty: the episode ends."""
    settings: Mapping[str, Json] = field(default_factory=dict)
    is_untimed_alone: bool = False
    """True if a person has no time limit, and counts as present, while no other person plays."""

    def to_json(self) -> dict[str, Json]:
        """Return the absence policy as JSON, to be stored with an episode."""
        stored = {**asdict(self), "settings": dict(self.settings)}
        if not self.is_untimed_alone:
            del stored["is_untimed_alone"]
        return stored

    @classmethod
    def from_json(cls, stored: Mapping[str, Json]) -> Self:
        """Return the absence policy from the JSON that `to_json` returned."""
        is_untimed_alone = stored.get("is_untimed_alone", False)
        return cls(stored["steps"], stored["kind"], stored["settings"], is_untimed_alone)

    def check(self, world: str) -> None:
        """Raise SettingsError if the policy is invalid. The number of steps must be within bounds, and the
        agent must be able to play this world."""
        if self.steps is not None and not 1 <= self.steps <= MAX_MISSED_STEPS:
            raise SettingsError(f"absent_steps: {self.steps} is not between 1 and {MAX_MISSED_STEPS}")
        if self.kind:
            make_agent(self.kind, self.settings)
            if not can_play(get_agent(self.kind), world):
                raise SettingsError(f"co-player: {self.kind} cannot play {world}")


def never_arrived(seats: Iterable[int]) -> dict[str, Json]:
    """Return the value of `Episode.gone` for people who never arrived. It says that agents play these seats
    from the first step."""
    return {str(seat): {"step": 1, "why": NEVER, "said": 0} for seat in seats}


def free_until_taken(seats: Iterable[int]) -> dict[str, Json]:
    """Return the value of `Episode.gone` for seats that agents play until people take them."""
    return {str(seat): {"step": 1, "why": FREE, "said": 0} for seat in seats}


def free_seats(episode: Episode) -> list[int]:
    """Return the seats of this episode that people can still take."""
    return sorted(int(seat) for seat, each in (episode.gone or {}).items() if each["why"] == FREE)


def absence_policy_of(episode: Episode) -> AbsencePolicy:
    """Return the absence policy of this episode. Without a stored policy, the episode ends when a person
    leaves."""
    return AbsencePolicy.from_json(episode.absence) if episode.absence else AbsencePolicy()


def absent_seats(turn: OpenTurn) -> list[int]:
    """Return the seats of absent people. A person is absent after missing `AbsencePolicy.steps` turns in a
    row. Empty if the policy has no number of turns.

    Two kinds of turns do not count: turns that an outage of the server closed, and turns in which the seat
    had no choice.
    """
    most = absence_policy_of(turn.episode).steps
    return [seat for seat in sorted(turn.people) if _missed(turn, seat, most)] if most else []


def _missed(turn: OpenTurn, seat: int, most: int) -> bool:
    rows = SeatCommand.objects.filter(episode=turn.episode, seat=seat, step__lte=turn.step)
    counted = rows.exclude(chosen_by__in=(step_timer.OUTAGE, *NOT_ASKED)).order_by("-step")
    lately = list(counted.values_list("chosen_by", flat=True)[:most])
    return lately == [step_timer.TIMEOUT] * most


def hand_over_seat(turn: OpenTurn, seat: int, why: str) -> bool:
    """Let a new agent play this person's seat from now on, and record the reason `why`.

    Returns False, and changes nothing, if the absence policy names no agent or if no other person is left.
    Call this with the turn refreshed and locked (`refresh_turn`).
    """
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
        gone=_with_record(episode, seat, {"step": first, "why": why, "said": said}),
        plans=_without(episode.plans, seat),
        organisation=_no_person(episode.organisation, seat),
    )
    if rule.is_untimed_alone and len((turn.people | turn.leaders) - {seat}) == 1:
        step_timer.lift_step_limit(episode)
    refresh_turn(turn)
    return True


def _with_record(episode: Episode, seat: int, record: dict[str, Json]) -> dict[str, Json]:
    """Return `Episode.gone` with a new record for a seat. It keeps the first step of an earlier absence."""
    gone = episode.gone or {}
    earlier = gone.get(str(seat), {})
    away = earlier.get("away", earlier.get("step") if earlier.get("why") in (AWAY, LEFT) else None)
    return {**gone, str(seat): record if away is None else {**record, "away": away}}


def seat_person(turn: OpenTurn, seat: int) -> bool:
    """Give a seat that an agent plays to a person: a free seat, or the person's own seat after an absence.

    Returns False, and changes nothing, if no agent plays it in place of a person. A command that the agent
    gave for the open step stays. `Episode.gone` then has the seat's first step of the person, and JOINED or
    RETURNED.
    Call this with the turn refreshed and locked (`refresh_turn`).
    """
    episode, gone = turn.episode, turn.episode.gone or {}
    if seat in turn.people or str(seat) not in gone:
        return False
    first, why = turn.step + (seat in turn.given), _person_came(gone[str(seat)]["why"])
    Seat.objects.filter(episode=episode, number=seat).update(mind=None, page="", key=new_key())
    Episode.objects.filter(pk=episode.pk).update(
        gone=_with_record(episode, seat, {"step": first, "why": why, "said": 0}),
        organisation=_with_person(episode.organisation, seat),
    )
    refresh_turn(turn)
    return True


def _person_came(why: str) -> str:
    """Return the reason with which a person takes a seat that an agent had for the reason `why`."""
    return RETURNED if why in (AWAY, LEFT) else JOINED


def _conversation_over(turn: OpenTurn, seat: int) -> None:
    """Tell the person's conversation partner that the person is gone. Does nothing unless people talk with
    one partner at a time."""
    member = member_of(turn, seat)
    if member and (partner := conversation_partners(turn).get(member.number)) is not None:
        add_platform_message(turn, None, (partner,), platform_sentence(GONE, member.number))


def _without(plans: Mapping[str, Json] | None, seat: int) -> dict[str, Json] | None:
    """Return the plans without the plan of this seat. Return None if no plans are left."""
    return {key: plan for key, plan in (plans or {}).items() if key != str(seat)} or None


def _no_person(organisation: Mapping[str, Json] | None, seat: int) -> dict[str, Json] | None:
    return _with_person(organisation, seat, is_person=False)


def _with_person(
    organisation: Mapping[str, Json] | None, seat: int, *, is_person: bool = True
) -> dict[str, Json] | None:
    """Return the stored organisation with a person, or an agent, as the member of this seat. Return None if
    there is no organisation."""
    if organisation is None:
        return None
    stored = organisation["members"]
    members = [{**one, "person": is_person} if seat in one["seats"] else one for one in stored]
    return {**organisation, "members": members}
