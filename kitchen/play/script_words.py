"""What the scripts of the play page say (`static/js/`), in the language of whoever reads. They hold no words
themselves: the page brings these along. Plain Python."""

from __future__ import annotations

from collections.abc import Mapping

from kitchen.words.speech import gettext, marked, ngettext

WORDS: Mapping[str, str] = {
    "connecting": marked("Connecting…"),
    "connected": marked("Connected"),
    "offline": marked("You are offline. Nothing is lost; you go on when you are connected again."),
    "doubted": marked("Waiting for the connection… Nothing is lost."),
    "waitsForConnection": marked("Waiting for the connection…"),
    "silent": marked("The server does not answer. Nothing is lost; trying again…"),
    "again": marked("Connecting again… (attempt {number})"),
    "elsewhere": marked("Open in another tab"),
    "gone": marked("This link is no longer open"),
    "takenOver": marked("This goes on without you"),
    "tooMuch": marked(
        "Too much came from this page at once. Nothing is lost; it connects again within a minute."
    ),
    "later": marked("Nothing can be stored at the moment. Nothing is lost; this page tries again by itself."),
    "closed": marked("The connection was closed. Load this page again to go on."),
    "over": marked("This episode is over"),
    "playing": marked("Playing the step…"),
    "kept": marked("Not connected: your choice is kept"),
    "notConnected": marked("Not connected"),
    "choose": marked("Choose an action"),
    "chose": marked("You chose: {action}"),
    "since": marked("{seconds} s"),
    "sinceLong": marked("{seconds} s: it takes longer than usual, nothing is lost"),
    "left": marked("{seconds} s left"),
    "timeIsUp": marked("Time is up"),
    "doIt": marked("Do it"),
    "chooseAnother": marked("Choose another"),
    "begins": marked("It begins in {seconds} s"),
    "awaited": marked("It begins when everybody is here."),
    "still": marked("The clock stands still. It goes on by itself."),
    "stood": marked("The clock stood still for {seconds} s. It goes on where it was."),
    "nothingHere": marked("Nothing can be done here just now."),
}
"""By the names under which scripts know them; what is between braces, they fill in."""
TICKING: Mapping[str, str] = {
    "offline": marked("You are offline. The game goes on without you until you are connected again."),
    "doubted": marked("Waiting for the connection… The game goes on meanwhile."),
    "silent": marked("The server does not answer; trying again… The game may go on meanwhile."),
}
"""Instead of those, where a clock takes the steps."""
SCENE: Mapping[str, str] = {
    "more": marked("More …"),
    "you": marked("you"),
    "backToPage": marked("Back to the page"),
    "noScene": marked("This browser cannot show it in three dimensions. Everything is on this page."),
    "headsetRefused": marked("The headset did not let this page in. The scene goes on here."),
    "headset": marked("Enter with the headset"),
    "noHeadset": marked("No headset here"),
}
"""Likewise, in the scene in three dimensions."""
CALLED = (10, 5)
"""With so many seconds left for a step, that is said aloud."""


def script_words(*, scene: bool, ticking: bool = False) -> dict[str, str | dict[int, str]]:
    """All of them, those of the scene where there is one and those of a clock where one runs, and `calls`:
    what is said aloud, by the seconds that are left."""
    words = {**WORDS, **(SCENE if scene else {}), **(TICKING if ticking else {})}
    calls = {seconds: _call(seconds) for seconds in CALLED}
    return {**{name: gettext(said) for name, said in words.items()}, "calls": calls}


def _call(seconds: int) -> str:
    return ngettext("{number} second left", "{number} seconds left", seconds).format(number=seconds)
