"""Seal an episode when it ends, and verify that stored logs are unchanged.

The hash chain reveals a changed step. The seal needs this installation's key. It reveals a rewritten chain,
and steps cut off at the end. It also reveals changes to what the chain does not cover (decisions, calls,
owners). Owners are given by registered functions (`register_owners`).

Verification checks the hash chain of each episode (`kitchen.play.turn.state_store`). It checks that no step
is missing, and that steps ran with the commands of the seats. It checks that the log and the changes of large
parts lead to the stored state. It checks the seal once the episode is over. It locks nothing, and it does not
replay the world.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db.models import Case, F, QuerySet, When

from kitchen.contract.world import Json, canonical_hash, text_hash
from kitchen.infra.hmac_seals import canonical_text, column_values, make_seal, plain_json, seal_is_valid
from kitchen.play.episode.log_metrics import store_log_metrics
from kitchen.play.models import (
    CallMessage,
    Decision,
    Episode,
    Message,
    Mind,
    ModelCall,
    Prompt,
    Seal,
    Seat,
    SeatCommand,
    StateChange,
    Step,
)
from kitchen.play.turn.decision_records import OVER
from kitchen.play.turn.state_store import command_log_entry, first_chain_hash, next_chain_hash, verify_changes

SEAL_PURPOSE = "episode"
STATE, CHAIN, LOG, BELONGS = "state", "chain", "log", "belongs"
"""Facts that are not columns: the state, the last link, everything beside the steps, and whose it is."""
SEALED_COLUMNS = (
    *("world", "world_version", "settings", "seed", "label", "synthetic", "hints", "until", "audience"),
    *("thinking_seconds", "decision_seconds", "step_seconds", "created_at", "organisation"),
    *("status", "ended_because", "ended_at", "step", "state_hash", "score"),
    *("shown", "asks_first", "three_dimensions", "shows_intents", "passes_by", "knowing", "offers_plans"),
    *("absence", "gone", "tick_ms"),
)
"""Columns of an episode that nobody changes once it is over."""

LATER_COLUMNS: Mapping[Any, Sequence[str]] = {
    Decision: ("because", "dropped", "number", "seen_step"),
    ModelCall: ("parameters", "reasoning"),
    Seat: ("leads",),
    SeatCommand: ("planned_in", "to_follow"),
}
"""Columns that a table of the log got when there were sealed rows without them: those say nothing there."""


Owners = Callable[[Sequence[int]], Mapping[int, Sequence[Json]]]
"""From the ids of episodes to what each belongs to."""
_owners: list[Owners] = []


@dataclass(slots=True)
class SealedFacts:
    """What is to be sealed of one episode."""

    episode: Episode
    values: dict[str, Json] = field(default_factory=dict)


def register_owners(owners: Owners) -> None:
    """From now on it is sealed what episodes belong to by these words, too."""
    if owners not in _owners:
        _owners.append(owners)


def seal_episode(episode: Episode) -> None:
    """Compute the figures of an episode that has ended in this transaction, and seal it. Everything else of
    it is written already."""
    store_log_metrics(episode)
    write_seals(seal_drafts([episode.pk]))


def seal_drafts(ids: Sequence[int]) -> list[SealedFacts]:
    """All that is sealed of those of these episodes that are over but whose they are: reading it takes a
    while."""
    over = Episode.objects.filter(pk__in=ids).exclude(status=Episode.Status.PLAYING)
    return sealed_facts_of(over.order_by("pk"))


def write_seals(drafts: Sequence[SealedFacts]) -> None:
    """Seal these ends. Needs a transaction around it."""
    owned = owner_hashes([each.episode.pk for each in drafts])
    for each in drafts:
        each.values[BELONGS] = owned[each.episode.pk]
    Seal.objects.bulk_create(_seal(each) for each in drafts)


def _seal(draft: SealedFacts) -> Seal:
    mac = make_seal(SEAL_PURPOSE, _sealed(Seal.Kind.END, draft.episode, draft.values))
    return Seal(episode=draft.episode, kind=Seal.Kind.END, facts=draft.values, mac=mac)


def is_seal_genuine(seal: Seal, episode: Episode) -> bool:
    """Whether this installation, with the key that it has now, has made this seal for this episode."""
    return seal_is_valid(seal.mac, SEAL_PURPOSE, _sealed(seal.kind, episode, seal.facts))


def _sealed(kind: str, episode: Episode, facts: Mapping[str, Json]) -> list[Json]:
    return [str(kind), episode.key.hex, dict(facts)]


def owner_hashes(ids: Sequence[int]) -> dict[int, list[Json]]:
    """What each of these episodes belongs to, hashed: what is erased cannot be read from it."""
    found: dict[int, list[Json]] = {each: [] for each in ids}
    for owners in _owners:
        for episode_id, said in owners(ids).items():
            found[episode_id] += [make_seal(BELONGS, [episode_id, each]) for each in said]
    return {each: sorted(said) for each, said in found.items()}


def sealed_facts_of(episodes: Iterable[Episode]) -> list[SealedFacts]:
    """As these episodes are stored now."""
    rows = list(episodes)
    ids = [episode.pk for episode in rows]
    chains, logs = _chains(ids), _logs(rows)
    return [
        SealedFacts(
            episode,
            {
                **dict(zip(SEALED_COLUMNS, column_values(episode, SEALED_COLUMNS), strict=True)),
                STATE: text_hash(canonical_text(episode.state)),
                CHAIN: chains.get(episode.pk, ""),
                LOG: logs[episode.pk],
            },
        )
        for episode in rows
    ]


def _chains(ids: Sequence[int]) -> dict[int, str]:
    """The last link of each."""
    last = Step.objects.filter(episode__in=ids, number=F("episode__step"))
    return dict(last.order_by().values_list("episode", "chain"))


def _logs(episodes: Sequence[Episode]) -> dict[int, str]:
    """A hash of all that is written of each episode beside its steps."""
    hashes: dict[int, Any] = defaultdict(hashlib.sha256)
    ids = [episode.pk for episode in episodes]
    for rows in _beside_steps(ids):
        for episode_id, *values in rows.iterator(chunk_size=500):
            said = _without_later(values, len(LATER_COLUMNS.get(rows.model, ())))
            hashes[episode_id].update(f"{canonical_text([plain_json(value) for value in said])}\n".encode())
    return {each: hashes[each].hexdigest() for each in ids}


def _without_later(values: list[Any], later: int) -> list[Any]:
    """A row as it was hashed when so many of its last columns were not there yet, if they say nothing."""
    return values if any(values[len(values) - later :]) else values[: len(values) - later]


def _beside_steps(ids: Sequence[int]) -> list[QuerySet[Any, Any]]:
    """Who played, what they decided before the end, what models were asked and answered, commands of a step
    that was never taken, what was said, what large parts of the state became: each row begins with its
    episode and names no id; they come in the order of what happened."""
    decision, call = ("mind__episode", "mind__number", "step"), "decision__mind__"
    of_call = (f"{call}episode", f"{call}number", "decision__step", "number")
    of_message = tuple(f"call__{name}" for name in of_call)
    decisions = Decision.objects.filter(mind__episode__in=ids).exclude(dropped=OVER)
    calls = ModelCall.objects.filter(decision__in=decisions)
    seats = Seat.objects.filter(episode__in=ids).annotate(leads=Case(When(acts=False, then=True)))
    not_taken = SeatCommand.objects.filter(episode__in=ids, step__gt=F("episode__step"))
    return [
        _rows(Mind.objects.filter(episode__in=ids), "episode", "number", "kind", "settings"),
        _rows(seats, "episode", "number", "name", "mind__number", "leads"),
        _rows(decisions, *decision, *_others(Decision), by=[*decision, "number"]),
        _rows(calls, *of_call, *_others(ModelCall, "number"), by=["decision__number", *of_call]),
        _rows(
            CallMessage.objects.filter(call__in=calls),
            *of_message,
            "position",
            "role",
            "prompt_id",
            by=["call__decision__number", *of_message, "position"],
        ),
        _rows(not_taken, "episode", "step", "seat", *_others(SeatCommand, "seat")),
        _rows(
            Message.objects.filter(episode__in=ids), "episode", "number", "step", *_others(Message, "number")
        ),
        _rows(StateChange.objects.filter(episode__in=ids), "episode", "step", "part", "is_whole", "root"),
    ]


def _rows(rows: QuerySet[Any], *names: str, by: Sequence[str] = ()) -> QuerySet[Any, Any]:
    """Ordered by the first columns, or `by` these, which tell the rows of one episode apart."""
    return rows.order_by(*(by or names[:5])).values_list(*names)


def _others(model: Any, *more: str) -> list[str]:
    """The columns that say what happened, by name; those that came later last."""
    later = LATER_COLUMNS.get(model, ())
    left_out = {"id", "mind", "step", "decision", "episode", *more, *later}
    return [*sorted(one.name for one in model._meta.concrete_fields if one.name not in left_out), *later]


EPISODES_PER_READ = 20
"""Episodes that are read together."""

STEP_CHANGED = "is not what was written"
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
SEALED_PARTS_IN_WORDS = {CHAIN: "last hash", LOG: "log of decisions, calls and who played"}
"""Sealed facts that are no columns."""


@dataclass(frozen=True, slots=True)
class LogFault:
    """A step, or where none is named the episode itself, that is not as it was written."""

    step: int | None
    why: str

    def __str__(self) -> str:
        return self.why if self.step is None else f"step {self.step} {self.why}"


@dataclass(slots=True)
class LogVerdict:
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
    faults: list[LogFault] = field(default_factory=list)

    @property
    def holds(self) -> bool:
        """Nothing was found."""
        return not self.faults


def verify_episode_logs(episodes: QuerySet[Episode]) -> Iterator[LogVerdict]:
    """A verdict for each of these episodes, in the order of their ids; for those that are erased meanwhile
    none."""
    ids = list(episodes.order_by("pk").values_list("pk", flat=True))
    for begin in range(0, len(ids), EPISODES_PER_READ):
        yield from _verdicts(ids[begin : begin + EPISODES_PER_READ])


@dataclass(slots=True)
class _Read:
    """What is read together of some episodes, by their ids."""

    facts: Mapping[int, Mapping[str, Json]]
    belongs: dict[int, list[Json]]
    other_prompts: set[int]
    seals: dict[int, dict[str, Seal]] = field(default_factory=lambda: defaultdict(dict))
    commands: dict[tuple[int, int], list[SeatCommand]] = field(default_factory=lambda: defaultdict(list))
    steps: dict[int, list[Step]] = field(default_factory=lambda: defaultdict(list))


def _verdicts(ids: Sequence[int]) -> Iterator[LogVerdict]:
    episodes = list(Episode.objects.filter(pk__in=ids).order_by("pk"))
    read = _read(ids, episodes)
    for episode in episodes:
        verdict = _verdict(episode, read)
        if verdict.holds or Episode.objects.filter(pk=episode.pk).exists():
            yield verdict


def _read(ids: Sequence[int], episodes: Sequence[Episode]) -> _Read:
    facts = {each.episode.pk: each.values for each in sealed_facts_of(episodes)}
    read = _Read(facts, owner_hashes(ids), _other_prompts(ids))
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


def _verdict(episode: Episode, read: _Read) -> LogVerdict:
    steps, seals = read.steps[episode.pk], read.seals[episode.pk]
    over = episode.status != Episode.Status.PLAYING
    if not over:  # steps that were taken since it was read
        steps = [row for row in steps if row.number <= episode.step]
    verdict = LogVerdict(str(episode.key), len(steps), is_over=over)
    verdict.faults += _missing(episode, steps)
    verdict.faults += _broken(episode, steps, verdict, of_before=Seal.Kind.BEFORE in seals)
    for row in steps:
        if not _same_commands(row.commands, read.commands[episode.pk, row.number]):
            verdict.faults.append(LogFault(row.number, OTHER_COMMANDS))
    verdict.faults += _state(episode, steps)
    verdict.faults += _unsealed(episode, seals, read)
    if episode.pk in read.other_prompts:
        verdict.faults.append(LogFault(None, OTHER_PROMPT))
    verdict.faults.sort(key=lambda fault: fault.step or 0)
    return verdict


def _state(episode: Episode, steps: Sequence[Step]) -> Iterator[LogFault]:
    """The state is that of its hash, the hash that of the last step, and the large parts those of the
    state."""
    if canonical_hash(episode.state) != episode.state_hash:
        yield LogFault(None, NOT_ITS_HASH)
    if steps and steps[-1].number == episode.step and steps[-1].state_hash != episode.state_hash:
        yield LogFault(episode.step, OTHER_STATE)
    for step, part in verify_changes(episode):
        yield LogFault(step, OTHER_PART.format(part=part))


def _unsealed(episode: Episode, seals: Mapping[str, Seal], read: _Read) -> Iterator[LogFault]:
    """What is not as the seals say. An episode of before seals may have been ended by a program of before."""
    over = episode.status != Episode.Status.PLAYING
    if over and not seals:
        yield LogFault(None, UNSEALED)
    for seal in seals.values():
        was_over = seal.facts.get("status") != Episode.Status.PLAYING
        if not is_seal_genuine(seal, episode):
            yield LogFault(None, FALSE_SEAL)
        elif was_over and (over or seal.kind == Seal.Kind.BEFORE):
            yield from _otherwise(seal.facts, read.facts[episode.pk], read.belongs[episode.pk])


def _otherwise(
    sealed: Mapping[str, Json], now: Mapping[str, Json], belongs: Sequence[Json]
) -> Iterator[LogFault]:
    for name in sorted(sealed.keys() & now.keys()):
        if canonical_text(sealed[name]) != canonical_text(now[name]):
            yield LogFault(None, f"its {SEALED_PARTS_IN_WORDS.get(name, name)} is not what was sealed")
    if BELONGS in sealed and set(belongs) - set(sealed[BELONGS]):  # who left is gone
        yield LogFault(None, OTHER_OWNER)


def _missing(episode: Episode, steps: Sequence[Step]) -> list[LogFault]:
    """Steps that the episode has taken and the log has not, or the other way."""
    there, taken = {row.number for row in steps}, set(range(1, episode.step + 1))
    gone = [LogFault(number, MISSING) for number in taken - there]
    return gone + [LogFault(number, OTHER_STATE) for number in there - taken]


def _broken(
    episode: Episode, steps: Sequence[Step], verdict: LogVerdict, *, of_before: bool
) -> Iterator[LogFault]:
    """Every link that does not fit. It is gone on from what is written, so that each is found by itself."""
    chain, unchained, chained = first_chain_hash(episode), 0, False
    for row in steps:
        chain = next_chain_hash(chain, vars(row))
        if not row.chain:
            unchained += 1
            if not of_before:
                yield LogFault(row.number, NO_CHAIN)
            continue
        if row.chain != chain:
            yield LogFault(row.number, _why(row.number, unchained))
        chain, unchained, chained = row.chain, 0, True
    verdict.chain = "" if unchained else chain
    verdict.before_chains = 0 if chained else unchained
    if of_before and chained and unchained:
        yield LogFault(steps[-unchained].number, UNCHAINED)


def _why(number: int, unchained: int) -> str:
    """A link holds the steps without one before it, too."""
    return f"{STEP_CHANGED}, or one of the {unchained} steps before it" if unchained else STEP_CHANGED


def _same_commands(entries: Sequence[Any], given: Sequence[SeatCommand]) -> bool:
    """What a step ran with is what is stored for its seats, in whatever order it ran."""
    try:
        ran = {entry["seat"]: entry for entry in entries}
    except (KeyError, TypeError):  # something else was written there
        return False
    return ran == {row.seat: command_log_entry(row) for row in given}
