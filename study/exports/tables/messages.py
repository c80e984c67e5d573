"""messages.csv: what people and co-players said to one another."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.db.models import Min

from kitchen.play.models import Episode, Message
from kitchen.play.saying import as_said, as_written, may_know, organisation_of
from kitchen.play.stored import episode_world
from study.design.models import Study
from study.exports.base import MARKS, OUTAGE, WHERE, Column, ExportTable
from study.exports.chosen import Chosen
from study.exports.stretches import Stretch
from study.exports.tables.sittings import Sitting, in_pieces, sittings, touched_steps, who_are_there
from study.people.models import Round
from study.people.outages import downtime_of

KINDS = (
    "say; ask; answer; request; end; inform (a job is given); withdraw; accept; decline; report; system"
    " (the house says it)"
)
COLUMNS = (
    *WHERE,
    Column("step", "integer", "Number of the step that was open.", levels="1 = first"),
    Column("message", "integer", "Number of the message in the episode.", levels="1 = first"),
    Column(
        "sender",
        "integer",
        "Member who said it, by number of its first seat (0 = player 1); blank for the house.",
    ),
    Column("to", "json", "Every member to whom it was said, likewise."),
    Column("kind", "text", "What it is.", levels=KINDS),
    Column("text", "text", "What was said, word for word, also what was not shown of it."),
    Column("data", "json", "What belongs to the kind; `job` is the number of the message that gave it."),
    Column("sent_at", "time", "When it was said."),
    Column(
        "known",
        "boolean",
        "1 if this participant said or could read it; 0 for what only co-players know of, which stands with "
        "the participant in the first seat alone.",
    ),
    Column("shown", "text", "As it was shown, where words of the study's list stood in it; else blank."),
    *MARKS,
    *OUTAGE,
)

Cells = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Share:
    """What was said in an episode, for the rows of one participant."""

    member: int
    people: tuple[int, ...]
    """Members that are, or were, people."""
    first: int
    """The first of them whose rows there still are."""
    until: Mapping[int, int]
    """The last message before a co-player had the place of each who was replaced."""
    said: tuple[tuple[Message, set[int]], ...]
    """Every message, and the people who said or could read it."""

    def there(self, number: int) -> set[int]:
        """Who was a person when this message was said."""
        return {one for one in self.people if number <= self.until.get(one, number)}

    def is_theirs(self, of: Collection[int]) -> bool:
        """Whether what these people know of stands in the participant's rows: they are one of them, or the
        first where it is nobody."""
        return self.member in of or (not of and self.member == self.first)


def rows(study: Study, chosen: Chosen) -> Iterator[Stretch]:
    """One row per message and participant who said or could read it, and what no person could read once."""
    return told_of(study, chosen, _rows)


def told_of(study: Study, chosen: Chosen, cells: Callable[[Share], Iterable[Cells]]) -> Iterator[Stretch]:
    """The rows that `cells` makes, in the order of their steps, of what was said in each episode of each
    participant."""
    downtime = downtime_of(study)
    for piece in in_pieces(sittings(study, chosen, downtime)):
        pks = {sitting.episode for sitting in piece}
        said, touched, first = _said(pks), touched_steps(piece, downtime), _first_seats(pks)
        for sitting in who_are_there(piece):
            if theirs := said.get(sitting.episode):
                share = _share(sitting, *theirs, first.get(sitting.episode, sitting.seat))
                yield from sitting.stretches(list(cells(share)), touched, chosen)


def _said(pks: set[int]) -> dict[int, tuple[Episode, list[Message]]]:
    """By episode: what was said in it, where something was."""
    by_episode: dict[int, list[Message]] = defaultdict(list)
    for row in Message.objects.filter(episode__in=pks).order_by("episode", "number"):
        by_episode[row.episode_id].append(row)
    episodes = Episode.objects.filter(pk__in=by_episode)
    return {episode.pk: (episode, by_episode[episode.pk]) for episode in episodes}


def _first_seats(pks: set[int]) -> dict[int | None, int]:
    """By episode of a round: the first seat of those who did not withdraw."""
    rounds = Round.objects.filter(episode__in=pks).order_by().values("episode")
    return dict(rounds.annotate(first=Min("seat")).values_list("episode", "first"))


def _share(sitting: Sitting, episode: Episode, said: Sequence[Message], first: int) -> Share:
    organisation, world = organisation_of(episode), episode_world(episode)
    if organisation is None:
        return Share(0, (), 0, {}, ())
    until = {
        organisation.holder(int(seat)).number: _said_before(said, at)
        for seat, at in (episode.gone or {}).items()
    }
    people = {member.number for member in organisation.members if member.is_person} | set(until)
    share = Share(
        organisation.holder(sitting.seat).number,
        tuple(sorted(people)),
        organisation.holder(first).number,
        until,
        (),
    )
    knew = [
        (row, {one for one in share.there(row.number) if may_know(world, organisation, row, one)})
        for row in said
    ]
    return replace(share, said=tuple(knew))


def _said_before(said: Sequence[Message], gone: Mapping[str, Any]) -> int:
    """The last message before somebody was gone; of the steps before, where no more was noted."""
    before = (row.number for row in said if row.step < gone["step"])
    return int(gone["said"]) if "said" in gone else max(before, default=0)


def _rows(share: Share) -> Iterator[Cells]:
    return (
        _cells(row, known=share.member in readers) for row, readers in share.said if share.is_theirs(readers)
    )


def _cells(row: Message, *, known: bool) -> Cells:
    said, text = as_said(row), as_written(row)
    shown = "" if text == row.text else row.text
    return (row.step, row.number, row.sender, row.to, row.kind, text, said.data, row.sent_at, known, shown)


TABLE = ExportTable("messages", "What people and co-players said to one another.", COLUMNS, rows)
