"""Read the current state of each participant of a study, for the page on which staff watch the study live.

The module also reads the study's totals: participants by status, and costs. It changes no data.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from django.db.models import Count, Max, Prefetch, Q
from django.utils import timezone

from kitchen.llm.circuit_breaker import paused_models
from kitchen.money.budget_ledger import reserved_amount, spent_or_reserved
from kitchen.play.episode.play_monitoring import EpisodeCounts, EpisodeFacts, episode_counts, episode_facts
from kitchen.play.models import Episode
from study.design.models import Study
from study.design.own_pages import PREFIX
from study.design.page_and_item_order import LAST, LOBBY, WAITING
from study.design.session_breaks import DUE, LATE, RESTING, SessionBreak
from study.participants import next_page
from study.participants.allocated_people import AllocationProgress, allocation_progress
from study.participants.current_breaks import breaks_of_people
from study.participants.models import PageVisit, Participant, Round
from study.participants.participant_counts import (
    ConditionProgress,
    GroupProgress,
    condition_progress,
    group_progress,
)
from study.participants.participant_notifications import live_page_group
from study.participation.round_planning import must_wait

SHOWN_AFTER_END = timedelta(hours=1)
"""The time for which a participant who has ended stays on the page."""
MOST_ROWS = 300
"""The most participants on one page; the newest are shown. More could not be read and drawn in time."""

PAGE_WORDS = {
    "welcome": "Welcome",
    "consent": "Consent",
    "about": "About the person",
    "guide": "Guide",
    "practice": "Practice",
    "ready": "Ready card",
    "check": "Check of understanding",
    "waiting": "Waiting for the budget",
    "lobby": "Lobby",
    "play": "Playing",
    "survey": "Survey",
    "final": "Final comparison",
    "debriefing": "Debriefing",
    "end": "Last page",
}
"""Readable names of the pages in `study.participants.next_page`."""


def page_words(page: str) -> str:
    """Return the readable name of a participant's page. A page that researchers wrote is named by its key."""
    own = page.removeprefix(PREFIX)
    return PAGE_WORDS.get(page, page) if own == page else f"Own page {own}"


@dataclass(frozen=True, slots=True)
class LiveRow:
    """One row of the live page: a participant's current state, as staff see it."""

    code: str
    kind: str
    """`person`, `synthetic` or `preview`."""
    status: str
    status_words: str
    excluded: bool
    page: str
    """The page's name in `study.participants.next_page`."""
    condition: str
    """The researcher's name of the condition. It is empty outside the rounds."""
    position: int
    """The position of the round, or 0 outside the rounds."""
    rounds: int
    step: int | None
    """The number of steps taken, or None outside an episode."""
    length: int | None
    standing: tuple[str, ...]
    """The episode's current score as texts, one per metric. It is empty outside an episode."""
    waits_for: str
    """The person or program that the study waits for, as text. Empty after the end."""
    since: datetime
    """The time at which the participant last did anything, or ended."""
    fallbacks: int
    """The sum over all of the participant's episodes. The same holds for `model_failures` and `spent`."""
    model_failures: int
    spent: Decimal
    concealed: bool = False
    """True if everything that could reveal the condition is left out."""
    late: int = 0
    """The number of steps that the clock took too late in the current episode."""

    @property
    def active(self) -> bool:
        """Return whether the participant still takes part."""
        return self.status == Participant.Status.ACTIVE

    @property
    def idle(self) -> str:
        """Return the time since `since`, as text. The text changes at most once a minute."""
        return ago_words(self.since)

    @property
    def page_words(self) -> str:
        """Return the name of the page on which the participant is, for staff."""
        return page_words(self.page)


@dataclass(frozen=True, slots=True)
class LiveTotals:
    """The numbers of participants by status, and the study's costs."""

    lines: tuple[tuple[str, tuple[int, int, int]], ...]
    """(label, (people, synthetic participants, previews)) of each line."""
    people_active: int
    people_complete: int
    withdrawn: int
    withdrawn_synthetic: int
    spent: Decimal
    reserved: Decimal
    limit: Decimal
    last_step_at: datetime | None
    """The time of the study's last step, judged by the times at which turns opened."""
    groups: tuple[GroupProgress, ...] = ()
    """The progress of the between-subjects groups; empty in a study without groups."""
    conditions: tuple[ConditionProgress, ...] = ()
    """The progress of the conditions, if participants play different subsets of them; otherwise empty."""
    allocation: AllocationProgress | None = None
    """The progress of quotas, and the answers in each group; None without such an allocation."""
    paused_models: tuple[str, ...] = ()
    """The language models of this server that are not called now, because they kept failing."""

    @property
    def share(self) -> float:
        """Return the fraction of the budget that is spent or reserved, from 0 to 1."""
        return min(1.0, float((self.spent + self.reserved) / self.limit)) if self.limit else 0.0


def ago_words(since: datetime) -> str:
    """Return the time since this moment as text: `under a minute`, `3 min`, `2 h 5 min`, `4 days`."""
    minutes = max(0, int((timezone.now() - since).total_seconds() // 60))
    if minutes < 1:
        return "under a minute"
    if minutes < 60:
        return f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours < 48 else f"{hours // 24} days"


def shown_participants(study: Study) -> Q:
    """Return a filter for the participants on the live page: those who are active or ended recently."""
    lately = timezone.now() - SHOWN_AFTER_END
    return Q(study=study) & (Q(status=Participant.Status.ACTIVE) | Q(ended_at__gte=lately))


def live_codes(study: Study) -> list[str]:
    """Return the codes of the participants on the live page, newest first."""
    participants = Participant.objects.filter(shown_participants(study)).order_by("-number")
    return list(participants.values_list("code", flat=True)[:MOST_ROWS])


def shown_count(study: Study) -> int:
    """Return how many participants the live page would show without the limit `MOST_ROWS`."""
    return Participant.objects.filter(shown_participants(study)).count()


def players_of(study: Study, episodes: Iterable[str]) -> set[str]:
    """Return the codes of the participants who play or practise in the episodes with these keys."""
    ids = list(Episode.objects.filter(key__in=list(episodes)).values_list("pk", flat=True))
    played = Round.objects.filter(episode__in=ids).values_list("participant__code", "participant__study")
    practised = Participant.objects.filter(practice__in=ids).values_list("code", "study")
    before = Participant.objects.filter(first_practice__in=ids).values_list("code", "study")
    waiting = Participant.objects.filter(warm_up__in=ids).values_list("code", "study")
    # Separate queries, filtered by study in Python: each uses an index, however many participants there are.
    players = (*played.order_by(), *practised.order_by(), *before.order_by(), *waiting.order_by())
    return {code for code, where in players if where == study.pk}


def live_rows(study: Study, codes: Iterable[str]) -> list[LiveRow]:
    """Return the live page's rows for the participants with these codes, newest first. Erased participants
    are left out."""
    people = list(_people(study, codes))
    pauses = breaks_of_people(people)
    current = {person.pk: _episode_now(person) for person in people}
    facts = episode_facts(pk for pk in current.values() if pk)
    counts = episode_counts(pk for person in people for pk in _episodes(person))
    places = _places(study, people)
    rows = [_row(person, places[person.pk], facts.get(current[person.pk] or 0), counts) for person in people]
    return [_with_break(row, pauses.get(person.pk)) for row, person in zip(rows, people, strict=True)]


def _with_break(row: LiveRow, pause: SessionBreak | None) -> LiveRow:
    """Return the row, with the state of the participant's break as what the study waits for."""
    if pause is None:
        return row
    return replace(row, waits_for=BREAK_WAITS[pause.state(timezone.now())])


def without_condition(row: LiveRow) -> LiveRow:
    """Return the row without anything that could reveal the participant's condition."""
    plain = ("", "the participant", OPENS, *BREAK_WAITS.values())
    waits = row.waits_for if row.waits_for in plain else "others"
    hidden: dict[str, Any] = {"condition": "", "step": None, "length": None, "standing": (), "late": 0}
    costs: dict[str, Any] = {"fallbacks": 0, "model_failures": 0, "spent": Decimal(0)}
    return replace(row, concealed=True, waits_for=waits, **hidden, **costs)


def without_groups(totals: LiveTotals) -> LiveTotals:
    """Return the totals without counts of groups, conditions and quotas, which reveal the next group, and
    without names of models."""
    return replace(totals, groups=(), conditions=(), allocation=None, paused_models=())


def _places(study: Study, people: Iterable[Participant]) -> dict[int, next_page.CurrentPage]:
    """Return the current page of each participant, by participant id. If a round waits both for its group and
    for the study's budget, its page is the one about the budget."""
    places = {person.pk: _place(person) for person in people}
    meet = {person for person in people if places[person.pk].page == LOBBY}
    without_money: dict[tuple[int, int], bool] = {}
    for person in meet:
        place = places[person.pk]
        if place.round is None:
            continue
        condition = (person.version_id, place.round.condition_id)
        if condition not in without_money:
            without_money[condition] = must_wait(person, place.round)
        if without_money[condition]:
            places[person.pk] = replace(place, page=WAITING)
    return places


def _people(study: Study, codes: Iterable[str]) -> Iterable[Participant]:
    """Return the participants with all data that the rows of the live page show. If many participants share
    a version, it is read only once."""
    rounds = Round.objects.select_related("condition", "episode").defer("episode__state", "episode__score")
    done = PageVisit.objects.filter(done_at__isnull=False, position=0)
    people = Participant.objects.filter(study=study, code__in=list(codes)).order_by("-number")
    visits = Prefetch("visits", done, to_attr="pages_done")
    return people.prefetch_related("version", Prefetch("rounds", rounds), visits)


def _place(person: Participant) -> next_page.CurrentPage:
    if person.status != Participant.Status.ACTIVE:
        return next_page.CurrentPage(LAST)
    done = {visit.page for visit in person.pages_done}  # type: ignore[attr-defined]
    return next_page.page_among(person.blueprint, lambda: done, list(person.rounds.all()))


def _episode_now(person: Participant) -> int | None:
    """Return the id of the participant's current episode. Return None if there is none."""
    place = _place(person)
    if place.page == "practice":
        return person.practice_id
    return place.round.episode_id if place.page == "play" and place.round else None


def _episodes(person: Participant) -> list[int]:
    played = [one.episode_id for one in person.rounds.all() if one.episode_id]
    return [*played, *person.practised_ids]


def _row(
    person: Participant,
    place: next_page.CurrentPage,
    now: EpisodeFacts | None,
    counts: Mapping[int, EpisodeCounts],
) -> LiveRow:
    theirs = [counts[pk] for pk in _episodes(person) if pk in counts]
    return LiveRow(
        code=person.code,
        kind=kind_of(person),
        status=person.status,
        status_words=person.get_status_display(),
        excluded=person.excluded_at is not None,
        page=place.page,
        condition=place.round.condition.name if place.round else "",
        position=place.position,
        rounds=person.blueprint.rounds,
        step=now.step if now else None,
        length=now.length if now else None,
        standing=now.standing if now else (),
        waits_for=_waits_for(person, place, now),
        since=_since(person, now),
        fallbacks=sum(one.fallbacks for one in theirs),
        model_failures=sum(one.model_failures for one in theirs),
        spent=sum((one.spent for one in theirs), Decimal(0)),
        late=(now.late or 0) if now else 0,
    )


def kind_of(person: Participant) -> str:
    """Return `preview`, `synthetic` or `person`."""
    return "preview" if person.preview else "synthetic" if person.synthetic else "person"


OPENS = "the participant to open the page"
BREAK_WAITS = {
    RESTING: "the end of a break",
    DUE: "the participant to come back",
    LATE: "nobody: came back too late",
}
"""Words for a break on the live page, by the state of the break."""
WAITED_FOR = {LOBBY: "other people", WAITING: "the budget"}


def _waits_for(person: Participant, place: next_page.CurrentPage, now: EpisodeFacts | None) -> str:
    if person.status != Participant.Status.ACTIVE:
        return ""
    if place.page in WAITED_FOR:
        return WAITED_FOR[place.page]
    seat = place.round.seat if place.round else person.practice_seat
    if now is None or seat in now.people_missing or now.status != Episode.Status.PLAYING:
        return "the participant" if now is None or now.opened else OPENS
    if not now.people_missing and not now.opened:  # the leader without a seat
        return OPENS
    if now.late is not None:
        return "the clock"
    return "another person" if now.people_missing else "co-players"


def _since(person: Participant, now: EpisodeFacts | None) -> datetime:
    if person.ended_at:
        return person.ended_at
    commanded = now.last_command_at if now else None
    return max(person.active_at, commanded) if commanded else person.active_at


STATUS_LINES = (
    ("taking part", Participant.Status.ACTIVE),
    ("complete", Participant.Status.COMPLETE),
    ("did not agree", Participant.Status.NO_CONSENT),
    ("failed the check of understanding", Participant.Status.FAILED_CHECK),
    ("timed out", Participant.Status.TIMED_OUT),
    ("ended for a technical reason", Participant.Status.TECHNICAL),
    ("found nobody to play with", Participant.Status.UNMATCHED),
    ("found no group with a place", Participant.Status.NO_PLACE),
    ("screened out", Participant.Status.SCREENED_OUT),
    ("did not come back in time", Participant.Status.LATE_RETURN),
)
KINDS = ("person", "synthetic", "preview")


def live_totals(study: Study) -> LiveTotals:
    """Return the current numbers of participants by status, and the current costs."""
    study = Study.objects.select_related("budget").get(pk=study.pk)
    numbers, excluded = _numbers(study)
    lines = [(words, tuple(numbers[kind, status] for kind in KINDS)) for words, status in STATUS_LINES]
    lines.append(("excluded by staff (counted above too)", tuple(excluded[kind] for kind in KINDS)))
    reserved = reserved_amount(study.budget_id) if study.budget_id else Decimal(0)
    return LiveTotals(
        lines=tuple(lines),  # type: ignore[arg-type]
        people_active=numbers["person", Participant.Status.ACTIVE],
        people_complete=numbers["person", Participant.Status.COMPLETE],
        withdrawn=study.withdrawn,
        withdrawn_synthetic=study.withdrawn_synthetic,
        spent=spent_or_reserved(study.budget_id) - reserved if study.budget_id else Decimal(0),
        reserved=reserved,
        limit=study.budget_limit,
        last_step_at=_last_step_at(study),
        groups=tuple(group_progress(study)) if study.between_groups else (),
        conditions=tuple(condition_progress(study)),
        allocation=allocation_progress(study),
        paused_models=paused_models(),
    )


def _numbers(study: Study) -> tuple[Counter[tuple[str, str]], Counter[str]]:
    """Return two counts: participants by kind and status, and excluded participants by kind."""
    rows = study.participants.order_by().values("synthetic", "preview", "status")
    numbers: Counter[tuple[str, str]] = Counter()
    excluded: Counter[str] = Counter()
    for row in rows.annotate(n=Count("pk"), out=Count("excluded_at")):
        kind = "preview" if row["preview"] else "synthetic" if row["synthetic"] else "person"
        numbers[kind, row["status"]] += row["n"]
        excluded[kind] += row["out"]
    return numbers, excluded


def _last_step_at(study: Study) -> datetime | None:
    """Return the time of the study's last step. Return None if no step was taken.

    The opening times of turns show it, because a turn opens when the step before it is taken. Episodes that
    cannot have the last step are not read.
    """
    begun = Episode.objects.filter(audience=live_page_group(study), step__gt=0)
    ended = begun.exclude(ended_at=None).order_by("-ended_at")
    since = ended.values_list("turn_opened_at", flat=True).first()
    late = Q(ended_at=None) | Q(ended_at__gte=since) if since else Q(ended_at=None)
    last: datetime | None = begun.filter(late).aggregate(last=Max("turn_opened_at"))["last"]
    return last
