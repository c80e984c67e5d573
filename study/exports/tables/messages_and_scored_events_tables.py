"""Define the export tables messages.csv, jobs.csv, and scored_events.csv.

- messages.csv: messages between people and agents.
- jobs.csv: tasks that people and agents gave one another by message, and how each task ended.
- scored_events.csv: events that a metric of the game scores, such as a request with its answer.

A participant's rows have only what this person sent or could read. Data that no person could read are in the
rows of the episode's first participant.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from django.db.models import Min

from kitchen.contract.assigned_jobs import (
    ACCEPTED,
    DECLINED,
    DONE,
    FAILED,
    GIVEN,
    PASSED_ON,
    STARTED,
    WITHDRAWN,
    Job,
    job_changes,
)
from kitchen.contract.episode_log import ScoredEvent
from kitchen.contract.team_measures import job_courses, reassigned_jobs
from kitchen.play.episode.log_metrics import read_logs
from kitchen.play.live.job_panels import failure_reason
from kitchen.play.models import Episode, Message
from kitchen.play.turn.conversation import may_know, member_message, unblocked_text
from kitchen.play.turn.state_store import current_world
from kitchen.play.turn.websocket_messages import HAVE_PERSON
from kitchen.registry.world_metrics import event_columns, scored_events
from kitchen.registry.world_registry import get_kit, get_page, known_worlds
from kitchen.words.gettext_without_django import in_english
from study.design.metric_and_scale_names import study_worlds
from study.design.models import Study
from study.design.study_versions import version_blueprints
from study.exports.export_table import (
    EPISODE_COLUMNS,
    EPISODE_MARKS,
    OUTAGE_MARKS,
    Column,
    ExportSelection,
    ExportTable,
    file_columns,
)
from study.exports.row_groups import RowGroup
from study.exports.tables.played_episodes import (
    PlayedEpisode,
    in_pieces,
    played_by_not_withdrawn,
    played_episodes,
    touched_steps,
)
from study.participants.episode_owners_and_outages import downtime_since_creation
from study.participants.models import Participant, Round

MESSAGE_COLUMNS = (*EPISODE_COLUMNS, *file_columns("messages"), *EPISODE_MARKS, *OUTAGE_MARKS)

Cells = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Share:
    """The messages of one episode, with the people who know each message. From these, the rows of one
    participant are selected."""

    member: int
    people: set[int]
    """Members that are, or were, people."""
    first: int
    """The first of these members whose data were not erased."""
    until: Mapping[int, int]
    """By replaced member: the last message before a co-player took over."""
    messages: list[tuple[Message, set[int]]] = field(default_factory=list)
    """Every message with the people who sent or could read it."""
    scored_events: tuple[ScoredEvent, ...] = ()
    """Those of the episode, if they were read."""
    world: str = ""
    """Name of the episode's world."""

    def there(self, number: int) -> set[int]:
        """Return the members who were still people when the message with this number was sent. People whom an
        agent had replaced before are left out."""
        return {one for one in self.people if number <= self.until.get(one, number)}

    def has_row(self, of: Collection[int]) -> bool:
        """Return whether a message belongs in this participant's rows. `of` are the people who know the
        message.

        The participant must be one of them. A message that no person knows is listed with the first
        participant of the episode.
        """
        return self.member in of or (not of and self.member == self.first)


ScoredEvents = Mapping[int, tuple[ScoredEvent, ...]]
"""Scored events by episode id."""


def rows_of_conversations(
    cells: Callable[[Share], Iterable[Cells]],
    study: Study,
    chosen: ExportSelection,
    events_of: Callable[[Iterable[Episode]], ScoredEvents] = lambda episodes: {},
    later: int = 0,
) -> Iterator[RowGroup]:
    """Yield table rows about the messages in each participant's episodes, in the order of steps.

    `cells` makes the rows of an episode. `events_of` reads the scored events of episodes, if `cells` needs
    them. The last `later` cells that `cells` returns become the last cells of the complete row.
    """
    downtime = downtime_since_creation(study)
    for piece in in_pieces(played_episodes(study, chosen, downtime)):
        pks = {played.episode for played in piece}
        messages, touched, first = _messages(pks), touched_steps(piece, downtime), _first_seats(pks)
        events = events_of(episode for episode, _ in messages.values())
        for played in played_by_not_withdrawn(piece):
            if theirs := messages.get(played.episode):
                share = _share(played, *theirs, first.get(played.episode, played.seat))
                share = replace(share, scored_events=events.get(played.episode, ()))
                yield from played.row_groups(list(cells(share)), touched, chosen, later)


def _messages(pks: set[int]) -> dict[int, tuple[Episode, list[Message]]]:
    """Return the messages of each episode, by episode id, together with the episode. Episodes without
    messages are left out."""
    by_episode: dict[int, list[Message]] = defaultdict(list)
    for row in Message.objects.filter(episode__in=pks).order_by("episode", "number"):
        by_episode[row.episode_id].append(row)
    episodes = Episode.objects.filter(pk__in=by_episode)
    return {episode.pk: (episode, by_episode[episode.pk]) for episode in episodes}


def _first_seats(pks: set[int]) -> dict[int | None, int]:
    """Return the lowest seat of a participant in each episode, by episode id. Participants who withdrew do
    not count."""
    rounds = Round.objects.filter(episode__in=pks).order_by().values("episode")
    waiting = Participant.objects.filter(warm_up__in=pks).order_by().values("warm_up")
    while_waiting = waiting.annotate(first=Min("warm_up_seat")).values_list("warm_up", "first")
    return dict([*while_waiting, *rounds.annotate(first=Min("seat")).values_list("episode", "first")])


def _share(played: PlayedEpisode, episode: Episode, messages: Sequence[Message], first: int) -> Share:
    organisation, world = episode.team, current_world(episode)
    if organisation is None:
        return Share(0, set(), 0, {})
    until = {
        organisation.holder(int(seat)).number: _last_message_before(messages, at)
        for seat, at in (episode.gone or {}).items()
        if at["why"] not in HAVE_PERSON
    }
    people = {member.number for member in organisation.members if member.is_person} | set(until)
    member, first = organisation.holder(played.seat).number, organisation.holder(first).number
    share = Share(member, people, first, until, world=episode.world)
    for row in messages:
        readers = {one for one in share.there(row.number) if may_know(world, organisation, row, one)}
        share.messages.append((row, readers))
    return share


def _last_message_before(messages: Sequence[Message], gone: Mapping[str, Any]) -> int:
    """Return the number of the last message before a person left. `gone` is the record of this event. Older
    records have only the step, from which the number is then derived."""
    before = (row.number for row in messages if row.step < gone["step"])
    return int(gone["said"]) if "said" in gone else max(before, default=0)


def message_rows(share: Share, *, world_requests: bool = False) -> Iterator[Cells]:
    """Return one row per message that the participant sent or could read. The first participant also gets
    the messages that no person could read. If `world_requests` is true, each row ends with the requests of
    the message in words."""
    return (
        (
            *_message_cells(row, known=share.member in readers),
            *([_requests_in_words(share.world, row)] if world_requests else []),
        )
        for row, readers in share.messages
        if share.has_row(readers)
    )


def _message_cells(row: Message, *, known: bool) -> Cells:
    data, text = member_message(row).data, unblocked_text(row)
    shown = "" if text == row.text else row.text
    return (row.step, row.number, row.sender, row.to, row.kind, text, data, row.sent_at, known, shown)


def _requests_in_words(world: str, row: Message) -> str | None:
    with in_english():
        return get_page(world).requests_in_words(row.data) or None


def columns_of_requests(study: Study) -> tuple[Column, ...]:
    """Return the column of requests in words, if messages can request commands in a world of the study."""
    worlds = (world for world in study_worlds(study) if world in known_worlds())
    return file_columns("messages_requests") if any(get_kit(one).requests_actions for one in worlds) else ()


def message_table_rows(study: Study, chosen: ExportSelection, more: Sequence[Column]) -> Iterator[RowGroup]:
    """Yield the rows of messages.csv, with the requests in words if `more` has this column."""
    cells = partial(message_rows, world_requests=bool(more))
    return rows_of_conversations(cells, study, chosen, later=len(more))


MESSAGES = ExportTable(
    "messages",
    "What people and co-players said to one another.",
    MESSAGE_COLUMNS,
    message_table_rows,
    columns_of_requests,
)

JOB_STATES = (ACCEPTED, DECLINED, STARTED, DONE, FAILED, WITHDRAWN)
"""Possible states of a job with columns of their own."""


JOB_COLUMNS = (
    *EPISODE_COLUMNS,
    *file_columns("jobs", state="; ".join((GIVEN, *JOB_STATES, PASSED_ON))),
    *EPISODE_MARKS,
    *OUTAGE_MARKS,
)


LATER = file_columns("jobs_later")
"""Columns of studies with organisations. They were added later and therefore come at the end."""


def columns_of_organisations(study: Study) -> tuple[Column, ...]:
    """Return the columns `LATER` if any condition of the study has rules about who may command or write to
    whom. Otherwise return no columns."""
    plans = (plan for design in version_blueprints(study) for plan in design.conditions)
    return LATER if any(plan.organisation for plan in plans) else ()


def job_table_rows(study: Study, chosen: ExportSelection, more: Sequence[Column]) -> Iterator[RowGroup]:
    """Yield the rows of jobs.csv, with the cells of `LATER` if `more` has these columns."""
    return rows_of_conversations(partial(job_rows, later=bool(more)), study, chosen, later=len(more))


def job_rows(share: Share, *, later: bool = False) -> Iterable[Cells]:
    """Yield one row per job that the participant gave or received. The first participant also gets the
    jobs between co-players (agents)."""
    messages = {row.number: row for row, _ in share.messages}
    told = [member_message(row) for row in messages.values()]
    courses: dict[tuple[int, int], list[tuple[Message, Job]]] = {}
    for change, job in job_changes(told):
        courses.setdefault((job.number, job.worker), []).append((messages[change.number], job))
    again = reassigned_jobs(job_courses(told)) if later else frozenset()
    for key, course in courses.items():
        given, job = course[0]
        of = {job.giver, job.worker} & share.there(given.number)
        if share.has_row(of):
            more = _later_cells(course, given_again=key in again) if later else ()
            yield *_job_cells(course, known=share.member in of), *more


def _later_cells(course: list[tuple[Message, Job]], *, given_again: bool) -> Cells:
    """Return the cells of a job for the columns in `LATER`. `course` holds the changes of the job's state.
    `given_again` says whether the job was assigned once more later."""
    (given, _), last = course[0], course[-1][1]
    first = {one.state: row for row, one in reversed(course[1:])}
    passed, spent = first.get(PASSED_ON), list[float | None]()
    for state in (ACCEPTED, DONE):
        row = first.get(state)
        spent += [row.step - given.step, (row.sent_at - given.sent_at).total_seconds()] if row else [None] * 2
    when = (passed.step, passed.sent_at) if passed else (None, None)
    return *when, *spent, given_again, last.cycle


def _job_cells(course: list[tuple[Message, Job]], *, known: bool) -> Cells:
    """Return the table cells of a job, made from its changes of state. If a job reached a state twice, the
    first time counts."""
    (given, job), last = course[0], course[-1][1]
    when = {one.state: (row.step, row.sent_at) for row, one in reversed(course[1:])}
    states = [cell for state in JOB_STATES for cell in when.get(state, (None, None))]
    text, data = unblocked_text(given), member_message(given).data
    asked = (given.step, job.number, job.giver, job.worker, text, data, given.sent_at)
    return (*asked, *states, last.state, failure_reason(last), known)


JOBS = ExportTable(
    "jobs",
    "What members asked of one another, and what became of it.",
    JOB_COLUMNS,
    job_table_rows,
    columns_of_organisations,
)


SCORED_EVENT_COLUMNS = (*EPISODE_COLUMNS, *file_columns("scored_events"), *EPISODE_MARKS, *OUTAGE_MARKS)


def value_columns(study: Study) -> tuple[Column, ...]:
    """Return the columns for the values of scored events, as the study's worlds declare them. A scored event
    is an event in the log that a metric scores."""
    return tuple(
        Column(one.name, one.kind, f"{one.meaning}.", levels=one.levels)
        for one in event_columns(study_worlds(study))
    )


def scored_event_rows(study: Study, chosen: ExportSelection, more: Sequence[Column]) -> Iterator[RowGroup]:
    """Yield one row per scored event (an event in the log that a metric scores), ordered by participant
    and step. `more` are the columns that `value_columns` returned."""
    cells = partial(event_rows, [column.name for column in more])
    return rows_of_conversations(cells, study, chosen, _events_of)


def _events_of(episodes: Iterable[Episode]) -> ScoredEvents:
    scoring = [episode for episode in episodes if episode.messages and event_columns([episode.world])]
    return {pk: scored_events(log) for pk, log in read_logs(scoring).items()} if scoring else {}


def event_rows(names: Sequence[str], share: Share) -> Iterator[tuple[Any, ...]]:
    """Yield one row per scored event of the episode that belongs to this participant. `names` are the
    columns of values to include."""
    readers = {row.number: who for row, who in share.messages}
    for number, event in enumerate(share.scored_events, start=1):
        known_to = set.intersection(*(readers[each] for each in event.messages))
        if share.has_row(known_to):
            values = (event.values.get(name) for name in names)
            cells = (value if value != "" else None for value in values)
            yield event.step, number, event.result, list(event.messages), *cells, share.member in known_to


SCORED_EVENTS = ExportTable(
    "scored_events",
    "Every event that metrics of the log score, such as a request with its answer.",
    SCORED_EVENT_COLUMNS,
    scored_event_rows,
    value_columns,
    more_after="message_numbers",
)
