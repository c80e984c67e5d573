"""messages.csv: what people and co-players said to one another."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

from kitchen.play.models import Episode, Message
from kitchen.play.saying import may_know, organisation_of
from kitchen.play.stored import episode_world
from study.design.models import Study
from study.exports.base import MARKS, OUTAGE, WHERE, Column, ExportTable
from study.exports.chosen import Chosen
from study.exports.stretches import Stretch
from study.exports.tables.sittings import Sitting, in_pieces, sittings, touched_steps, who_are_there
from study.people.outages import downtime_of

KINDS = (
    "say; ask; answer; request; end; inform (a job is given); withdraw; accept; decline; report; system"
    " (the house says it)"
)
COLUMNS = (
    *WHERE,
    Column("step", "integer", "Number of the step that was open.", levels="1 = first"),
    Column("message", "integer", "Number of the message in the episode.", levels="1 = first"),
    Column("sender", "integer", "Member who said it, by number of its first seat; blank for the house."),
    Column("to", "json", "Every member to whom it was said."),
    Column("kind", "text", "What it is.", levels=KINDS),
    Column("text", "text", "What was said, word for word."),
    Column("data", "json", "What belongs to the kind; `job` is the number of the message that gave it."),
    Column("sent_at", "time", "When it was said."),
    Column(
        "known",
        "boolean",
        "1 if this participant said or could read it; 0 for what only co-players know of, which stands with "
        "the participant in the first seat alone.",
    ),
    *MARKS,
    *OUTAGE,
)

Cells = tuple[Any, ...]


def rows(study: Study, chosen: Chosen) -> Iterator[Stretch]:
    """One row per message and participant who said or could read it, and what no person could read once."""
    downtime = downtime_of(study)
    for piece in in_pieces(sittings(study, chosen, downtime)):
        said, touched = _said({sitting.episode for sitting in piece}), touched_steps(piece, downtime)
        for sitting in who_are_there(piece):
            if theirs := said.get(sitting.episode):
                yield from sitting.stretches(list(_rows(sitting, *theirs)), touched, chosen)


def _said(pks: set[int]) -> dict[int, tuple[Episode, list[Message]]]:
    """By episode: what was said in it, where something was."""
    by_episode: dict[int, list[Message]] = defaultdict(list)
    for row in Message.objects.filter(episode__in=pks).order_by("episode", "number"):
        by_episode[row.episode_id].append(row)
    episodes = Episode.objects.filter(pk__in=by_episode)
    return {episode.pk: (episode, by_episode[episode.pk]) for episode in episodes}


def _rows(sitting: Sitting, episode: Episode, said: Sequence[Message]) -> Iterator[Cells]:
    organisation, world = organisation_of(episode), episode_world(episode)
    if organisation is None:
        return
    people = sorted(member.number for member in organisation.members if member.is_person)
    member = organisation.holder(sitting.seat).number
    for row in said:
        known = [person for person in people if may_know(world, organisation, row, person)]
        if member in known or (not known and member == people[0]):
            yield _cells(row, known=member in known)


def _cells(row: Message, *, known: bool) -> Cells:
    return (row.step, row.number, row.sender, row.to, row.kind, row.text, row.data, row.sent_at, known)


TABLE = ExportTable("messages", "What people and co-players said to one another.", COLUMNS, rows)
