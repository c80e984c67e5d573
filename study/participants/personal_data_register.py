"""The register of personal data: what is stored of a participant, and why, in words for participants.

personal_data_fields.toml names the fields behind each line. A test fails for a field without a line.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from kitchen.words.gettext_without_django import gettext, gettext_noop
from study.design.models import Study


@dataclass(frozen=True, slots=True)
class StoredData:
    """One line of the register, in English: what is stored, why, and who can read it besides the server's
    operator."""

    what: str
    why: str
    seen: str = gettext_noop("the researchers of the study, and whomever they give their data files")
    named: bool = False
    """Whether the data may identify a person, so that they are erased first."""
    setting: str = ""
    """The study setting without which the data are not stored; empty if they always are."""

    def told(self) -> StoredData:
        """Return the line in the reader's language."""
        return replace(self, what=gettext(self.what), why=gettext(self.why), seen=gettext(self.seen))


ONLY_SERVER = gettext_noop("nobody; it is in the database only")
STORED_DATA: Mapping[str, StoredData] = {
    "link": StoredData(
        gettext_noop(
            "What the link said that brought you here: a name that the researchers gave you, or an ID of"
            " Prolific, SONA or MTurk with what these add; nothing where the link said nothing"
        ),
        gettext_noop("so that you can be paid or credited, come back, and take part once"),
        named=True,
    ),
    "answers": StoredData(
        gettext_noop(
            "Your answers, when you gave them, and each try at a question that has a right answer. What you"
            " write in your own words is stored as you write it"
        ),
        gettext_noop("that is what the study asks"),
        named=True,
    ),
    "code": StoredData(
        gettext_noop(
            "A number and a code that stand for you in the data and open nothing; which version of the study"
            " you saw, in which language, and the order of your rounds"
        ),
        gettext_noop("so that what belongs together is found together"),
    ),
    "consent": StoredData(
        gettext_noop("That you agreed, when, and to which words"),
        gettext_noop("so that it can be shown"),
    ),
    "way": StoredData(
        gettext_noop(
            "When you entered, did something last and ended, and how it ended; when each page was opened and"
            " done, and how often it was loaded"
        ),
        gettext_noop("so that you can come back, and to see where people stop"),
    ),
    "device": StoredData(
        gettext_noop(
            "Of each page after you agreed: whether you saw it on a phone, a tablet, a computer or a headset,"
            " in which browser and system, how large its window was, and how often and for how long it was"
            " out of your sight; not what you did meanwhile"
        ),
        gettext_noop("so that the researchers know how the study looked to you and whether you were with it"),
        setting="keeps_devices",
    ),
    "completion": StoredData(
        gettext_noop("The code that you are given at the end"),
        gettext_noop("so that you can show that you took part"),
    ),
    "secrets": StoredData(
        gettext_noop(
            "Secrets: of your personal link, of the form with which you began, of your seat in the game and"
            " the page that plays it"
        ),
        gettext_noop("so that nobody else goes on in your place"),
        ONLY_SERVER,
    ),
    "play": StoredData(
        gettext_noop("Every choice in the game, when it was made, and all that happened in the game"),
        gettext_noop("that is what the study looks at"),
    ),
    "game": StoredData(
        gettext_noop("Which game it was, how it was set up, who sat where, how far it is and how it ended"),
        gettext_noop("so that it can be played, and played again from the log"),
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
    ),
    "staff": StoredData(
        gettext_noop(
            "What researchers did about you, for example that they sent you a new link or left your data out,"
            " when, who, and why"
        ),
        gettext_noop("so that they can be asked about it"),
    ),
}
"""All lines by a short key."""


def settings_on(study: Study) -> set[str]:
    """Return the settings with which personal data of this study are stored, now or in an earlier version."""
    before = study.versions.filter(document__study__keeps_devices=True)
    return {"keeps_devices"} if study.keeps_devices or before.exists() else set()


STORED_BESIDE: Mapping[str, str] = {
    "browser": gettext_noop(
        "In your browser: a cookie that leads you back to your page (90 days), one that protects forms"
        " (a year), one with the language that you chose (90 days), one that shows that your link was"
        " signed (four hours), one with the name in your link if you do not agree (until the browser is"
        " closed), one that knows that you came to the end (until then, too), and answers that you have"
        " not sent yet (until the next page). None of another site."
    ),
    "address": gettext_noop(
        "Your network address: it is not stored. Against scripts, a number made of it, from which it"
        " cannot be read, is kept in memory for ten minutes, and the address itself for as long as wrong"
        " links are tried from it. A web server in front of this one may log addresses: ask the"
        " researchers."
    ),
    "log": gettext_noop("The program's own log: what went wrong, without secrets and without your answers."),
    "left": gettext_noop(
        "When you leave: that somebody left this study, when, and how your receipt begins. It leads to"
        " nobody."
    ),
    "mark": gettext_noop(
        "When you leave, a mark is kept, too: letters and digits made from a word of chance that is"
        " erased with your data. It says nothing about you. Should this server ever be set back to an"
        " older copy, in which your data still are, it shows that they are to be erased again. It is"
        " kept for as long as there is this server."
    ),
    "paid": gettext_noop(
        "When you leave after the end: your completion code and the day, so that you are paid, and a"
        " mark of the name in your link, from which nobody reads that name without this server's secret,"
        " so that nobody takes part twice. The day and the mark are also kept when you leave after the"
        " questions of understanding have ended the study for you. They lead to no data of yours."
    ),
}
"""What is stored outside of the data of a study, by a short key."""


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
