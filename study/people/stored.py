"""What is stored about a person, in plain words: every field of every table that leads to somebody who takes
part belongs to one line. The test of this module fails for a field that nobody has explained."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from django.db import models

from kitchen.play.models import Episode, Prompt
from study.people.models import Participant


@dataclass(frozen=True, slots=True)
class Stored:
    """One line: what it is, why it is stored, who reads it beside whoever runs the server."""

    what: str
    why: str
    seen: str = "the researchers of the study, and whomever they give their data files"
    named: bool = False
    """Whether it can say who somebody is, so that it is erased first."""
    fields: tuple[str, ...] = ()
    """`Model.field`, as the program calls them: nobody who takes part is shown these."""


def _of(table: str, fields: str) -> tuple[str, ...]:
    """These fields of a table."""
    return tuple(f"{table}.{field}" for field in fields.split())


ONLY_SERVER = "nobody; it is in the database only"
LINES: Mapping[str, Stored] = {
    "link": Stored(
        "What the link said that brought you here: a name that the researchers gave you, or an ID of"
        " Prolific, SONA or MTurk with what these add; nothing where the link said nothing",
        "so that you can be paid or credited, come back, and take part once",
        named=True,
        fields=("Participant.source", "Participant.label", "Participant.referral"),
    ),
    "answers": Stored(
        "Your answers, when you gave them, and each try at a question that has a right answer. What you"
        " write in your own words is stored as you write it",
        "that is what the study asks",
        named=True,
        fields=tuple(
            f"Answer.{name}"
            for name in ["id", "participant", "round", "item", "attempt", "value", "answered_at"]
        ),
    ),
    "code": Stored(
        "A number and a code that stand for you in the data and open nothing; which version of the study you"
        " saw, and the order of your rounds",
        "so that what belongs together is found together",
        fields=(
            *(
                f"Participant.{name}"
                for name in ["id", "study", "number", "code", "version", "sequence", "practice"]
            ),
            *(f"Participant.{name}" for name in ["synthetic", "preview"]),
            *(
                f"Round.{name}"
                for name in ["id", "participant", "condition", "position", "episode", "seat", "answered_at"]
            ),
        ),
    ),
    "consent": Stored(
        "That you agreed, when, and to which words",
        "so that it can be shown",
        fields=("Participant.consented_at", "Participant.consent_hash"),
    ),
    "way": Stored(
        "When you entered, did something last and ended, and how it ended; when each page was opened and"
        " done, and how often it was loaded",
        "so that you can come back, and to see where people stop",
        fields=(
            *(
                f"Participant.{name}"
                for name in ["status", "entered_at", "active_at", "ended_at", "end_reason"]
            ),
            *(
                f"PageVisit.{name}"
                for name in ["id", "participant", "page", "position", "opened_at", "loads", "done_at"]
            ),
        ),
    ),
    "completion": Stored(
        "The code that you are given at the end",
        "so that you can show that you took part",
        fields=("Participant.completion_code", "Participant.given_code"),
    ),
    "secrets": Stored(
        "Secrets: of your personal link, of the form with which you began, of your seat in the game and the"
        " page that plays it",
        "so that nobody else goes on in your place",
        ONLY_SERVER,
        fields=("Participant.key", "Participant.entry", "Seat.key", "Seat.page"),
    ),
    "play": Stored(
        "Every choice in the game, when it was made, and all that happened in the game",
        "that is what the study looks at",
        fields=(
            *(f"SeatCommand.{name}" for name in ["id", "episode", "step", "seat", "command", "received_at"]),
            *(f"SeatCommand.{name}" for name in ["chosen_by", "fallback"]),
            *(f"Step.{name}" for name in ["id", "episode", "number", "commands", "events", "state_hash"]),
            *(f"Step.{name}" for name in ["score", "opened_at", "taken_at", "chain"]),
            *(f"Seal.{name}" for name in ["id", "episode", "kind", "facts", "mac"]),
        ),
    ),
    "game": Stored(
        "Which game it was, how it was set up, who sat where, how far it is and how it ended",
        "so that it can be played, and played again from the log",
        fields=(
            *(
                f"Episode.{name}"
                for name in ["id", "key", "world", "world_version", "settings", "seed", "label", "hints"]
            ),
            *(
                f"Episode.{name}"
                for name in ["synthetic", "audience", "status", "ended_because", "step", "state"]
            ),
            *(f"Episode.{name}" for name in ["state_hash", "score", "budget", "thinking_seconds"]),
            *(f"Episode.{name}" for name in ["decision_seconds", "deciding_until", "deciding_by"]),
            *(f"Episode.{name}" for name in ["step_seconds", "turn_opened_at", "turn_closes_at"]),
            *(f"Episode.{name}" for name in ["created_at", "ended_at"]),
            "Episode.three_dimensions",
            *(f"Seat.{name}" for name in ["id", "episode", "number", "name", "mind", "scene"]),
            *(f"Mind.{name}" for name in ["id", "episode", "number", "kind", "settings"]),
        ),
    ),
    "team": Stored(
        "What the programs that play beside you decided; if one of them asks a language model, what that was"
        " asked and answered, and what it cost. It is asked about the game: who you are, your answers and"
        " your link are not sent",
        "so that the study can tell how your team played",
        "the researchers; and, of what a language model is asked, the company that runs it (Anthropic or"
        " another one that the researchers name)",
        fields=(
            *(
                f"Decision.{name}"
                for name in ["id", "mind", "step", "memory", "note", "played_by", "fallback", "error"]
            ),
            *(f"Decision.{name}" for name in ["milliseconds", "decided_at"]),
            *(f"ModelCall.{name}" for name in ["id", "decision", "number", "provider", "model_asked"]),
            *(
                f"ModelCall.{name}"
                for name in ["model_named", "sampling", "reply", "reply_call", "stop", "error"]
            ),
            *(f"ModelCall.{name}" for name in ["error_text", "attempts", "seconds", "cost"]),
            *(f"ModelCall.tokens_{name}" for name in ["input", "output", "cache_read", "cache_write"]),
            *(f"CallMessage.{name}" for name in ["id", "call", "position", "role", "prompt"]),
            *(f"Prompt.{name}" for name in ["hash", "text"]),
            *(
                f"Spending.{name}"
                for name in ["id", "budget", "mind", "step", "reserved", "spent", "opened_at"]
            ),
            "Spending.settled_at",
        ),
    ),
    "staff": Stored(
        "What researchers did about you, for example that they sent you a new link or left your data out,"
        " when, who, and why",
        "so that they can be asked about it",
        fields=(
            "Participant.excluded_at",
            "Participant.excluded_reason",
            *(
                f"StaffAction.{name}"
                for name in ["id", "study", "participant", "user", "user_name", "action", "reason"]
            ),
            "StaffAction.at",
            "StaffAction.seal",
        ),
    ),
}
"""Every line, by a word for it."""


def fields_of_people() -> Iterator[str]:
    """Every stored field that leads to somebody: of a participant, an episode, and what belongs to these."""
    todo: list[type[models.Model]] = [Participant, Episode, Prompt]
    for model in todo:  # grows meanwhile
        yield from (f"{model.__name__}.{field.name}" for field in model._meta.concrete_fields)
        todo += [one for one in _belonging_to(model) if one not in todo]


def _belonging_to(model: type[models.Model]) -> list[type[models.Model]]:
    """What has a row of this model as its own."""
    related = model._meta.related_objects
    return list(dict.fromkeys(one.related_model for one in related if isinstance(one.related_model, type)))
