"""Reading logs again: does every step still hold what was written?

For each episode: its chain (`kitchen.play.chain`), that no step is missing, that what seats were commanded is
what the steps ran with, that the episode stands where its log ends, that what is stored of the large parts of
its state leads there (`kitchen.play.state_changes`), and its seal (`kitchen.play.sealing`) once it is over.
Nothing is locked: people go on playing meanwhile. What needs the world itself (playing the log anew) is not
done here.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db.models import QuerySet

from kitchen.contract.world import Json, canonical_hash, text_hash
from kitchen.machine.sealed import same_text
from kitchen.play import sealing
from kitchen.play.chain import chain_begin, chain_next
from kitchen.play.models import CallMessage, Episode, Prompt, Seal, SeatCommand, Step
from kitchen.play.state_changes import changes_verify
from kitchen.play.stored import log_entry

AT_ONCE = 20
"""Episodes that are read together."""

CHANGED = "is not what was written"
UNCHAINED = "has no chain, although steps before it have one"
NO_CHAIN = "has no chain, although the episode began when there were chains"
MISSING = "is missing"
OTHER_COMMANDS = "did not run with what the seats were commanded"
OTHER_STATE = "does not lead to the state that the episode is in"
NOT_ITS_HASH = "the state is not the one that it is said to be"
OTHER_PART = "did not lead to what is stored of {part}, a large part of the state"
UNSEALED = "it is over, and was not sealed"
FALSE_SEAL = "its seal was not made with this installation's key"
OTHER_OWNER = "it belongs to somebody else than when it was sealed"
OTHER_PROMPT = "what a model was asked is not what was written"
IN_WORDS = {sealing.CHAIN: "last hash", sealing.LOG: "log of decisions, calls and who played"}
"""Sealed facts that are no columns."""


@dataclass(frozen=True, slots=True)
class Fault:
    """A step, or where none is named the episode itself, that is not as it was written."""

    step: int | None
    why: str

    def __str__(self) -> str:
        return self.why if self.step is None else f"step {self.step} {self.why}"


@dataclass(slots=True)
class EpisodeVerdict:
    """What the log of one episode is worth."""

    episode: str
    """Its key."""
    steps: int = 0
    before_chains: int = 0
    """Steps that no chain holds: programs of before took them, and none of today took one after them."""
    is_over: bool = True
    """Not yet where it is being played: its steps hold so far, and nothing is sealed."""
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


@dataclass(slots=True)
class _Read:
    """What is read together of some episodes, by their ids."""

    facts: Mapping[int, Mapping[str, Json]]
    belongs: dict[int, list[Json]]
    other_prompts: set[int]
    seals: dict[int, dict[str, Seal]] = field(default_factory=lambda: defaultdict(dict))
    commands: dict[tuple[int, int], list[SeatCommand]] = field(default_factory=lambda: defaultdict(list))
    steps: dict[int, list[Step]] = field(default_factory=lambda: defaultdict(list))


def _verdicts(ids: Sequence[int]) -> Iterator[EpisodeVerdict]:
    episodes = list(Episode.objects.filter(pk__in=ids).order_by("pk"))
    read = _read(ids, episodes)
    for episode in episodes:
        verdict = _verdict(episode, read)
        if verdict.holds or Episode.objects.filter(pk=episode.pk).exists():
            yield verdict


def _read(ids: Sequence[int], episodes: Sequence[Episode]) -> _Read:
    facts = {each.episode.pk: each.values for each in sealing.facts_of(episodes)}
    read = _Read(facts, sealing.belongings(ids), _other_prompts(ids))
    for seal in Seal.objects.filter(episode__in=ids):
        read.seals[seal.episode_id][seal.kind] = seal
    for given in SeatCommand.objects.filter(episode__in=ids):
        read.commands[given.episode_id, given.step].append(given)
    for row in Step.objects.filter(episode__in=ids).order_by("episode", "number"):
        read.steps[row.episode_id].append(row)
    return read


def _other_prompts(ids: Sequence[int]) -> set[int]:
    """Those of these episodes that used a prompt whose text is not the one that its hash is of."""
    used = CallMessage.objects.filter(call__decision__mind__episode__in=ids)
    texts = Prompt.objects.filter(pk__in=used.values("prompt"))
    changed = [row.hash for row in texts.iterator() if text_hash(row.text) != row.hash]
    users = used.filter(prompt__in=changed) if changed else used.none()
    return set(users.order_by().values_list("call__decision__mind__episode", flat=True))


def _verdict(episode: Episode, read: _Read) -> EpisodeVerdict:
    steps, seals = read.steps[episode.pk], read.seals[episode.pk]
    over = episode.status != Episode.Status.PLAYING
    if not over:  # steps that were taken since it was read
        steps = [row for row in steps if row.number <= episode.step]
    verdict = EpisodeVerdict(str(episode.key), len(steps), is_over=over)
    verdict.faults += _missing(episode, steps)
    verdict.faults += _broken(episode, steps, verdict, of_before=Seal.Kind.BEFORE in seals)
    for row in steps:
        if not _same_commands(row.commands, read.commands[episode.pk, row.number]):
            verdict.faults.append(Fault(row.number, OTHER_COMMANDS))
    verdict.faults += _state(episode, steps)
    verdict.faults += _unsealed(episode, seals, read)
    if episode.pk in read.other_prompts:
        verdict.faults.append(Fault(None, OTHER_PROMPT))
    verdict.faults.sort(key=lambda fault: fault.step or 0)
    return verdict


def _state(episode: Episode, steps: Sequence[Step]) -> Iterator[Fault]:
    """The state is that of its hash, the hash that of the last step, and the large parts those of the
    state."""
    if canonical_hash(episode.state) != episode.state_hash:
        yield Fault(None, NOT_ITS_HASH)
    if steps and steps[-1].number == episode.step and steps[-1].state_hash != episode.state_hash:
        yield Fault(episode.step, OTHER_STATE)
    for step, part in changes_verify(episode):
        yield Fault(step, OTHER_PART.format(part=part))


def _unsealed(episode: Episode, seals: Mapping[str, Seal], read: _Read) -> Iterator[Fault]:
    """What is not as the seals say. An episode of before seals may have been ended by a program of before."""
    over = episode.status != Episode.Status.PLAYING
    if over and not seals:
        yield Fault(None, UNSEALED)
    for seal in seals.values():
        was_over = seal.facts.get("status") != Episode.Status.PLAYING
        if not sealing.is_genuine(seal, episode):
            yield Fault(None, FALSE_SEAL)
        elif was_over and (over or seal.kind == Seal.Kind.BEFORE):
            yield from _otherwise(seal.facts, read.facts[episode.pk], read.belongs[episode.pk])


def _otherwise(
    sealed: Mapping[str, Json], now: Mapping[str, Json], belongs: Sequence[Json]
) -> Iterator[Fault]:
    for name in sorted(sealed.keys() & now.keys()):
        if same_text(sealed[name]) != same_text(now[name]):
            yield Fault(None, f"its {IN_WORDS.get(name, name)} is not what was sealed")
    if sealing.BELONGS in sealed and set(belongs) - set(sealed[sealing.BELONGS]):  # who left is gone
        yield Fault(None, OTHER_OWNER)


def _missing(episode: Episode, steps: Sequence[Step]) -> list[Fault]:
    """Steps that the episode has taken and the log has not, or the other way."""
    there, taken = {row.number for row in steps}, set(range(1, episode.step + 1))
    gone = [Fault(number, MISSING) for number in taken - there]
    return gone + [Fault(number, OTHER_STATE) for number in there - taken]


def _broken(
    episode: Episode, steps: Sequence[Step], verdict: EpisodeVerdict, *, of_before: bool
) -> Iterator[Fault]:
    """Every link that does not fit. It is gone on from what is written, so that each is found by itself."""
    chain, unchained, chained = chain_begin(episode), 0, False
    for row in steps:
        chain = chain_next(chain, vars(row))
        if not row.chain:
            unchained += 1
            if not of_before:
                yield Fault(row.number, NO_CHAIN)
            continue
        if row.chain != chain:
            yield Fault(row.number, _why(row.number, unchained))
        chain, unchained, chained = row.chain, 0, True
    verdict.chain = "" if unchained else chain
    verdict.before_chains = 0 if chained else unchained
    if of_before and chained and unchained:
        yield Fault(steps[-unchained].number, UNCHAINED)


def _why(number: int, unchained: int) -> str:
    """A link holds the steps without one before it, too."""
    return f"{CHANGED}, or one of the {unchained} steps before it" if unchained else CHANGED


def _same_commands(entries: Sequence[Any], given: Sequence[SeatCommand]) -> bool:
    """What a step ran with is what is stored for its seats, in whatever order it ran."""
    try:
        ran = {entry["seat"]: entry for entry in entries}
    except (KeyError, TypeError):  # something else was written there
        return False
    return ran == {row.seat: log_entry(row) for row in given}
