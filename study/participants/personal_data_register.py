"""The register of personal data: every stored field that leads to a participant, with its purpose.

Participants read these texts, so they are in plain words. A test fails for a field without an explanation.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from django.db import models

from kitchen.play.models import Episode, Prompt
from kitchen.words.translation import gettext, gettext_noop
from study.design.models import Study
from study.participants.models import Participant


@dataclass(frozen=True, slots=True)
class StoredData:
    """One line of the register, in English: what is stored, why, and who can read it besides the server's
    operator."""

    what: str
    why: str
    seen: str = gettext_noop("the researchers of the study, and whomever they give their data files")
    named: bool = False
    """Whether the data may identify a person, so that they are erased first."""
    words: tuple[str, ...] = ()
    """Words that must all occur in a consent text that mentions these data."""
    fields: tuple[str, ...] = ()
    """The fields as `Model.field`, as the program names them. Participants do not see these."""
    setting: str = ""
    """The study setting without which the data are not stored; empty if they always are."""

    def told(self) -> StoredData:
        """Return the line in the reader's language."""
        return replace(self, what=gettext(self.what), why=gettext(self.why), seen=gettext(self.seen))


def _of(table: str, fields: str) -> tuple[str, ...]:
    """Return these fields of a table as `Model.field`."""
    return tuple(f"{table}.{field}" for field in fields.split())


ONLY_SERVER = gettext_noop("nobody; it is in the database only")
STORED_DATA: Mapping[str, StoredData] = {
    "link": StoredData(
        gettext_noop(
            "What the link said that brought you here: a name that the researchers gave you, or an ID of"
            " Prolific, SONA or MTurk with what these add; nothing where the link said nothing"
        ),
        gettext_noop("so that you can be paid or credited, come back, and take part once"),
        named=True,
        words=("the link", "Prolific"),
        fields=("Participant.source", "Participant.label", "Participant.referral"),
    ),
    "answers": StoredData(
        gettext_noop(
            "Your answers, when you gave them, and each try at a question that has a right answer. What you"
            " write in your own words is stored as you write it"
        ),
        gettext_noop("that is what the study asks"),
        named=True,
        words=("answers", "own words"),
        fields=tuple(
            f"Answer.{name}"
            for name in ["id", "participant", "round", "item", "attempt", "value", "answered_at"]
        ),
    ),
    "code": StoredData(
        gettext_noop(
            "A number and a code that stand for you in the data and open nothing; which version of the study"
            " you saw, in which language, and the order of your rounds"
        ),
        gettext_noop("so that what belongs together is found together"),
        words=("a number and a code",),
        fields=(
            *(
                f"Participant.{name}"
                for name in ["id", "study", "number", "code", "version", "language", "sequence", "practice"]
            ),
            *(f"Participant.{name}" for name in ["synthetic", "preview", "first_practice", "known_effects"]),
            *(
                f"Round.{name}"
                for name in ["id", "participant", "condition", "position", "episode", "seat", "answered_at"]
            ),
            *(
                f"GroupMember.{name}"
                for name in ["id", "group", "participant", "place", "position", "came_at", "seen_at"]
            ),
        ),
    ),
    "consent": StoredData(
        gettext_noop("That you agreed, when, and to which words"),
        gettext_noop("so that it can be shown"),
        words=("that you agree",),
        fields=("Participant.consented_at", "Participant.consent_hash"),
    ),
    "way": StoredData(
        gettext_noop(
            "When you entered, did something last and ended, and how it ended; when each page was opened and"
            " done, and how often it was loaded"
        ),
        gettext_noop("so that you can come back, and to see where people stop"),
        words=("each page",),
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
    "device": StoredData(
        gettext_noop(
            "Of each page after you agreed: whether you saw it on a phone, a tablet, a computer or a headset,"
            " in which browser and system, how large its window was, and how often and for how long it was"
            " out of your sight; not what you did meanwhile"
        ),
        gettext_noop("so that the researchers know how the study looked to you and whether you were with it"),
        fields=(
            *_of("PageVisit", "device browser browser_version system"),
            *_of("PageVisit", "window_width window_height times_away away_ms"),
        ),
        setting="keeps_devices",
    ),
    "completion": StoredData(
        gettext_noop("The code that you are given at the end"),
        gettext_noop("so that you can show that you took part"),
        words=("completion code",),
        fields=("Participant.completion_code", "Participant.given_code"),
    ),
    "secrets": StoredData(
        gettext_noop(
            "Secrets: of your personal link, of the form with which you began, of your seat in the game and"
            " the page that plays it"
        ),
        gettext_noop("so that nobody else goes on in your place"),
        ONLY_SERVER,
        words=("secret",),
        fields=("Participant.key", "Participant.entry", "Seat.key", "Seat.page"),
    ),
    "play": StoredData(
        gettext_noop("Every choice in the game, when it was made, and all that happened in the game"),
        gettext_noop("that is what the study looks at"),
        words=("every choice", "when it was made"),
        fields=(
            *(f"SeatCommand.{name}" for name in ["id", "episode", "step", "seat", "command", "received_at"]),
            *(f"SeatCommand.{name}" for name in ["chosen_by", "fallback", "to_follow", "planned_in"]),
            *(f"Step.{name}" for name in ["id", "episode", "number", "commands", "events", "state_hash"]),
            *(f"Step.{name}" for name in ["score", "opened_at", "taken_at", "chain"]),
            *(f"Seal.{name}" for name in ["id", "episode", "kind", "facts", "mac"]),
        ),
    ),
    "game": StoredData(
        gettext_noop("Which game it was, how it was set up, who sat where, how far it is and how it ended"),
        gettext_noop("so that it can be played, and played again from the log"),
        words=("how the game was set up",),
        fields=(
            *(
                f"Episode.{name}"
                for name in [
                    "id",
                    "key",
                    "world",
                    "world_version",
                    "settings",
                    "seed",
                    "label",
                    "hints",
                    "until",
                ]
            ),
            *(
                f"Episode.{name}"
                for name in ["synthetic", "audience", "status", "ended_because", "step", "state"]
            ),
            *(f"Episode.{name}" for name in ["state_hash", "score", "budget", "thinking_seconds"]),
            *(f"Episode.{name}" for name in ["decision_seconds", "deciding_until", "deciding_by"]),
            *(f"Episode.{name}" for name in ["step_seconds", "turn_opened_at", "turn_closes_at", "asked_at"]),
            *(f"Episode.{name}" for name in ["created_at", "ended_at", "shown", "asks_first"]),
            *(f"Episode.{name}" for name in ["three_dimensions", "shows_intents", "passes_by", "knowing"]),
            *(f"Episode.{name}" for name in ["organisation", "messages", "offers_plans", "plans"]),
            *(f"Episode.{name}" for name in ["absence", "gone", "tick_ms"]),
            *_of("StateChange", "id episode step part is_whole changed removed root"),
            *(f"Ticking.{name}" for name in ["episode", "owner", "until", "late", "lost_ms"]),
            *_of("Seat", "id episode number name acts may_act_in mind scene view"),
            *(f"Mind.{name}" for name in ["id", "episode", "number", "kind", "settings"]),
            *(f"Mind.deciding_{name}" for name in ["step", "until", "by"]),
        ),
    ),
    "team": StoredData(
        gettext_noop(
            "What your teammates decided, where they are programs; if one of them asks a language model, what"
            " that was asked and answered, and what it cost. It is asked about the game: who you are, your"
            " answers and your link are not sent"
        ),
        gettext_noop("so that the study can tell how your team played"),
        gettext_noop(
            "the researchers; and, of what a language model is asked, the company that runs it (Anthropic or"
            " another one that the researchers name)"
        ),
        words=("your teammates", "language model", "company"),
        fields=(
            *(
                f"Decision.{name}"
                for name in ["id", "mind", "step", "memory", "note", "played_by", "fallback", "error"]
            ),
            *(f"Decision.{name}" for name in ["milliseconds", "decided_at", "number", "seen_step"]),
            *(f"Decision.{name}" for name in ["because", "dropped"]),
            *(f"ModelCall.{name}" for name in ["id", "decision", "number", "provider", "model_asked"]),
            *(
                f"ModelCall.{name}"
                for name in ["model_named", "sampling", "parameters", "reply", "reply_call", "stop"]
            ),
            *(
                f"ModelCall.{name}"
                for name in ["reasoning", "error", "error_text", "attempts", "seconds", "cost"]
            ),
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
    "talk": StoredData(
        gettext_noop(
            "What you write to others in the game, and what they write to you, where the game has a box for"
            " it. Those whom you write to read it; if one of them is a program that asks a language model, so"
            " does the company that runs that. If you speak instead of typing, your browser makes text of it,"
            " and may have that done by its maker; no sound is stored here"
        ),
        gettext_noop("so that the study can tell how your team talked"),
        gettext_noop(
            "those whom you write to, the researchers, and whomever they give their data files; and the"
            " company that runs a language model, if one of those asks it"
        ),
        words=("happens in it",),
        fields=(
            *(f"Message.{name}" for name in ["id", "episode", "number", "step", "sender", "to", "kind"]),
            *(f"Message.{name}" for name in ["text", "data", "decision", "sent_at"]),
        ),
    ),
    "staff": StoredData(
        gettext_noop(
            "What researchers did about you, for example that they sent you a new link or left your data out,"
            " when, who, and why"
        ),
        gettext_noop("so that they can be asked about it"),
        words=("researchers did",),
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
"""All lines by a short key."""


def settings_on(study: Study) -> set[str]:
    """Return the settings with which personal data of this study are stored, now or in an earlier version."""
    before = study.versions.filter(document__study__keeps_devices=True)
    return {"keeps_devices"} if study.keeps_devices or before.exists() else set()


@dataclass(frozen=True, slots=True)
class StoredBeside:
    """One line about data that are stored outside the data of a study."""

    what: str
    words: tuple[str, ...]
    """As in `StoredData`: words that must all occur in a consent text."""

    def told(self) -> StoredBeside:
        """Return the line in the reader's language."""
        return replace(self, what=gettext(self.what))


STORED_BESIDE: Mapping[str, StoredBeside] = {
    "browser": StoredBeside(
        gettext_noop(
            "In your browser: a cookie that leads you back to your page (90 days), one that protects forms"
            " (a year), one with the language that you chose (90 days), one that shows that your link was"
            " signed (four hours), one with the name in your link if you do not agree (until the browser is"
            " closed), one that knows that you came to the end (until then, too), and answers that you have"
            " not sent yet (until the next page). None of another site."
        ),
        ("cookie", "not sent yet"),
    ),
    "address": StoredBeside(
        gettext_noop(
            "Your network address: it is not stored. Against scripts, a number made of it, from which it"
            " cannot be read, is kept in memory for ten minutes, and the address itself for as long as wrong"
            " links are tried from it. A web server in front of this one may log addresses: ask the"
            " researchers."
        ),
        ("network address",),
    ),
    "log": StoredBeside(
        gettext_noop("The program's own log: what went wrong, without secrets and without your answers."),
        ("went wrong",),
    ),
    "left": StoredBeside(
        gettext_noop(
            "When you leave: that somebody left this study, when, and how your receipt begins. It leads to"
            " nobody."
        ),
        ("that somebody left", "receipt"),
    ),
    "mark": StoredBeside(
        gettext_noop(
            "When you leave, a mark is kept, too: letters and digits made from a word of chance that is"
            " erased with your data. It says nothing about you. Should this server ever be set back to an"
            " older copy, in which your data still are, it shows that they are to be erased again. It is"
            " kept for as long as there is this server."
        ),
        ("a mark", "older copy"),
    ),
    "paid": StoredBeside(
        gettext_noop(
            "When you leave after the end: your completion code and the day, so that you are paid, and a"
            " mark of the name in your link, from which nobody reads that name without this server's secret,"
            " so that nobody takes part twice. The day and the mark are also kept when you leave after the"
            " questions of understanding have ended the study for you. They lead to no data of yours."
        ),
        ("after the end", "paid", "twice"),
    ),
}
"""All lines by a short key."""


@dataclass(frozen=True, slots=True)
class ErasedData:
    """One line about data that a withdrawal erases."""

    what: str
    lines: tuple[str, ...]
    """The keys in `STORED_DATA` that the line covers."""
    shared: str = ""
    """Text for studies in which people play together: less of those games is erased. Empty: same text."""
    setting: str = ""
    """As in `StoredData`: the study setting without which the data are not stored."""


ERASED_DATA = (
    ErasedData(
        gettext_noop("your consent, when you took part, and what the link said about you"),
        ("consent", "way", "link"),
    ),
    ErasedData(
        gettext_noop("every step that you played, and what your teammates did in it"),
        ("play", "game", "team"),
        gettext_noop("every step of the games that no other person played with you"),
    ),
    ErasedData(
        gettext_noop("everything that was written in the games that you played"),
        ("talk",),
        gettext_noop("everything that was written in those games"),
    ),
    ErasedData(gettext_noop("all your answers, and how long you looked at each page"), ("answers", "way")),
    ErasedData(
        gettext_noop("on which device you saw each page, and how often you were away from it"),
        ("device",),
        setting="keeps_devices",
    ),
    ErasedData(
        gettext_noop("the number and the code that stand for you, and what researchers did about you"),
        ("code", "staff"),
    ),
    ErasedData(gettext_noop("this personal link and all that belongs to it"), ("secrets",)),
)
"""The list of erased data on the withdrawal page. It covers all of `STORED_DATA` except the completion code,
which stays for participants who earned it."""


def personal_fields() -> Iterator[str]:
    """Return every stored field that leads to a participant: of participants, episodes, and rows that belong
    to them."""
    todo: list[type[models.Model]] = [Participant, Episode, Prompt]
    for model in todo:  # grows meanwhile
        yield from (f"{model.__name__}.{field.name}" for field in model._meta.concrete_fields)
        todo += [one for one in _belonging_to(model) if one not in todo]


def _belonging_to(model: type[models.Model]) -> list[type[models.Model]]:
    """Return the models whose rows belong to a row of this model."""
    related = model._meta.related_objects
    return list(dict.fromkeys(one.related_model for one in related if isinstance(one.related_model, type)))
