"""Check that the steps shown on pages are those stored in the database, and that the stored logs are
complete.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from kitchen.contract.agent import REASON_TO_ANSWER
from kitchen.contract.automatic_commands import BY_WORLD, NOT_ASKED
from kitchen.contract.world import Json, World
from kitchen.infra.append_only import unguarded_tables
from kitchen.play.episode.log_integrity import verify_episode_logs
from kitchen.play.models import Decision, Episode, Seat, SeatCommand, Step
from kitchen.play.turn.state_store import current_world
from kitchen.play.turn.step_timer import TIMEOUT
from kitchen.registry.world_registry import get_world


def faults_in(shown: Iterable[Mapping[str, Json]]) -> list[str]:
    """Return one line for each fault; empty if there is none.

    Each seat's page has its `key`, the shown `steps`, and `views`: pairs of a step and what the seat saw,
    with the score. `taken` has pairs of a step and the command that the page was told is stored, with a third
    value if it only saw that the step ran: its time may have run out, or the step did not wait for it.
    """
    pages = list(shown)
    unguarded = [f"{table}: rows can be changed" for table in unguarded_tables()]
    return unguarded + [fault for page in pages for fault in faults_of(page)] + wrong_chains(pages)


def wrong_chains(pages: Iterable[Mapping[str, Json]]) -> list[str]:
    """Return the faults that `verify_log` finds in the episodes of these pages."""
    episodes = Episode.objects.filter(seats__key__in=[page["key"] for page in pages]).distinct()
    verdicts = verify_episode_logs(episodes)
    return [f"episode {verdict.episode}: {fault}" for verdict in verdicts for fault in verdict.faults]


def faults_of(page: Mapping[str, Json]) -> Iterator[str]:
    """Return the faults of this page and its episode."""
    seat = Seat.objects.select_related("episode").get(key=page["key"])
    episode, name = seat.episode, f"episode {seat.episode_id}, seat {seat.number}"
    rows = list(Step.objects.filter(episode=episode).order_by("number"))
    if lost := set(page["steps"]) - {0, *(row.number for row in rows)}:
        yield f"{name}: shown and not stored: steps {sorted(lost)}"
    if [row.number for row in rows] != list(range(1, episode.step + 1)):
        yield f"{name}: not every step is stored once"
    if episode.status == Episode.Status.PLAYING:
        yield f"{name}: has not ended, after step {episode.step}"
    yield from (f"{name}: {fault}" for fault in wrong_hashes(episode, rows))
    yield from (f"{name}: {fault}" for fault in wrong_commands(episode, rows))
    yield from (f"{name}: {fault}" for fault in wrong_views(seat, rows, page["views"]))
    yield from (f"{name}: {fault}" for fault in wrong_answers(seat, page["taken"]))


def replayed(episode: Episode, rows: Iterable[Step]) -> Iterator[tuple[Step | None, World]]:
    """Return the world at its start and after each step, replayed from the seed."""
    world = get_world(episode.world).create(
        seats=episode.seats.filter(acts=True).count(), settings=episode.settings
    )
    world.reset(episode.seed)
    yield None, world
    for row in rows:
        world.step([(entry["seat"], tuple(entry["command"])) for entry in row.commands])
        yield row, world


def wrong_hashes(episode: Episode, rows: Iterable[Step]) -> Iterator[str]:
    """Compare every stored state, and the present state, with the replayed one."""
    world = None
    for row, world in replayed(episode, rows):
        if row is not None and world.state_hash() != row.state_hash:
            yield f"step {row.number}: replay gives another state"
    hashes = {episode.state_hash, current_world(episode).state_hash(), world.state_hash() if world else ""}
    if len(hashes) > 1:
        yield "the present state is not where the log leads"


def wrong_commands(episode: Episode, rows: Iterable[Step]) -> Iterator[str]:
    """Check that each seat has one command per step, and each agent one decision per step, as they ran. A
    worker that vanished may have decided, too; that decision has no effect (`dropped`). An agent is not asked
    in a step whose commands the world gives, or an earlier plan."""
    given = sorted(
        (row.step, row.seat, json.dumps(row.command))
        for row in SeatCommand.objects.filter(episode=episode, step__lte=episode.step)
    )
    ran = sorted((row.number, e["seat"], json.dumps(e["command"])) for row in rows for e in row.commands)
    if given != ran:
        yield "the commands that were given are not those that ran"
    for mind in episode.minds.all():
        decisions = Decision.objects.filter(mind=mind, step__lte=episode.step, dropped="")
        decided = Counter(decisions.exclude(because=REASON_TO_ANSWER).values_list("step", flat=True))
        of_agent = SeatCommand.objects.filter(episode=episode, seat__in=mind.seats.values("number"))
        asked = of_agent.filter(planned_in=None, step__lte=episode.step).exclude(chosen_by__in=NOT_ASKED)
        undecided = set(asked.values_list("step", flat=True)) - decided.keys()
        if undecided or any(times > 1 for times in decided.values()):
            yield f"{mind}: not one decision for each step"


def wrong_views(seat: Seat, rows: Iterable[Step], views: Iterable[Json]) -> Iterator[str]:
    """Compare what a page showed after each step with what the seat sees in the replay. Metrics that are
    hidden during play need not be shown. After the end, pages also show metrics of the log."""
    by_step: dict[int, list[Json]] = {}
    for step, *saw in views:
        by_step.setdefault(step, []).append(saw)
    for row, world in replayed(seat.episode, rows):
        step = row.number if row else 0
        hidden = frozenset() if step == seat.episode.step else world.hidden_metrics(seat.number)
        known = {name: value for name, value in world.score().items() if name not in hidden}
        sees, score = json.loads(json.dumps([world.observe(seat.number), known]))
        if any(saw != sees or scored != scored | score for saw, scored in by_step.get(step, [])):
            yield f"step {step}: another state was shown than was stored"


def wrong_answers(seat: Seat, taken: Iterable[Json]) -> Iterator[str]:
    """Check that each command which the page was told is stored is the one in the log."""
    rows = SeatCommand.objects.filter(episode=seat.episode, seat=seat.number)
    stored = {row.step: (row.command, row.chosen_by) for row in rows}
    for step, command, *inferred in taken:
        is_stored, chosen_by = stored.get(step, (None, "nobody"))
        if is_stored != command and not (any(inferred) and chosen_by in (TIMEOUT, BY_WORLD)):
            yield f"step {step}: {command} was taken, and {is_stored} is stored, chosen by {chosen_by}"
