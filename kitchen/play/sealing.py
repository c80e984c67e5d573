"""Sealing what an episode has come to, in the transaction that ends it.

The chain finds a step that was changed. Whoever writes the chain anew, cuts steps off the end, or changes
what it does not hold (decisions, calls, whose episode it is) is found by the seal: it needs this
installation's key. Whom an episode belongs to is said by whoever knows (`episodes_belong_by`).
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db.models import Case, F, QuerySet, When

from kitchen.contract.world import Json, text_hash
from kitchen.machine.sealed import columns, plain, same_text, seal_fits, seal_of
from kitchen.play.dropping import OVER
from kitchen.play.episode_log import log_metrics_store
from kitchen.play.models import (
    CallMessage,
    Decision,
    Episode,
    Message,
    Mind,
    ModelCall,
    Seal,
    Seat,
    SeatCommand,
    StateChange,
    Step,
)

PURPOSE = "episode"
STATE, CHAIN, LOG, BELONGS = "state", "chain", "log", "belongs"
"""Facts that are not columns: the state, the last link, everything beside the steps, and whose it is."""
COLUMNS = (
    *("world", "world_version", "settings", "seed", "label", "synthetic", "hints", "until", "audience"),
    *("thinking_seconds", "decision_seconds", "step_seconds", "created_at", "organisation"),
    *("status", "ended_because", "ended_at", "step", "state_hash", "score"),
    *("shown", "asks_first", "three_dimensions", "shows_intents", "passes_by", "knowing", "offers_plans"),
    *("absence", "gone", "tick_ms"),
)
"""Columns of an episode that nobody changes once it is over."""

LATER: Mapping[Any, Sequence[str]] = {
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
class Facts:
    """What is to be sealed of one episode."""

    episode: Episode
    values: dict[str, Json] = field(default_factory=dict)


def episodes_belong_by(owners: Owners) -> None:
    """From now on it is sealed what episodes belong to by these words, too."""
    if owners not in _owners:
        _owners.append(owners)


def episode_seal(episode: Episode) -> None:
    """Compute the figures of an episode that has ended in this transaction, and seal it. Everything else of
    it is written already."""
    log_metrics_store(episode)
    seals_write(drafts_of([episode.pk]))


def drafts_of(ids: Sequence[int]) -> list[Facts]:
    """All that is sealed of those of these episodes that are over but whose they are: reading it takes a
    while."""
    over = Episode.objects.filter(pk__in=ids).exclude(status=Episode.Status.PLAYING)
    return facts_of(over.order_by("pk"))


def seals_write(drafts: Sequence[Facts]) -> None:
    """Seal these ends. Needs a transaction around it."""
    owned = belongings([each.episode.pk for each in drafts])
    for each in drafts:
        each.values[BELONGS] = owned[each.episode.pk]
    Seal.objects.bulk_create(_seal(each) for each in drafts)


def _seal(draft: Facts) -> Seal:
    mac = seal_of(PURPOSE, _sealed(Seal.Kind.END, draft.episode, draft.values))
    return Seal(episode=draft.episode, kind=Seal.Kind.END, facts=draft.values, mac=mac)


def is_genuine(seal: Seal, episode: Episode) -> bool:
    """Whether this installation, with the key that it has now, has made this seal for this episode."""
    return seal_fits(seal.mac, PURPOSE, _sealed(seal.kind, episode, seal.facts))


def _sealed(kind: str, episode: Episode, facts: Mapping[str, Json]) -> list[Json]:
    return [str(kind), episode.key.hex, dict(facts)]


def belongings(ids: Sequence[int]) -> dict[int, list[Json]]:
    """What each of these episodes belongs to, hashed: what is erased cannot be read from it."""
    found: dict[int, list[Json]] = {each: [] for each in ids}
    for owners in _owners:
        for episode_id, said in owners(ids).items():
            found[episode_id] += [seal_of(BELONGS, [episode_id, each]) for each in said]
    return {each: sorted(said) for each, said in found.items()}


def facts_of(episodes: Iterable[Episode]) -> list[Facts]:
    """As these episodes are stored now."""
    rows = list(episodes)
    ids = [episode.pk for episode in rows]
    chains, logs = _chains(ids), _logs(rows)
    return [
        Facts(
            episode,
            {
                **dict(zip(COLUMNS, columns(episode, COLUMNS), strict=True)),
                STATE: text_hash(same_text(episode.state)),
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
            said = _without_later(values, len(LATER.get(rows.model, ())))
            hashes[episode_id].update(f"{same_text([plain(value) for value in said])}\n".encode())
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
    later = LATER.get(model, ())
    left_out = {"id", "mind", "step", "decision", "episode", *more, *later}
    return [*sorted(one.name for one in model._meta.concrete_fields if one.name not in left_out), *later]
