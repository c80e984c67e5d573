"""Sign the log of an episode when it ends, and check later that the stored log was not changed.

The log is a hash chain: each step has a hash of itself and of all steps before it. The signature, called a
seal, uses this installation's secret key. It covers steps, decisions, model calls, and the owners of the
episode (the participants who played it). `register_owners` registers a function that finds the owners.
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
    ProbeAnswer,
    Prompt,
    Seal,
    Seat,
    SeatCommand,
    SliderRating,
    StateChange,
    Step,
)
from kitchen.play.turn.decision_records import OVER
from kitchen.play.turn.probe_holds import mark_unanswered
from kitchen.play.turn.state_store import verify_changes
from kitchen.play.turn.step_store import command_log_entry, first_chain_hash, next_chain_hash

SEAL_PURPOSE = "episode"
STATE, CHAIN, LOG, BELONGS = "state", "chain", "log", "belongs"
"""Sealed facts that are not columns: the state, the last link of the chain, the log besides the steps, and
the owners.
"""
SEALED_COLUMNS = (
    *("world", "world_version", "settings", "seed", "label", "synthetic", "hints", "until", "audience"),
    *("thinking_seconds", "decision_seconds", "step_seconds", "created_at", "organisation"),
    *("status", "ended_because", "ended_at", "step", "state_hash", "score"),
    *("shown", "asks_first", "three_dimensions", "shows_intents", "passes_by", "knowing", "offers_plans"),
    *("absence", "gone", "tick_ms", "goal", "recommends_sound", "hides_dots", "star_targets"),
    *("order_choices", "probes", "rating_slider"),
)
"""Columns of an episode that do not change once it is over."""

LATER_COLUMNS: Mapping[Any, Sequence[str]] = {
    Decision: ("because", "dropped", "number", "seen_step"),
    ModelCall: ("parameters", "reasoning", "tokens_thinking"),
    Seat: ("leads",),
    SeatCommand: ("planned_in", "to_follow"),
}
"""Columns added to a log table after some rows were sealed without them. They are empty in those rows."""
NEWEST_COLUMNS: Mapping[Any, int] = {ModelCall: 1}
"""How many of these columns, the last ones, were added after some rows were sealed with the others."""


Owners = Callable[[Sequence[int]], Mapping[int, Sequence[Json]]]
"""Function from episode ids to the owners of each episode."""
_owners: list[Owners] = []


@dataclass(slots=True)
class SealedFacts:
    """The values of one episode that its seal signs, by name."""

    episode: Episode
    values: dict[str, Json] = field(default_factory=dict)


def register_owners(owners: Owners) -> None:
    """Register a function that returns the owners of episodes, such as the participants who played them. The
    seals (signed hashes) of episodes then cover their owners, too."""
    if owners not in _owners:
        _owners.append(owners)


def seal_episode(episode: Episode) -> None:
    """Store the metrics of an episode that ends in this transaction, and its seal (a signed hash of its
    data). Everything else about the episode must already be stored."""
    mark_unanswered(episode)
    store_log_metrics(episode)
    write_seals(seal_drafts([episode.pk]))


def seal_drafts(ids: Sequence[int]) -> list[SealedFacts]:
    """Return the values to seal (sign) for the episodes with these ids, without the owners. Episodes that are
    still being played are left out. Slow, because it reads the logs."""
    over = Episode.objects.filter(pk__in=ids).exclude(status=Episode.Status.PLAYING)
    return sealed_facts_of(over.order_by("pk"))


def write_seals(drafts: Sequence[SealedFacts]) -> None:
    """Store the seals (signed hashes) of episodes. `drafts` are the values that `seal_drafts` returned; the
    owners are added here. Call this inside a transaction."""
    owned = owner_hashes([each.episode.pk for each in drafts])
    for each in drafts:
        each.values[BELONGS] = owned[each.episode.pk]
    kind = Seal.Kind.END
    Seal.objects.bulk_create(
        Seal(
            episode=each.episode,
            kind=kind,
            facts=each.values,
            mac=make_seal(SEAL_PURPOSE, _sealed(kind, each.episode, each.values)),
        )
        for each in drafts
    )


def _sealed(kind: str, episode: Episode, facts: Mapping[str, Json]) -> list[Json]:
    return [str(kind), episode.key.hex, dict(facts)]


def owner_hashes(ids: Sequence[int]) -> dict[int, list[Json]]:
    """Return the owners of each episode (such as participants) as hashes, by episode id. Personal data
    cannot be read from a hash."""
    found: dict[int, list[Json]] = {each: [] for each in ids}
    for owners in _owners:
        for episode_id, said in owners(ids).items():
            found[episode_id] += [make_seal(BELONGS, [episode_id, each]) for each in said]
    return {each: sorted(said) for each, said in found.items()}


def sealed_facts_of(episodes: Iterable[Episode]) -> list[SealedFacts]:
    """Return the present values that a seal (signed hash) covers, for each of these episodes. The owners are
    left out."""
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
    """Return the last hash in each episode's hash chain of steps, by episode id."""
    last = Step.objects.filter(episode__in=ids, number=F("episode__step"))
    return dict(last.order_by().values_list("episode", "chain"))


def _logs(episodes: Sequence[Episode]) -> dict[int, str]:
    """Return a hash of the parts of each episode's log that are not steps, such as decisions."""
    hashes: dict[int, Any] = defaultdict(hashlib.sha256)
    ids = [episode.pk for episode in episodes]
    for rows in _beside_steps(ids):
        for episode_id, *values in rows.iterator(chunk_size=500):
            later, newest = len(LATER_COLUMNS.get(rows.model, ())), NEWEST_COLUMNS.get(rows.model, 0)
            said = _without_columns_of_later(values, later, newest)
            hashes[episode_id].update(f"{canonical_text([plain_json(value) for value in said])}\n".encode())
    return {each: hashes[each].hexdigest() for each in ids}


def _without_later(values: list[Any], later: int) -> list[Any]:
    """Return the row without its last `later` columns if these are empty. Rows from versions without these
    columns were hashed without them."""
    return values if any(values[len(values) - later :]) else values[: len(values) - later]


def _without_columns_of_later(values: list[Any], later: int, newest: int) -> list[Any]:
    """Return the row without the columns that its version did not have. Of the last `later` columns, the last
    `newest` were added last of all. Rows with a value in these have all columns."""
    older = _without_later(values, newest)
    return values if newest and len(older) == len(values) else _without_later(older, later - newest)


def _beside_steps(ids: Sequence[int]) -> list[QuerySet[Any, Any]]:
    """Return queries for the parts of the log that are not steps, in chronological order.

    They cover players, decisions before the end, model calls, messages and changes of large state parts.
    Commands of a step that was never taken are included, too. Each row begins with its episode's id and
    contains no other id.
    """
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
        _rows(
            ProbeAnswer.objects.filter(episode__in=ids),
            *("episode", "step", "seat", "probe"),
            *_others(ProbeAnswer, "seat", "probe"),
        ),
        _rows(
            SliderRating.objects.filter(episode__in=ids),
            *("episode", "seat", "step", "value", "rated_at"),
            by=["episode", "id"],
        ),
    ]


def _rows(rows: QuerySet[Any], *names: str, by: Sequence[str] = ()) -> QuerySet[Any, Any]:
    """Return the values of the columns `names` in these rows, ordered by the columns `by`. By default, the
    first five columns determine the order."""
    return rows.order_by(*(by or names[:5])).values_list(*names)


def _others(model: Any, *more: str) -> list[str]:
    """Return the names of the model's columns that are part of the hash, sorted. Ids and the columns in
    `more` are left out. Columns added in later versions come last."""
    later = LATER_COLUMNS.get(model, ())
    left_out = {"id", "mind", "step", "decision", "episode", *more, *later}
    return [*sorted(one.name for one in model._meta.concrete_fields if one.name not in left_out), *later]


EPISODES_PER_READ = 20
"""Number of episodes read together."""

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
"""Names of the sealed facts that are not columns."""


@dataclass(frozen=True, slots=True)
class LogFault:
    """A fault in a stored log: in one step, or in the episode as a whole if `step` is None."""

    step: int | None
    why: str

    def __str__(self) -> str:
        return self.why if self.step is None else f"step {self.step} {self.why}"


@dataclass(slots=True)
class LogVerdict:
    """The result of verifying the log of one episode."""

    episode: str
    """The episode's key."""
    steps: int = 0
    before_chains: int = 0
    """Number of steps without a chain: an older version took them, and no step with a chain follows."""
    is_over: bool = True
    """False while the episode is played: its steps are verified so far, and nothing is sealed yet."""
    is_sealed: bool = False
    """Whether the episode was sealed when it ended. If `holds`, too, nothing was changed since."""
    chain: str = ""
    """The hash chain after the last step. A copy kept elsewhere shows later whether the log was rewritten."""
    faults: list[LogFault] = field(default_factory=list)

    @property
    def holds(self) -> bool:
        """Return True if no fault was found."""
        return not self.faults


def verify_episode_logs(episodes: QuerySet[Episode]) -> Iterator[LogVerdict]:
    """Yield the verification result of each episode, ordered by id. Episodes that are erased during the
    check are left out."""
    ids = list(episodes.order_by("pk").values_list("pk", flat=True))
    for begin in range(0, len(ids), EPISODES_PER_READ):
        yield from _verdicts(ids[begin : begin + EPISODES_PER_READ])


@dataclass(slots=True)
class _Read:
    """Rows read together for some episodes, by episode id."""

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
    """Return the ids of those episodes that used a prompt whose text does not match its hash."""
    used = CallMessage.objects.filter(call__decision__mind__episode__in=ids)
    texts = Prompt.objects.filter(pk__in=used.values("prompt"))
    changed = [row.hash for row in texts.iterator() if text_hash(row.text) != row.hash]
    users = used.filter(prompt__in=changed) if changed else used.none()
    return set(users.order_by().values_list("call__decision__mind__episode", flat=True))


def _verdict(episode: Episode, read: _Read) -> LogVerdict:
    steps, seals = read.steps[episode.pk], read.seals[episode.pk]
    over = episode.status != Episode.Status.PLAYING
    if not over:  # leave out steps taken since the episode was read
        steps = [row for row in steps if row.number <= episode.step]
    sealed = Seal.Kind.END in seals
    verdict = LogVerdict(str(episode.key), len(steps), is_over=over, is_sealed=sealed)
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
    """Yield a fault for each mismatch of the episode's stored state: with its own hash, with the last step's
    hash, or with the stored large parts."""
    if canonical_hash(episode.state) != episode.state_hash:
        yield LogFault(None, NOT_ITS_HASH)
    if steps and steps[-1].number == episode.step and steps[-1].state_hash != episode.state_hash:
        yield LogFault(episode.step, OTHER_STATE)
    for step, part in verify_changes(episode):
        yield LogFault(step, OTHER_PART.format(part=part))


def _unsealed(episode: Episode, seals: Mapping[str, Seal], read: _Read) -> Iterator[LogFault]:
    """Yield the faults in the seals of an episode: a missing seal after the episode's end, or a seal with a
    wrong signature. Differences between the episode and its seal are faults, too."""
    over = episode.status != Episode.Status.PLAYING
    if over and not seals:
        yield LogFault(None, UNSEALED)
    for seal in seals.values():
        was_over = seal.facts.get("status") != Episode.Status.PLAYING
        if not seal_is_valid(seal.mac, SEAL_PURPOSE, _sealed(seal.kind, episode, seal.facts)):
            yield LogFault(None, FALSE_SEAL)
        elif was_over and (over or seal.kind == Seal.Kind.BEFORE):
            yield from _otherwise(seal.facts, read.facts[episode.pk], read.belongs[episode.pk])


def _otherwise(
    sealed: Mapping[str, Json], now: Mapping[str, Json], belongs: Sequence[Json]
) -> Iterator[LogFault]:
    for name in sorted(sealed.keys() & now.keys()):
        if canonical_text(sealed[name]) != canonical_text(now[name]):
            yield LogFault(None, f"its {SEALED_PARTS_IN_WORDS.get(name, name)} is not what was sealed")
    if BELONGS in sealed and set(belongs) - set(sealed[BELONGS]):  # owners who withdrew are missing
        yield LogFault(None, OTHER_OWNER)


def _missing(episode: Episode, steps: Sequence[Step]) -> list[LogFault]:
    """Return a fault for each step that the episode has taken but that is missing in the log. Steps that are
    in the log but were not taken are faults, too."""
    there, taken = {row.number for row in steps}, set(range(1, episode.step + 1))
    gone = [LogFault(number, MISSING) for number in taken - there]
    return gone + [LogFault(number, OTHER_STATE) for number in there - taken]


def _broken(
    episode: Episode, steps: Sequence[Step], verdict: LogVerdict, *, of_before: bool
) -> Iterator[LogFault]:
    """Yield a fault for each step whose stored hash does not match. The check continues from the stored hash,
    so a wrong step does not make later steps fail.

    The state of the hash chain is stored in `verdict`. `of_before` is True for an episode that may have steps
    from versions without hashes.
    """
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
    """Return a text for a step whose hash is wrong. `unchained` counts the steps directly before it that have
    no hash of their own. The wrong hash covers those steps, too."""
    return f"{STEP_CHANGED}, or one of the {unchained} steps before it" if unchained else STEP_CHANGED


def _same_commands(entries: Sequence[Any], given: Sequence[SeatCommand]) -> bool:
    """Return whether a step's log entry lists the same commands as those stored for the seats. The order does
    not matter."""
    try:
        ran = {entry["seat"]: entry for entry in entries}
    except (KeyError, TypeError):  # the entry has another form
        return False
    return ran == {row.seat: command_log_entry(row) for row in given}
