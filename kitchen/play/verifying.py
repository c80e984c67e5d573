"""Reading logs again: does every step still hold what was written?

For each episode: its chain (`kitchen.play.chain`), that no step is missing, that what seats were commanded is
what the steps ran with, and that the episode stands where its log ends. Nothing is locked: people go on
playing meanwhile. What needs the world itself (playing the log anew) is not done here.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db.models import QuerySet

from kitchen.play.chain import chain_begin, chain_next
from kitchen.play.models import Episode, SeatCommand, Step
from kitchen.play.stored import log_entry

AT_ONCE = 20
"""Episodes that are read together."""

CHANGED = "is not what was written"
UNCHAINED = "has no chain, although steps before it have one"
MISSING = "is missing"
OTHER_COMMANDS = "did not run with what the seats were commanded"
OTHER_STATE = "does not lead to the state that the episode is in"


@dataclass(frozen=True, slots=True)
class Fault:
    """A step that is not as it was written."""

    step: int
    why: str

    def __str__(self) -> str:
        return f"step {self.step} {self.why}"


@dataclass(slots=True)
class EpisodeVerdict:
    """What the log of one episode is worth."""

    episode: str
    """Its key."""
    steps: int = 0
    before_chains: int = 0
    """Steps that no chain holds: programs of before took them, and none of today took one after them."""
    chain: str = ""
    """After the last step; to be kept elsewhere, it shows later that nobody has written the log anew."""
    faults: list[Fault] = field(default_factory=list)

    @property
    def holds(self) -> bool:
        """Nothing was found."""
        return not self.faults


def log_verify(episodes: QuerySet[Episode]) -> Iterator[EpisodeVerdict]:
    """A verdict for each of these episodes, in the order of their ids; for those that are erased meanwhile
    none."""
    ids = list(episodes.order_by("pk").values_list("pk", flat=True))
    for begin in range(0, len(ids), AT_ONCE):
        yield from _verdicts(ids[begin : begin + AT_ONCE])


def _verdicts(ids: Sequence[int]) -> Iterator[EpisodeVerdict]:
    episodes = list(Episode.objects.filter(pk__in=ids).defer("state").order_by("pk"))
    commands: dict[tuple[int, int], list[SeatCommand]] = defaultdict(list)
    for given in SeatCommand.objects.filter(episode__in=ids):
        commands[given.episode_id, given.step].append(given)
    steps: dict[int, list[Step]] = defaultdict(list)
    for row in Step.objects.filter(episode__in=ids).order_by("episode", "number"):
        steps[row.episode_id].append(row)
    for episode in episodes:
        verdict = _verdict(episode, steps[episode.pk], commands)
        if verdict.holds or Episode.objects.filter(pk=episode.pk).exists():
            yield verdict


def _verdict(
    episode: Episode, steps: Sequence[Step], commands: Mapping[tuple[int, int], Sequence[SeatCommand]]
) -> EpisodeVerdict:
    if episode.status == Episode.Status.PLAYING:  # steps that were taken since it was read
        steps = [row for row in steps if row.number <= episode.step]
    verdict = EpisodeVerdict(str(episode.key), len(steps))
    verdict.faults += _missing(episode, steps)
    verdict.faults += _broken(episode, steps, verdict)
    for row in steps:
        if not _same_commands(row.commands, commands[episode.pk, row.number]):
            verdict.faults.append(Fault(row.number, OTHER_COMMANDS))
    if steps and steps[-1].number == episode.step and steps[-1].state_hash != episode.state_hash:
        verdict.faults.append(Fault(episode.step, OTHER_STATE))
    verdict.faults.sort(key=lambda fault: fault.step)
    return verdict


def _missing(episode: Episode, steps: Sequence[Step]) -> list[Fault]:
    """Steps that the episode has taken and the log has not, or the other way."""
    there, taken = {row.number for row in steps}, set(range(1, episode.step + 1))
    gone = [Fault(number, MISSING) for number in taken - there]
    return gone + [Fault(number, OTHER_STATE) for number in there - taken]


def _broken(episode: Episode, steps: Sequence[Step], verdict: EpisodeVerdict) -> Iterator[Fault]:
    """Every link that does not fit. It is gone on from what is written, so that each is found by itself."""
    chain, unchained, chained = chain_begin(episode), 0, False
    for row in steps:
        chain = chain_next(chain, vars(row))
        if not row.chain:
            unchained += 1
            continue
        if row.chain != chain:
            yield Fault(row.number, _why(row.number, unchained))
        chain, unchained, chained = row.chain, 0, True
    verdict.chain = "" if unchained else chain
    verdict.before_chains = 0 if chained else unchained
    if chained and unchained:
        yield Fault(steps[-unchained].number, UNCHAINED)


def _why(number: int, unchained: int) -> str:
    """A link holds the steps without one before it, too."""
    return f"{CHANGED}, or one of the {unchained} steps before it" if unchained else CHANGED


def _same_commands(entries: Sequence[Any], given: Sequence[SeatCommand]) -> bool:
    """What a step ran with is what is stored for its seats, in whatever order it ran."""
    ran = {entry["seat"]: entry for entry in entries}
    return ran == {row.seat: log_entry(row) for row in given}
