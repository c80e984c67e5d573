"""Store agents' decisions with their model calls, and read facts from stored decisions.

These facts are intents (what an agent is about to do), predictions, and errors in model replies. A decision
that came too late is stored with its cost, but has no effect. A prompt text is stored once and shared by all
calls that send it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from datetime import timedelta
from typing import Any

from django.db import OperationalError, transaction
from django.db.models import Count, Max, Q, QuerySet

from kitchen.contract.agent import REASON_TO_ANSWER, LateDecision, add_to_note
from kitchen.contract.agent import Decision as MindDecision
from kitchen.contract.canonical_json import text_hash
from kitchen.contract.decision_notes import (
    JUDGED_KEY,
    PREDICTED_KEY,
    Prediction,
    PredictionAccuracy,
    ReplyReadings,
    predictions_in,
    reading_from_faults,
)
from kitchen.contract.language_model import MAX_TOKENS_LIMIT, Call, Reply
from kitchen.contract.world import Command, Event, Intent, Json, World
from kitchen.infra.database_writes import insert_rows
from kitchen.infra.storable_json import storable_json, storable_text
from kitchen.llm.recorded_calls import request_texts
from kitchen.money.budget_ledger import ledger_amount
from kitchen.play.models import CallMessage, Decision, Episode, Mind, ModelCall, Prompt, Seat
from kitchen.play.turn.last_predictions import ByMind, judge_by_last_step

LEAST_THINKING = "least"
"""The recorded effort if none is requested: the least that the model can be set to."""

LOCK_TRIES = 10
"""Tries to lock prompts. A try fails only if a withdrawing participant's data are erased at that moment."""


DECISION_COLUMNS = tuple(one.attname for one in Decision._meta.concrete_fields if not one.primary_key)
"""The columns of the table of decisions, without its id."""


def store_decision_rows(rows: Sequence[Decision], *, with_ids: bool) -> None:
    """Insert rows of decisions. They get their ids only with `with_ids`, if other rows will refer to them.
    Without ids, `delayed_statements` may delay the statement."""
    if with_ids:
        Decision.objects.bulk_create(rows)
    else:
        insert_rows(Decision, [{name: getattr(row, name) for name in DECISION_COLUMNS} for row in rows])


def store_calls(decided: Sequence[tuple[Decision, Sequence[Call]]]) -> None:
    """Store the model calls of these decisions, in order.

    Call this last in a transaction: it locks prompt texts that other episodes also use.
    """
    numbered = [(row, *each) for row, calls in decided for each in enumerate(calls, start=1)]
    texts = {text_hash(text): text for _, _, call in numbered for text in _texts(call)}
    _hold_prompts(texts)
    for decision, number, call in numbered:
        row = ModelCall.objects.create(decision=decision, number=number, **_facts(call))
        CallMessage.objects.bulk_create(
            CallMessage(call=row, position=position, role=role, prompt_id=text_hash(text))
            for position, ((role, _), text) in enumerate(
                zip(request_texts(call.request), _texts(call), strict=True)
            )
        )


def _texts(call: Call) -> list[str]:
    return [storable_text(text) for _, text in request_texts(call.request)]


def _hold_prompts(texts: Mapping[str, str]) -> None:
    """Store these prompt texts (hash → text) once for all episodes, and lock them until the transaction ends.
    Raises OperationalError if prompts are erased in every try.

    If a text is being erased by a withdrawal at this moment, it is written again. All processes lock in the
    order of the hashes, so there is no deadlock.
    """
    hashes = sorted(texts)
    for _ in range(LOCK_TRIES if hashes else 0):
        with transaction.atomic():
            fresh = [Prompt(hash=hashed, text=texts[hashed]) for hashed in hashes]
            Prompt.objects.bulk_create(fresh, ignore_conflicts=True)
            if len(_locked(hashes, no_key=True)) == len(hashes):
                return
            transaction.set_rollback(True)
    if hashes:
        raise OperationalError(f"prompts were erased {LOCK_TRIES} times while they were written")


def _locked(hashes: Iterable[str], *, no_key: bool = False) -> list[str]:
    """Lock the prompts with these hashes until the transaction ends, and return the hashes that exist. The
    locks are taken in order."""
    rows = Prompt.objects.filter(hash__in=list(hashes)).select_for_update(no_key=no_key)
    return list(rows.order_by("hash").values_list("hash", flat=True))


def _facts(call: Call) -> dict[str, object]:
    request, reply = call.request, call.reply or Reply(call.raw, usage=call.usage)
    return {
        "provider": call.provider,
        "model_asked": storable_text(request.model)[:120],
        "model_named": storable_text(reply.model)[:120],
        "sampling": {
            "temperature": request.temperature,
            "max_tokens": request.max_tokens,
            "effort": request.effort or LEAST_THINKING,
            "tool": request.tool.name if request.tool else None,
        },
        "parameters": storable_json(dict(call.parameters)),
        "reply": storable_text(reply.text),
        "reply_call": storable_json(dict(reply.call)) if reply.call is not None else None,
        "stop": storable_text(reply.stop)[:40],
        "reasoning": storable_text(reply.reasoning),
        "error": call.error[:20],
        "error_text": storable_text(call.error_text),
        "attempts": storable_json([asdict(attempt) for attempt in call.attempts]),
        "seconds": call.seconds,
        "tokens_input": min(reply.usage.input, MAX_TOKENS_LIMIT),
        "tokens_output": min(reply.usage.output, MAX_TOKENS_LIMIT),
        "tokens_cache_read": min(reply.usage.cache_read, MAX_TOKENS_LIMIT),
        "tokens_cache_write": min(reply.usage.cache_write, MAX_TOKENS_LIMIT),
        "tokens_thinking": min(reply.usage.thinking, MAX_TOKENS_LIMIT),
        "cost": None if call.cost is None else ledger_amount(call.cost),
    }


def prompt_hashes_of(episode_ids: Iterable[int]) -> set[str]:
    """Return the hashes of all prompt texts that were sent to models in these episodes."""
    messages = CallMessage.objects.filter(call__decision__mind__episode__in=list(episode_ids))
    return set(messages.values_list("prompt_id", flat=True))


def unused_prompt_hashes() -> set[str]:
    """Return the hashes of all stored prompt texts that no model call refers to."""
    return set(Prompt.objects.filter(uses__isnull=True).values_list("hash", flat=True))


def erase_unused_prompts(hashes: Iterable[str]) -> int:
    """Erase the prompt texts with these hashes, unless a model call uses them. Return how many were erased.
    Call this inside a transaction.

    If another transaction is storing a call with one of the texts, this function waits and keeps the text.
    """
    locked = _locked(hashes)
    return Prompt.objects.filter(hash__in=locked, uses__isnull=True).delete()[0]


LATE = "late"
"""Value of `Decision.dropped`: the decision came after its time limit or after its step."""
OVER = "over"
"""Value of `Decision.dropped`: the decision came after the episode's end, and the seal does not cover it."""
REMEMBERED_STEPS = 20
"""Number of past steps whose late decisions an agent may be reminded of."""
DROPPED_KEY = "dropped"
"""Key in a note for what was not followed: `commands` and `plans` by seat, and the messages (`says`)."""

DecisionWithCalls = tuple[Decision, Sequence[Call]]
"""A decision that is not stored yet, with the model calls it took."""


def store_dropped_decisions(*, episode: Episode, rows: Sequence[DecisionWithCalls], why: str) -> bool:
    """Store decisions without effect, with their model calls and the reason `why`. After the episode's end,
    the reason is `OVER`. Returns False, and stores nothing, if the episode was erased."""
    with transaction.atomic():
        there = Episode.objects.select_for_update().filter(pk=episode.pk, key=episode.key).first()
        if there is None:
            return False
        numbers = _numbers(rows)
        for row, _ in rows:
            row.number = numbers[row.mind_id] + 1
            row.dropped = why if there.status == Episode.Status.PLAYING else OVER
        Decision.objects.bulk_create([row for row, _ in rows])
        store_calls(rows)
    return True


def _numbers(rows: Sequence[DecisionWithCalls]) -> dict[int, int]:
    """Return the number of each agent's last stored decision, by agent id. It is 0 if there is none."""
    minds = Mind.objects.filter(pk__in=[row.mind_id for row, _ in rows]).order_by()
    return {pk: last or 0 for pk, last in minds.values_list("pk").annotate(Max("decisions__number"))}


def late_decisions(minds: Sequence[Mind], step: int) -> dict[int, tuple[LateDecision, ...]]:
    """Return the recent decisions of these agents that arrived too late, by agent id. They belong to the last
    `REMEMBERED_STEPS` steps before `step`.

    Late decisions that the agent already knew of at its newest decision in time are left out.
    """
    if not minds:
        return {}
    rows = Decision.objects.filter(mind__in=minds, step__gte=step - REMEMBERED_STEPS, dropped__in=("", LATE))
    facts = ("mind", "step", "dropped", "decided_at", "milliseconds", "note")
    found = list(rows.order_by("number").values_list(*facts))
    asked = {
        mind: at - timedelta(milliseconds=took) for mind, _, dropped, at, took, _ in found if not dropped
    }
    late: dict[int, tuple[LateDecision, ...]] = {}
    for mind, of_step, dropped, at, _, note in found:
        if dropped and (mind not in asked or at > asked[mind]):
            late[mind] = (*late.get(mind, ()), LateDecision(of_step, _commanded(note)))
    return late


def _commanded(note: Json) -> dict[int, Command]:
    commands = note[DROPPED_KEY].get("commands", {}) if isinstance(note, dict) and DROPPED_KEY in note else {}
    return {int(seat): tuple(command) for seat, command in commands.items()}


def keep_in_note(decision: MindDecision) -> MindDecision:
    """Return the decision with its commands, plans and messages copied to its note. For a decision without
    effect, the note is the only place where these are stored."""
    dropped = {
        "commands": {str(seat): list(command) for seat, command in decision.commands.items()},
        "plans": {str(seat): [list(each) for each in plan] for seat, plan in decision.plans.items()},
        "says": [asdict(say) for say in decision.says],
    }
    note = decision.note if isinstance(decision.note, dict) else {"note": decision.note}
    return replace(
        decision,
        note={**note, DROPPED_KEY: storable_json({name: all_ for name, all_ in dropped.items() if all_})},
    )


def keep_words_only(row: Decision, decision: MindDecision) -> None:
    """Change the database row of a decision to that of an answer to a message. Its commands and plans are
    kept only in its note, without effect."""
    row.because = REASON_TO_ANSWER
    row.note = keep_in_note(replace(decision, says=(), note=row.note)).note


INTENTS_KEY = "intents"
"""Key in a note for the intents, by seat."""


def checked_intents(intents: Mapping[int, Intent]) -> dict[int, Intent]:
    """Return the intents by seat (what agents are about to do) in a form that the database can store.
    Raises TypeError if an intent is not a mapping of strings."""
    for seat, intent in intents.items():
        words = [*intent.keys(), *intent.values()] if isinstance(intent, Mapping) else [None]
        if not isinstance(seat, int) or not all(isinstance(word, str) for word in words):
            raise TypeError(f"what seat {seat!r} intends is {intent!r}, not words by name")
    return {seat: storable_json(dict(intent)) for seat, intent in intents.items()}


def note_with_intents(note: Json, intents: Mapping[int, Intent], seats: Collection[int]) -> Json:
    """Return the note of a decision with the intents of these seats (what the agent is about to do there).
    The note is unchanged if these seats have no intents."""
    said = {str(seat): dict(intent) for seat, intent in intents.items() if seat in seats}
    return add_to_note(note, INTENTS_KEY, said) if said else note


def stored_intents(episode: Episode) -> dict[int, Intent]:
    """Return what agents are about to do (their intents), by seat. They have stated it in their decisions for
    the last step."""
    decisions = Decision.objects.filter(mind__episode=episode, step=episode.step, dropped="")
    notes = decisions.order_by("pk").values_list("note", flat=True)
    said = [note[INTENTS_KEY] for note in notes if isinstance(note, dict) and INTENTS_KEY in note]
    return {int(seat): intent for each in said for seat, intent in each.items()}


def known_intents(world: World, seat: int, intents: Mapping[int, Intent]) -> dict[int, Intent]:
    """Return what agents in other seats are about to do (their intents), by seat. Only what this seat can see
    in the world is included."""
    return {
        other: intent
        for other, intent in intents.items()
        if other != seat and world.visible(seat, Event("intends", other, intent))
    }


def predictions_by_episode(episodes: Iterable[int]) -> Mapping[int, ByMind]:
    """Return the agents' predictions of what other seats will do next, by episode id and then by agent
    number. Dropped decisions are left out. Predictions that no decision judged are judged by the last
    step."""
    foresaw = Q(**{f"note__{PREDICTED_KEY}__isnull": False}) | Q(**{f"note__{JUDGED_KEY}__isnull": False})
    decisions = Decision.objects.filter(foresaw, mind__episode__in=episodes, dropped="").order_by("step")
    fields = ("mind__episode_id", "mind__number", f"note__{PREDICTED_KEY}", f"note__{JUDGED_KEY}")
    notes: dict[tuple[int, int], list[Any]] = defaultdict(list)
    for episode, mind, foreseen, judged in decisions.values_list(*fields):
        notes[episode, mind].append({PREDICTED_KEY: foreseen or (), JUDGED_KEY: judged or ()})
    found: dict[int, dict[int, Sequence[Prediction]]] = defaultdict(dict)
    for (episode, mind), several in sorted(notes.items()):
        found[episode][mind] = predictions_in(several)
    return judge_by_last_step(found)


def prediction_accuracy(by_mind: ByMind) -> PredictionAccuracy:
    """Return how often the agents predicted correctly what other seats would do, over all agents. `by_mind`
    has each agent's predictions, by agent number."""
    return PredictionAccuracy.of(one for several in by_mind.values() for one in several)


def reply_readings_by_episode(decisions: QuerySet[Decision]) -> Mapping[int, ReplyReadings]:
    """Return by episode id how many model replies could be read completely, in part or not at all. Dropped
    decisions are left out."""
    read = decisions.filter(dropped="", note__faults__isnull=False).order_by()
    fields = (f"note__{name}" for name in ("faults", "mended", "asked"))
    notes = read.values_list("mind__episode", "mind", *fields).annotate(number=Count("pk"))
    seats = seat_counts_of_minds(decisions.order_by().values("mind__episode"))
    by_episode: dict[int, ReplyReadings] = defaultdict(ReplyReadings)
    for episode, mind, faults, mended, asked, number in notes:
        reading = reading_from_faults(faults, mended or (), asked or seats.get(mind, 0))
        by_episode[episode] += ReplyReadings.of(reading, number)
    return by_episode


def reply_readings(decisions: QuerySet[Decision]) -> ReplyReadings:
    """Return how many model replies could be read completely, in part or not at all, over all these
    decisions."""
    return sum(reply_readings_by_episode(decisions).values(), ReplyReadings())


def seat_counts_of_minds(episodes: Any) -> Mapping[int, int]:
    """Return by agent id the number of seats that the agent commands. `episodes` are episode ids or a
    query of ids."""
    held = Seat.objects.filter(episode__in=episodes, mind__isnull=False).order_by()
    return dict(held.values_list("mind").annotate(number=Count("pk")))
