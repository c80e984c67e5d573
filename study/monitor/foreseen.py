"""What came true of what co-players foresaw in rounds, in words for staff."""

from __future__ import annotations

from collections.abc import Iterable

from kitchen.contract.foreseeing import Foresight
from kitchen.play.foresights import foreseen_by_episode, foresight_of
from study.design.of_play import FORESIGHT
from study.people.models import Round


def rounds_foreseen(rounds: Iterable[Round]) -> list[Round]:
    """The rounds, each with `foreseen` in words: empty where nobody foresaw anything."""
    found = list(rounds)
    by_episode = foreseen_by_episode({one.episode_id for one in found if one.episode_id})
    for one in found:
        minds = by_episode.get(one.episode_id or 0)
        setattr(one, "foreseen", _told(foresight_of(minds)) if minds else "")  # noqa: B010 - for the template
    return found


def _told(foresight: Foresight) -> str:
    """As in `Share of right predictions 71 % (5 of 7)`; a dash where nothing has turned out yet."""
    if foresight.share is None:
        return f"{FORESIGHT.label} \N{EN DASH}"
    return f"{FORESIGHT.label} {100 * foresight.share:.0f} % ({foresight.right} of {foresight.judged})"
