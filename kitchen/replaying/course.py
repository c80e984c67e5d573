"""An episode played again from its seed and its commands: does every step lead where the log says?"""

from __future__ import annotations

from collections.abc import Iterator

from kitchen.contract.world import World, WorldError, canonical_json
from kitchen.play import stored
from kitchen.play.episode_log import has_log_metrics
from kitchen.play.models import Episode, Step
from kitchen.play.turns import status_after
from kitchen.registry.figures import with_log_metrics
from kitchen.registry.names import UnknownNameError
from kitchen.registry.worlds import get_world
from kitchen.replaying.record import Record

OTHER_VERSION = "it was played by version {then} of the world; this is version {now}"
NOT_PLAYABLE = "it cannot be played here: {why}"
UNREADABLE = "what was commanded in step {step} cannot be read"
OTHER_STATE = "step {step} leads to another state"
OTHER_EVENTS = "in step {step} something else happens"
OTHER_SCORE = "after step {step} the score is another one"
OTHER_END = "it does not end where the episode stands"
GOES_ON = "its log goes on after step {step}, where it was over"
NOT_EVERY_STEP = "its log does not have every step once"


def world_at_start(record: Record) -> World:
    """Its world before the first step. WorldError or UnknownNameError where there is none here."""
    episode = record.episode
    known = get_world(episode.world)
    if known.version != episode.world_version:
        raise WorldError(OTHER_VERSION.format(then=episode.world_version, now=known.version))
    seats = sum(seat.acts for seat in record.seats)
    world = known.create(seats=seats, settings=episode.settings)
    world.reset(episode.seed)
    return world


def step_again(world: World, row: Step) -> list[object]:
    """Take the step with the commands that it was taken with; the world's events, as they are stored."""
    commands = [(each["seat"], stored.read_stored_command(each["command"])) for each in row.commands]
    events: list[object] = stored.as_stored([event.to_json() for event in world.step(commands)])
    return events


def world_after(record: Record, steps: int) -> World:
    """Its world after so many steps."""
    world = world_at_start(record)
    for row in record.steps[:steps]:
        step_again(world, row)
    return world


def faults_of(record: Record) -> Iterator[str]:
    """What is not as it is stored, in words: nothing else is said after the first state that differs."""
    last = record.episode.step  # in a stranger's file any number, so that nothing of its size is made
    if len(record.steps) != last or any(row.number != n for n, row in enumerate(record.steps, 1)):
        yield NOT_EVERY_STEP
        return
    try:
        world = world_at_start(record)
        for row in record.steps:
            if faults := list(_of_step(world, row, record.episode)):
                yield from faults
                return
    except (WorldError, UnknownNameError) as error:
        yield NOT_PLAYABLE.format(why=error.args[0])
        return
    yield from _of_end(world, record)


def _of_step(world: World, row: Step, episode: Episode) -> Iterator[str]:
    try:
        events = step_again(world, row)
    except (LookupError, TypeError, ValueError, AttributeError):
        yield UNREADABLE.format(step=row.number)
        return
    if world.state_hash() != row.state_hash:
        yield OTHER_STATE.format(step=row.number)
    if row.events[: len(events)] != events:  # the house tells its own after the world's
        yield OTHER_EVENTS.format(step=row.number)
    if canonical_json(world.score()) != canonical_json(row.score):
        yield OTHER_SCORE.format(step=row.number)
    if row.number < episode.step and status_after(episode, world) != Episode.Status.PLAYING:
        yield GOES_ON.format(step=row.number)


def _of_end(world: World, record: Record) -> Iterator[str]:
    episode, score = record.episode, world.score()
    if episode.status != Episode.Status.PLAYING and has_log_metrics(episode.world):
        measured = with_log_metrics(score, record.log)  # an older episode has none of the figures of today
        score = {name: value for name, value in measured.items() if name in score or name in episode.score}
    if world.state_hash() != episode.state_hash or canonical_json(score) != canonical_json(episode.score):
        yield OTHER_END
