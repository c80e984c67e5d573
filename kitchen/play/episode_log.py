"""The stored log of an episode as plain Python (`kitchen.contract.episode_log`), and the figures computed
from it when the episode ends."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kitchen.contract.episode_log import EpisodeLog, LoggedCommand, LoggedDecision, LoggedStep
from kitchen.contract.organisation import Organisation
from kitchen.contract.world import Json
from kitchen.play.dropping import OVER
from kitchen.play.models import Decision, Episode, Message, Seat, Step
from kitchen.play.saying import as_said, organisation_of
from kitchen.play.stored import read_event, read_stored_command
from kitchen.registry.figures import log_figures, with_log_metrics
from kitchen.registry.names import UnknownNameError


def log_metrics_store(episode: Episode) -> None:
    """Add the figures that are computed from the log to the score of an episode that has ended. Does nothing
    in a world without such figures. Needs the transaction that ends the episode."""
    if has_log_metrics(episode.world):
        episode.score = with_log_metrics(episode.score, stored_log(episode))
        Episode.objects.filter(pk=episode.pk).update(score=episode.score)


def has_log_metrics(world: str) -> bool:
    """Return whether figures of this world are computed from the log; no for a world that is not known."""
    try:
        return bool(log_figures(world))
    except UnknownNameError:
        return False


def stored_log(episode: Episode) -> EpisodeLog:
    """Return the log of an episode as it is stored."""
    decisions = Decision.objects.filter(mind__episode=episode).order_by("step", "pk")
    return log_of_rows(
        episode,
        seats=list(Seat.objects.filter(episode=episode)),
        steps=Step.objects.filter(episode=episode, number__lte=episode.step).order_by("number"),
        messages=Message.objects.filter(episode=episode).order_by("number"),
        decisions=decisions,
    )


def log_of_rows(
    episode: Episode,
    *,
    seats: Sequence[Seat],
    steps: Iterable[Step],
    messages: Iterable[Message],
    decisions: Iterable[Decision],
) -> EpisodeLog:
    """Return the log that these rows of one episode make, each kind in its order. Decisions that came after
    the end are left out: the episode's figures do not change any more."""
    organisation = organisation_of(episode)
    members = _members_of_minds(seats, organisation)
    return EpisodeLog(
        world=episode.world,
        settings=episode.settings,
        seats=sum(seat.acts for seat in seats),
        seed=episode.seed,
        steps=tuple(map(_step, steps)),
        messages=tuple(map(as_said, messages)),
        decisions=tuple(_decision(row, members[row.mind_id]) for row in decisions if row.dropped != OVER),
        organisation=organisation,
    )


def _members_of_minds(seats: Sequence[Seat], organisation: Organisation | None) -> dict[int, int]:
    """Return the member number of each mind, by the mind's id."""
    first = {seat.mind_id: seat.number for seat in reversed(seats) if seat.mind_id is not None}
    return {
        mind: organisation.holder(number).number if organisation else number for mind, number in first.items()
    }


def _step(row: Step) -> LoggedStep:
    commands = tuple(map(_command, row.commands))
    return LoggedStep(row.number, commands, tuple(map(read_event, row.events)), row.score)


def _command(entry: Json) -> LoggedCommand:
    command = read_stored_command(entry["command"])
    return LoggedCommand(entry["seat"], command, entry["chosen_by"], entry.get("planned_in"))


def _decision(row: Decision, member: int) -> LoggedDecision:
    return LoggedDecision(
        step=row.step,
        member=member,
        because=row.because,
        played_by=row.played_by,
        fallback=row.fallback,
        milliseconds=row.milliseconds,
        note=row.note,
        dropped=row.dropped,
    )
