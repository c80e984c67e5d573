"""Everything that changes an episode. All commands come in by one door, `commands_submit`.

A step is open until every seat has its command. The last one to arrive runs the world in the same
transaction: the log row and the new state are written together or not at all. Whoever comes late, twice or
with a command for another step changes nothing and is told so by the `Receipt`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial

from django.conf import settings as django_settings
from django.db import transaction
from django.utils import timezone

from kitchen import play, stream
from kitchen.coplayers.registry import make_coplayer
from kitchen.models import Decision, Episode, Mind, Seat, SeatCommand, Step
from kitchen.worlds.base import Command, Json, SettingsError, World
from kitchen.worlds.registry import get_world

RECEIPTS = {
    "accepted": "Your choice is in.",
    "repeated": "Your choice was in already.",
    "double": "You had already chosen for this step; your first choice stands.",
    "late": "That step had already been played. Here is where the kitchen is now.",
    "early": "That step has not begun yet. Here is where the kitchen is now.",
    "over": "This episode has ended.",
    "not_offered": "That is not possible at this moment. Choose one of the actions shown.",
}
"""Every answer of `commands_submit`, in words for the person who asked."""


@dataclass(frozen=True, slots=True)
class MindPlan:
    """A co-player to be seated: its kind, its settings, and the seats it commands."""

    kind: str
    seats: tuple[int, ...]
    settings: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SeatOrder:
    """One seat's command as it is handed in."""

    seat: int
    command: Command
    chosen_by: str = "person"
    fallback: str = ""


@dataclass(frozen=True, slots=True)
class Receipt:
    """The answer to commands handed in: `code` is a key of `RECEIPTS`."""

    code: str
    step: int
    """Steps taken when the answer was given."""

    @property
    def accepted(self) -> bool:
        """Whether the commands were taken."""
        return self.code == "accepted"

    @property
    def text(self) -> str:
        """The answer in words."""
        return RECEIPTS[self.code]


@transaction.atomic
def episode_create(
    *,
    world: str,
    settings: Mapping[str, Json],
    seats: int,
    seed: int,
    minds: Sequence[MindPlan] = (),
    label: str = "",
    synthetic: bool = False,
) -> Episode:
    """A new episode at its start, its first step open. Seats that no mind commands are people's.

    SettingsError if the world, a mind or the seating cannot be played.
    """
    game = get_world(world).create(seats=seats, settings=settings)
    game.reset(seed)
    _check_minds(minds, seats=seats, world=world)
    episode = Episode.objects.create(
        world=world,
        world_version=game.version,
        settings=dict(settings),
        seed=seed,
        label=label,
        synthetic=synthetic,
        state=game.to_dict(),
        state_hash=game.state_hash(),
        score=game.score(),
        decision_seconds=django_settings.DECISION_SECONDS,
        turn_opened_at=timezone.now(),
    )
    _seat_everybody(episode, seats=seats, minds=minds)
    _on_open_turn(episode)
    return episode


def _check_minds(minds: Sequence[MindPlan], *, seats: int, world: str) -> None:
    taken = [seat for mind in minds for seat in mind.seats]
    if len(set(taken)) != len(taken) or not set(taken) <= set(range(seats)):
        raise SettingsError(f"seats: {taken} of co-players do not fit {seats} seats")
    for mind in minds:
        coplayer = make_coplayer(mind.kind, mind.settings)
        if coplayer.worlds is not None and world not in coplayer.worlds:
            raise SettingsError(f"co-player: {mind.kind} cannot play {world}")


def _seat_everybody(episode: Episode, *, seats: int, minds: Sequence[MindPlan]) -> None:
    by_seat: dict[int, Mind] = {}
    for number, plan in enumerate(minds):
        mind = Mind.objects.create(
            episode=episode, number=number, kind=plan.kind, settings=dict(plan.settings)
        )
        by_seat |= dict.fromkeys(plan.seats, mind)
    Seat.objects.bulk_create(
        Seat(episode=episode, number=number, name=f"Robot {number + 1}", mind=by_seat.get(number))
        for number in range(seats)
    )


@transaction.atomic
def commands_submit(
    *,
    episode_id: int,
    step: int,
    orders: Sequence[SeatOrder],
    decisions: Sequence[Decision] = (),
) -> Receipt:
    """Hand in commands for one step (the first is 1), and what the minds behind them want to keep.

    All of them are taken, or none. The step runs as soon as no seat is left without a command.
    """
    episode = Episode.objects.select_for_update().get(pk=episode_id)
    given = _commands_in(episode, step) if step == episode.step + 1 else {}
    if code := _refusal(episode, step, orders, given):
        return Receipt(code, episode.step)
    for order in orders:
        SeatCommand.objects.create(
            episode=episode,
            step=step,
            seat=order.seat,
            command=list(order.command),
            chosen_by=order.chosen_by,
            fallback=order.fallback,
        )
    for decision in decisions:
        decision.save()
    _go_on(episode)
    return Receipt("accepted", episode.step)


def _commands_in(episode: Episode, step: int) -> dict[int, SeatCommand]:
    return {row.seat: row for row in SeatCommand.objects.filter(episode=episode, step=step)}


def _refusal(
    episode: Episode, step: int, orders: Sequence[SeatOrder], given: Mapping[int, SeatCommand]
) -> str | None:
    """Why these commands cannot be taken, None if they can."""
    if episode.status != Episode.Status.PLAYING:
        return "over"
    if step != episode.step + 1:
        return "late" if step <= episode.step else "early"
    doubled = [order for order in orders if order.seat in given]
    if doubled:
        same = all(tuple(given[order.seat].command) == order.command for order in doubled)
        return "repeated" if same else "double"
    return _not_offered(episode, orders)


def _not_offered(episode: Episode, orders: Sequence[SeatOrder]) -> str | None:
    """A person may do what the menu offers; what a co-player orders in error, the world refuses and logs."""
    people = [order for order in orders if order.chosen_by == "person"]
    if not people:
        return None
    world = play.episode_world(episode)
    offered = all(
        order.command in world.legal_actions(order.seat)
        or order.command in world.anticipated_actions(order.seat)
        for order in people
    )
    return None if offered else "not_offered"


def _go_on(episode: Episode) -> None:
    """Run the step if everybody has commanded, else see who is to be asked; pages look again on commit."""
    if len(_commands_in(episode, episode.step + 1)) == Seat.objects.filter(episode=episode).count():
        _take_step(episode)
    else:
        _on_open_turn(episode)
    transaction.on_commit(partial(stream.nudge_pages, episode.pk))


def _take_step(episode: Episode) -> None:
    """The world steps; the log row and the new state are written."""
    world = play.episode_world(episode)
    rows = _running_order(episode)
    events = world.step([(row.seat, play.read_stored_command(row.command)) for row in rows])
    now, opened_at = timezone.now(), episode.turn_opened_at
    _store_state(episode, world, now=now)
    Step.objects.create(
        episode=episode,
        number=episode.step,
        commands=[_log_entry(row) for row in rows],
        events=[event.to_json() for event in events],
        state_hash=episode.state_hash,
        score=episode.score,
        opened_at=opened_at,
        taken_at=now,
    )
    _on_open_turn(episode)


def _log_entry(row: SeatCommand) -> dict[str, Json]:
    return {
        "seat": row.seat,
        "command": row.command,
        "chosen_by": row.chosen_by,
        "fallback": row.fallback,
        "received_at": row.received_at.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
    }


def _running_order(episode: Episode) -> list[SeatCommand]:
    """People first, by seat; then co-players in the order in which their minds want them run."""
    rows = list(SeatCommand.objects.filter(episode=episode, step=episode.step + 1).order_by("id"))
    people = sorted((row for row in rows if row.chosen_by == "person"), key=lambda row: row.seat)
    return people + [row for row in rows if row.chosen_by != "person"]


def _store_state(episode: Episode, world: World, *, now: datetime) -> None:
    """Compare and set on the step number: the step that another process has taken is not taken again."""
    ended = world.over or world.cut_off
    status = Episode.Status.OVER if world.over else Episode.Status.CUT_OFF
    fresh = {
        "step": episode.step + 1,
        "state": world.to_dict(),
        "state_hash": world.state_hash(),
        "score": world.score(),
        "status": status if ended else Episode.Status.PLAYING,
        "ended_at": now if ended else None,
        "turn_opened_at": now,
        "deciding_until": None,
    }
    if not Episode.objects.filter(pk=episode.pk, step=episode.step).update(**fresh):
        raise StepTakenError(f"step {episode.step + 1} of episode {episode.key} was taken by another process")
    for name, value in fresh.items():
        setattr(episode, name, value)


class StepTakenError(RuntimeError):
    """Two processes took the same step; the second is rolled back whole."""


def _on_open_turn(episode: Episode) -> None:
    """Once the people of an open step have commanded, ask the co-players (after the commit)."""
    from kitchen import tasks

    if episode.status != Episode.Status.PLAYING or not episode.minds.exists():
        return
    people = set(episode.seats.filter(mind=None).values_list("number", flat=True))
    if people <= set(_commands_in(episode, episode.step + 1)):
        transaction.on_commit(partial(tasks.ask_coplayers, episode.pk, episode.step + 1))


def decision_claim(*, episode_id: int, step: int) -> bool:
    """Take up the co-players' decision for this step, so that two workers do not both ask a model.

    True for the one who got it; the claim lapses after the decision's time, if its worker died.
    """
    now = timezone.now()
    open_turns = Episode.objects.filter(pk=episode_id, step=step - 1, status=Episode.Status.PLAYING)
    free = open_turns.filter(deciding_until=None) | open_turns.filter(deciding_until__lt=now)
    seconds = open_turns.values_list("decision_seconds", flat=True).first()
    return seconds is not None and bool(free.update(deciding_until=now + timedelta(seconds=seconds + 2)))


@transaction.atomic
def episode_cut_off(*, episode_id: int) -> bool:
    """End an episode before its time; False if it had ended already."""
    ended = Episode.objects.filter(pk=episode_id, status=Episode.Status.PLAYING).update(
        status=Episode.Status.CUT_OFF, ended_at=timezone.now()
    )
    if ended:
        transaction.on_commit(partial(stream.nudge_pages, episode_id))
    return bool(ended)
