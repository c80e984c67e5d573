"""List the attacks of `make attack`: who sends what, what they need, and what they may change."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from tests.live.books import Books

Needs = Callable[[Books, Mapping[str, Any]], dict[str, Any]]

PARTICIPANTS = 60
"""Synthetic participants of the study whose data are requested."""
MESSAGES = 10_000
"""Malformed messages to each kind of socket."""
LOBBY_TIMES = 200
FILES = 300
REAL_TIME = {"layout": "cramped_room", "clock": "tick", "tick_ms": 167, "ticks": 2000}
MODEL_SETTINGS = ("base_url", "api_base", "url", "endpoint", "host")
"""Settings that would lead a model's calls elsewhere, if there were such settings."""


@dataclass(frozen=True, slots=True)
class Load:
    """One attack."""

    words: str
    clients: int
    needs: Needs
    """Makes in the database what the attack needs, and returns it for the plan."""
    enough: int = 0
    """The number of messages or requests to send, unless `--quick` is given; 0 for the usual time."""
    is_whole: bool = False
    """True if the attack is `enough` once it has sent each of its requests."""
    changes: tuple[str, ...] = ()
    """Models, and fields of models, that the attack changes by right."""
    watched: str = ""
    """The part of the plan with keys of seats whose episodes must not change."""


def nothing(books: Books, given: Mapping[str, Any]) -> dict[str, Any]:
    """Need nothing."""
    return {}


def a_study(books: Books, given: Mapping[str, Any]) -> dict[str, Any]:
    """Need a study with data, and the token and the login of a member of staff."""
    return {"study": books.ask("study_at_rest", participants=PARTICIPANTS)}


def a_session(books: Books, given: Mapping[str, Any]) -> dict[str, Any]:
    """Need the login of a member of staff."""
    return {"session": books.ask("staff_session")}


def turn_seats(books: Books, given: Mapping[str, Any]) -> dict[str, Any]:
    """Need seats of episodes in which nobody plays."""
    chosen = {"task": "boiled_egg"}
    keys = books.episodes(24, world="collab_overcooked", mates=1, kind="recipe_partner", chosen=chosen)
    return {"keys": keys}


def clock_seats(books: Books, given: Mapping[str, Any]) -> dict[str, Any]:
    """Need seats of real-time episodes."""
    return {"keys": books.episodes(8, world="overcooked", mates=1, kind="random", chosen=REAL_TIME)}


def staff_pages(books: Books, given: Mapping[str, Any]) -> dict[str, Any]:
    """Need a study, and eight pages that watch it."""
    return {**a_study(books, given), "keys": [str(number) for number in range(8)]}


def talk_seats(books: Books, given: Mapping[str, Any]) -> dict[str, Any]:
    """Need seats of people who may write to a team-mate."""
    return {"keys": books.ask("talk_tables", count=4)}


def lobby_people(books: Books, given: Mapping[str, Any]) -> dict[str, Any]:
    """Need participants in a lobby."""
    return {"people": books.ask("lobby_people", count=2)}


def visits(books: Books, given: Mapping[str, Any]) -> dict[str, Any]:
    """Need users of every kind, and requests to every address."""
    return {"visits": books.ask("visits")}


def hostile_models(books: Books, given: Mapping[str, Any]) -> dict[str, Any]:
    """Need people beside co-players whose models' names are addresses of the trap."""
    address = f"http://127.0.0.1:{given['trap']}/v1"
    names = [address, f"openai-compatible:{address}", f"openai-compatible:@127.0.0.1:{given['trap']}"]
    names += [f"openai-compatible:m\r\nHost: 127.0.0.1:{given['trap']}", f"anthropic:{address}"]
    names += [
        f"openai-compatible:../../..//127.0.0.1:{given['trap']}/",
        "openai-compatible:file:///etc/passwd",
    ]
    return {"keys": books.ask("model_tables", models=names, extra=list(MODEL_SETTINGS))}


LOBBY = (
    "study.Participant",
    "study.Group",
    "study.GroupMember",
    "study.Round",
    "study.Study.budget_id",
)
TITLE = ("study.Study.title",)
LOADS: Mapping[str, Load] = {
    "logins": Load("strangers who post logins", 12, nothing),
    "staff-pages": Load("readers of staff pages", 8, a_study),
    "downloads": Load("downloads of tables and of all data", 10, a_study),
    "reports": Load("readers of new PDF reports", 4, a_study, changes=TITLE),
    "api": Load("programs that ask for progress", 10, a_study),
    "api-without-token": Load("programs without a token", 10, a_study),
    "files": Load("uploads of hostile files", 8, a_session, FILES),
    "malformed-seat": Load("malformed messages to seats", 24, turn_seats, MESSAGES, watched="keys"),
    "malformed-ticks": Load("malformed messages to real-time seats", 8, clock_seats, MESSAGES),
    "malformed-staff": Load("malformed messages to watching staff's pages", 8, staff_pages, MESSAGES),
    "lobby": Load("people who join and leave a lobby", 2, lobby_people, LOBBY_TIMES, changes=LOBBY),
    "talk": Load("floods of words", 4, talk_seats),
    "keys": Load("floods of keys", 4, clock_seats),
    "addresses": Load("every address with every role", 8, visits, is_whole=True),
    "models": Load("people beside hostile model addresses", 0, hostile_models),
}
"""The attacks by name, as in `--loads`."""
