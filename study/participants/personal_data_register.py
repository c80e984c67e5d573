"""List which personal data a study stores about participants, and why, in texts for participants.

`personal_data_fields.toml` names the database fields that each text covers. A test fails for a field that no
text covers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from kitchen.words.gettext_without_django import gettext, gettext_noop
from study.design.models import Study


@dataclass(frozen=True, slots=True)
class StoredData:
    """One line of the register of personal data, in English. It says what is stored, why, and who can read
    it besides the server's operator."""

    what: str
    why: str
    seen: str = gettext_noop("the researchers of the study and the people they share their data files with")
    named: bool = False
    """True if the data may identify a person, so that they are erased first."""
    setting: str = ""
    """The study setting without which the data are not stored; empty if they always are."""

    def translated(self) -> StoredData:
        """Return this entry of the register of stored data in the active language."""
        return replace(self, what=gettext(self.what), why=gettext(self.why), seen=gettext(self.seen))


ONLY_SERVER = gettext_noop("nobody; it is in the database only")
STORED_DATA: Mapping[str, StoredData] = {
    "link": StoredData(
        gettext_noop(
            "What your link said: a name that the researchers gave you, or an ID from Prolific, SONA or "
            "MTurk with what these add; nothing if the link said nothing"
        ),
        gettext_noop("so that you can be paid or credited, come back, and take part once"),
        named=True,
    ),
    "answers": StoredData(
        gettext_noop(
            "Your answers, when you gave them, and each try at a question that has a right answer. What you"
            " write in your own words is stored as you write it"
        ),
        gettext_noop("the study asks for them"),
        named=True,
    ),
    "code": StoredData(
        gettext_noop(
            "A number and a code that represent you in the data and give access to nothing; the version "
            "of the study that you saw, its language, the order of your rounds, and how your rounds were "
            "chosen, with the answers about you that were used"
        ),
        gettext_noop("so that the data of one person can be found together"),
    ),
    "consent": StoredData(
        gettext_noop("That you agreed, when, and to which text"),
        gettext_noop("so that your agreement can be proved"),
    ),
    "way": StoredData(
        gettext_noop(
            "When you entered, when you were last active, and when and how you finished; when each page "
            "was opened and completed, and how often it was loaded; how long our server took to answer you"
        ),
        gettext_noop("so that you can come back, and so that the researchers see where people stop"),
    ),
    "device": StoredData(
        gettext_noop(
            "For each page after you agreed: whether you saw it on a phone, a tablet, a computer or a "
            "headset; the browser and the operating system; the size of the window; and how often and "
            "for how long the page was hidden. What you did meanwhile is not stored"
        ),
        gettext_noop(
            "so that the researchers know how the study looked on your device and whether you were "
            "looking at it"
        ),
        setting="keeps_devices",
    ),
    "sound": StoredData(
        gettext_noop(
            "What your microphone records while you play, until you pause it; a text made from it by a "
            "program on the researchers' server; and whether your microphone works"
        ),
        gettext_noop("so that the researchers learn what you think while you play"),
        setting="think_aloud",
        named=True,
    ),
    "completion": StoredData(
        gettext_noop(
            "The code that you are given at the end; and if there is a bonus, its amount, what it was "
            "computed from, who confirmed it and when it was paid"
        ),
        gettext_noop("so that you can show that you took part, and are paid once"),
    ),
    "secrets": StoredData(
        gettext_noop(
            "Random keys: for your personal link, for the form with which you began, for your seat in "
            "the game and for the page on which you play"
        ),
        gettext_noop("so that only you can continue your session"),
        ONLY_SERVER,
    ),
    "play": StoredData(
        gettext_noop(
            "Each choice in the game and each answer to a question during it, when it was made, and "
            "everything that happened in the game"
        ),
        gettext_noop("this is what the study examines"),
    ),
    "game": StoredData(
        gettext_noop("The game, its settings, who had which seat, its progress and how it ended"),
        gettext_noop("so that the game can be played, and replayed from the log"),
    ),
    "team": StoredData(
        gettext_noop(
            "What your teammates decided, if they are programs. If a program asks a language model: the "
            "questions, the replies and their cost. The questions are about the game; who you are, your "
            "answers and your link are not sent"
        ),
        gettext_noop("so that the researchers can see how your team played"),
        gettext_noop(
            "the researchers; if a language model is asked, also the company that runs it (Anthropic or "
            "another one that the researchers name), but only the questions and replies"
        ),
    ),
    "talk": StoredData(
        gettext_noop(
            "What you and others write to each other in the game, if it has a box for messages. The "
            "recipients read it. If a recipient is a program that asks a language model, the company "
            "that runs the model receives it too. If you speak instead of typing, your browser turns "
            "your speech into text, possibly on a server of its maker; no sound is stored here"
        ),
        gettext_noop("so that the researchers can see how your team communicated"),
        gettext_noop(
            "the recipients, the researchers and the people they share their data files with; and the "
            "company that runs a language model, if a recipient uses one"
        ),
    ),
    "staff": StoredData(
        gettext_noop(
            "What researchers did in your case, for example that they sent you a message or a new link, "
            "wrote a note about you, marked steps of your games or excluded your data; when, who and why; "
            "and when you read a message"
        ),
        gettext_noop("so that they can be asked about it"),
    ),
}
"""All lines by a short key."""


def settings_on(study: Study) -> set[str]:
    """Return the names of settings that store personal data and that are or were on in this study:
    `keeps_devices`, `think_aloud`."""
    devices = study.versions.filter(document__study__keeps_devices=True)
    aloud = study.versions.filter(document__study__think_aloud__in=["optional", "required"])
    found = {"keeps_devices": bool(study.keeps_devices) or devices.exists()}
    found["think_aloud"] = bool(study.think_aloud) or aloud.exists()
    return {name for name, on in found.items() if on}


STORED_BESIDE: Mapping[str, str] = {
    "browser": gettext_noop(
        "In your browser: a cookie that leads you back to your page (90 days), one that protects forms "
        "(a year), one with the language that you chose (90 days), one that shows that your link was "
        "signed (four hours), one with the name in your link if you do not agree (until the browser is "
        "closed), one that records that you reached the end (also until the browser is closed), and "
        "answers that you have not sent yet (until the next page). There are no cookies from other sites."
    ),
    "address": gettext_noop(
        "Your network address is not stored. To stop scripts, a number derived from it is kept in memory "
        "for ten minutes; the address cannot be read from this number. The address itself is kept in "
        "memory only while somebody tries wrong links from it. A web server in front of this one may log "
        "addresses: ask the researchers."
    ),
    "log": gettext_noop("The program's own log: what went wrong, without secrets and without your answers."),
    "left": gettext_noop(
        "When you leave, we keep three things that do not identify you: that one person left, the time, "
        "and the first letters of your receipt."
    ),
    "mark": gettext_noop(
        "When you leave, we also keep a marker: letters and digits made from a random word that is "
        "erased with your data. It says nothing about you. If a backup that still contains your data is "
        "restored, the marker shows that they must be erased again. It is kept as long as this server "
        "exists."
    ),
    "paid": gettext_noop(
        "When you leave after the end, we keep your completion code and the day, so that you are paid. "
        "We also keep a marker made from the name in your link, so that nobody takes part twice; nobody "
        "can read the name from it without this server's secret key. The day and the marker are also "
        "kept when you leave after the comprehension questions have ended the study for you. They do not "
        "lead to any data of yours."
    ),
}
"""Descriptions of the data that are stored outside of a study's data, by a short key."""


@dataclass(frozen=True, slots=True)
class ErasedData:
    """One line of the list that says which data a withdrawal erases."""

    what: str
    lines: tuple[str, ...]
    """The keys in `STORED_DATA` that the line covers."""
    shared: str = ""
    """Text for studies in which people play together: less of those games is erased. Empty: same text."""
    setting: str = ""
    """The study setting without which the data are not stored, as in `StoredData`."""


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
    ErasedData(gettext_noop("everything that your microphone recorded"), ("sound",), setting="think_aloud"),
    ErasedData(
        gettext_noop("on which device you saw each page, and how often you were away from it"),
        ("device",),
        setting="keeps_devices",
    ),
    ErasedData(
        gettext_noop("the number and the code that represent you, and what researchers did in your case"),
        ("code", "staff"),
    ),
    ErasedData(gettext_noop("this personal link and everything that belongs to it"), ("secrets",)),
)
"""The list of erased data on the withdrawal page. It covers all of `STORED_DATA` except the completion code,
which stays for participants who earned it."""
