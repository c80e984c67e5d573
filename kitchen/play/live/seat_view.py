"""Compute everything that a player's page shows now, including hints. The module changes no data.

A leader is a person without a player in the world. A leader's page shows what the team's organisation (its
rules) allows, and has no command menu. Hints use only what the player may know.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, replace
from typing import NamedTuple, TypedDict

from kitchen.contract.agent import Situation
from kitchen.contract.agent_skills import SeatObservation
from kitchen.contract.assigned_jobs import jobs_in
from kitchen.contract.automatic_commands import visible_plans
from kitchen.contract.organisation import SAY, Member, Organisation
from kitchen.contract.page import Page
from kitchen.contract.page_view import (
    DRAWING_TABLES,
    AskedProbe,
    ChoiceView,
    JobsView,
    PlansView,
    PlayerView,
    ProbesView,
    ResultView,
    SeatView,
    SpeakingTurn,
    StepView,
    TalkView,
    TimingView,
)
from kitchen.contract.star_targets import known_star_targets
from kitchen.contract.team_messages import REQUESTS_KEY
from kitchen.contract.world import Aim, Command, Intent, Json, World
from kitchen.infra.database_writes import among_ids, json_from_driver, select_rows, time_from_driver
from kitchen.play.episode.end_episode import is_ended_by_staff, is_ended_technically
from kitchen.play.live.agent_sentences import shown_message
from kitchen.play.models import Episode, Seat
from kitchen.play.turn import state_store, step_timer
from kitchen.play.turn.conversation import conversation_partners, messages_known_to
from kitchen.play.turn.decision_records import known_intents
from kitchen.play.turn.leader_waits import is_leader_awaited
from kitchen.play.turn.open_turn import OpenTurn
from kitchen.play.turn.probe_holds import open_probes
from kitchen.play.turn.speaking_order import speaking_turn
from kitchen.play.turn.state_store import PastStep
from kitchen.play.turn.turn_cache import read_turn
from kitchen.play.turn.turn_rules import asked_seats, passed_by_seats
from kitchen.play.turn.websocket_messages import StateMessage, TurnStamp, seat_changes, stamp_time
from kitchen.registry.agent_registry import agent_kinds, get_adviser, get_agent, get_skills
from kitchen.registry.world_metrics import achievements
from kitchen.registry.world_registry import get_kit, get_page
from kitchen.words.gettext_without_django import current_language, gettext, pgettext


def _frame(turn: OpenTurn, page: Page, number: int, phase: str) -> SeatView:
    """Return a `SeatView` with the fields that are needed on both kinds of page: for seats in the world, and
    for leaders without a seat."""
    episode, score = turn.episode, _known_score(turn, number)
    early_goal = (episode.goal and episode.until) or {}
    players = [
        PlayerView(one.number, page.named(one.number + 1), one.number == number) for one in turn.acting
    ]
    return SeatView(
        seat=number,
        phase=phase,
        step=episode.step,
        length=turn.world.length,
        label=episode.label,
        players=tuple(players),
        waiting_for=(),
        brief={},
        observation={},
        history=(),
        shown=episode.shown,
        marks_actions=not episode.hides_dots,
        order_choices=episode.order_choices,
        result=ResultView(
            score=score,
            achieved=achievements(episode.world, score),
            figures=tuple(figure for figure in turn.world.figures if figure.words),
            until=bool(episode.until) and not episode.goal,
            early_end=achievements(episode.world, early_goal),
            has_early_end=bool(early_goal),
            reached=episode.status == Episode.Status.REACHED,
            world=episode.world,
            star_targets=known_star_targets(episode.star_targets, turn.world.figures),
            ended_by_staff=is_ended_by_staff(episode),
            ended_technically=is_ended_technically(episode),
            abandoned_because=episode.ended_because if episode.status == Episode.Status.ABANDONED else "",
        ),
        **_talk(turn, number, page),
    )


def _known_score(turn: OpenTurn, number: int) -> Mapping[str, Json]:
    """Return the metrics that this seat may know now, by name. A leader knows those that the first seat it
    sees knows. A leader that sees no seat knows those that all seats know. After the end, all are known."""
    episode, world = turn.episode, turn.world
    score: Mapping[str, Json] = episode.score
    if not turn.is_open:
        return score
    eyes: Iterable[int] = (number,)
    if number in turn.leaders:
        seen = episode.team.seats_seen(number)[:1] if episode.team else ()
        eyes = seen or range(world.seats)
    hidden = frozenset[str]().union(*map(world.hidden_metrics, eyes))
    return {name: value for name, value in score.items() if name not in hidden}


def leader_view(turn: OpenTurn, number: int) -> SeatView:
    """Return everything that the page of a leader shows in this turn. A leader commands others and has no
    seat in the world. `number` is the leader's seat number."""
    episode, world, page = turn.episode, turn.world, get_page(turn.episode.world)
    waited = _missing(turn, number, None) if turn.can_wait_for_leaders and turn.is_open else ()
    left = step_timer.seconds_left(episode) if is_leader_awaited(turn, number) else None
    frame = replace(
        _frame(turn, page, number, "lead" if turn.is_open else "over"),
        waiting_for=tuple(seat.number for seat in waited),
        brief=world.public_brief(),
        public_state=world.public_state(),
        timing=TimingView(episode.step_seconds, left),
        acts=False,
    )
    frame = _with_probes(turn, number, frame)
    seen = episode.team.seats_seen(number) if episode.team else ()
    if not seen:
        return frame
    eyes, shows = seen[0], episode.shows_intents
    return replace(
        frame,
        observation=world.observe(eyes),
        picture=_picture(turn, eyes),
        history=tuple(_known(turn, step, seen) for step in turn.past),
        plans=PlansView(
            by_seat=visible_plans(world, eyes, turn.plans, turn.step, others=True) if shows else {},
            shows_intents=shows,
            intents=known_intents(world, eyes, turn.intents) if turn.is_open else {},
        ),
        looks_on=bool(page.overview_layout),
    )


def _picture(turn: OpenTurn, seat: int) -> Mapping[str, Json]:
    return turn.world.picture(seat) if turn.episode.shown != DRAWING_TABLES else {}


def _known(turn: OpenTurn, step: PastStep, seen: tuple[int, ...]) -> StepView:
    """Return the commands and events of a past step that at least one of these seats may know."""
    commands: dict[int, Command] = {}
    for seat in seen:
        commands |= step.known(turn.world, seat).commands
    return StepView(step.number, commands, state_store.known_events(turn.world, seen, step.events))


class Hints(NamedTuple):
    """Sentences shown before a step, and the command that the last sentence recommends, if any. `purpose` is
    the purpose of the command, in a code of the world."""

    sentences: tuple[str, ...]
    command: Command | None = None
    purpose: str = ""
    after: tuple[Command, ...] = ()
    """The commands that are offered together with it."""


STEPS_OF_A_CHOICE = 3
"""Number of steps for which each instruction is shown, where one choice can be several commands."""


def hints_for(world: World, view: SeatView) -> Hints:
    """Return the hints, one sentence each, for the person in this seat before the open step. If the world's
    adviser recommends a command, the last hint states it."""
    page = get_page(world.kind)
    # where one choice can be several commands, the steps after the first may never be waited for
    steps = STEPS_OF_A_CHOICE if view.plans.offered else 1
    number = (view.step + steps - 1) // steps
    first = [gettext(text) for text in page.first_steps[number : number + 1]]
    if view.result.until and number == 1:
        first.append(page.aim.format(steps=view.length))
    advice = get_adviser(world.kind).lead(_situation(world, view))
    if advice is None or advice.command not in view.choice.legal:
        return Hints((*first, page.hint_without_advice(view)))
    hint = page.hint(view, advice.command, advice.aim)
    after = page.hinted_next(view, advice.command, advice.aim) if view.plans.offered else ()
    return Hints((*first, hint), advice.command, advice.aim.get("do", ""), after)


def realtime_hint(world: World, seat: int, brief: Mapping[str, Json]) -> Intent:
    """Return what a sensible player in this seat would do now, for the hint of a real-time episode. The form
    is that of `Decision.intents`. `brief` holds the facts that never change.

    `at` has the cells to use, for a world on a grid: `0,1 4,1`. Empty if the world has no skills, or no text
    for the skill.
    """
    if not get_kit(world.kind).skills:
        return {}
    skills = get_skills(world.kind)
    sight = SeatObservation(seat, brief, world.observe(seat), world.legal_actions(seat))
    intent = skills.intent(skills.errand(sight))
    cells = " ".join(f"{x},{y}" for x, y in skills.hint_cells(sight))
    return {**intent, "at": cells} if intent and cells else intent


def _situation(world: World, view: SeatView) -> Situation:
    return Situation(
        world=world.kind,
        step=view.step,
        seats=(view.seat,),
        briefs={view.seat: view.brief},
        observations={view.seat: view.observation},
        legal={view.seat: view.choice.legal},
        people=(view.seat,),
        seed=view.step,
    )


MESSAGES_SHOWN = 30
"""Number of newest messages shown on a page."""
FINISHED_JOBS_SHOWN = 6
"""Number of newest finished jobs shown on a page, besides all open jobs."""


def seat_by_key(key: str) -> Seat | None:
    """Return the person's seat with this key, with its episode but without the world's state. None if
    there is none."""
    seats = Seat.objects.select_related("episode").defer("episode__state")
    return seats.filter(key=key, mind=None).first()


def is_taken_over(key: str) -> bool:
    """Return whether this key belongs to a person's seat that an agent has taken over."""
    return Seat.objects.filter(key=key, mind__isnull=False, episode__gone__isnull=False).exists()


def world_page_of(seat: Seat) -> Page:
    """Return the page definition (`Page`) of the world in which this seat plays."""
    return get_page(seat.episode.world)


def current_seat_view(seat: Seat) -> SeatView:
    """Return everything that the page of this seat shows now. Raises Episode.DoesNotExist if the episode
    was erased."""
    with read_turn(seat.episode_id) as turn:
        return seat_view_in_turn(turn, seat.number)


def seat_view_in_turn(turn: OpenTurn, number: int) -> SeatView:
    """Return everything that the page of the seat with this number shows in this turn."""
    if number in turn.leaders:
        return leader_view(turn, number)
    episode, world, page = turn.episode, turn.world, get_page(turn.episode.world)
    speaking = speaking_turn(turn, number)
    missing = _missing(turn, number, speaking)
    phase = _phase(turn, number, missing)
    choosing = phase == "choose" and not turn.is_probing
    is_due = choosing or phase == "answer"
    offered = choosing or (turn.is_open and number in turn.may_act)
    view = replace(
        _frame(turn, page, number, phase),
        waiting_for=tuple(seat.number for seat in missing) if turn.is_open else (),
        brief=turn.briefs[number],
        observation=world.observe(number),
        picture=_picture(turn, number),
        history=tuple(step.known(world, number) for step in turn.past),
        choice=_choice(turn, number, choosing=choosing, offered=offered),
        timing=TimingView(
            episode.step_seconds, step_timer.seconds_left(episode) if is_due else None, episode.tick_ms
        ),
        taken_over=_taken_over(turn),
        plans=PlansView(
            by_seat=visible_plans(
                world, number, turn.plans, turn.step, others=episode.shows_intents or world.shows_plans
            ),
            offered=episode.offers_plans,
            plannable=world.plannable(number) if episode.offers_plans and (offered or is_due) else (),
            shows_intents=episode.shows_intents,
            intents=known_intents(world, number, turn.intents) if turn.is_open else {},
        ),
    )
    view = _with_probes(turn, number, replace(view, talk=replace(view.talk, turn=speaking)))
    if not (episode.hints and choosing):
        return view
    if episode.tick_ms is None:
        hints = hints_for(world, view)
    else:  # a hint for the next step would be outdated at once: give all instructions
        hints = Hints(tuple(map(gettext, page.first_steps)))
    choice = replace(
        view.choice,
        hints=hints.sentences,
        hinted=hints.command,
        purpose=hints.purpose,
        hinted_next=hints.after,
    )
    return replace(view, choice=choice)


def _with_probes(turn: OpenTurn, number: int, view: SeatView) -> SeatView:
    """Return the view with the questions that hold the game. While they do, nobody can choose."""
    if not turn.episode.probes:
        return view
    if not turn.is_probing:
        return replace(view, probes=ProbesView())
    asked, language = open_probes(turn), current_language()
    own = asked if number in turn.probed_seats else []
    shown = tuple(AskedProbe(one.key, tuple(item.in_language(language) for item in one.items)) for one in own)
    limit = max((one.limit_seconds for one in asked), default=0)
    return replace(
        view,
        phase="probe" if own else "waiting",
        waiting_for=tuple(sorted(turn.probed_seats)),
        probes=ProbesView(shown, turn.episode.step, limit, is_on=True),
        timing=replace(view.timing, seconds_left=None),
    )


def probe_message(view: SeatView) -> Json:
    """Return the questions of this view as JSON, for a program or a page under a clock. None without any."""
    if view.probes is None or not view.probes.asked:
        return None
    asked = [{"key": one.key, "items": [item.to_json() for item in one.items]} for one in view.probes.asked]
    return {"step": view.probes.step, "probes": asked}


def _choice(turn: OpenTurn, number: int, *, choosing: bool, offered: bool) -> ChoiceView:
    world, given = turn.world, turn.given.get(number)
    passed_by = number in passed_by_seats(turn) | turn.may_act
    earlier = tuple(seat for seat in turn.people if seat < number)
    return ChoiceView(
        legal=world.legal_actions(number) if offered else (),
        anticipated=world.anticipated_actions(number, earlier) if choosing else (),
        amounts=world.amounts(number) if offered else {},
        chosen=tuple(given.command) if given and not passed_by else None,
        passed_by=passed_by,
        may_act=turn.is_open and number in turn.may_act,
    )


def _taken_over(turn: OpenTurn) -> tuple[tuple[int, int, str], ...] | None:
    """Return (seat, first step, reason) for each seat that an agent took over from a person.

    Return None if agents cannot take over seats in this episode.
    """
    if turn.episode.absence is None and not turn.episode.gone:
        return None
    gone = sorted((int(seat), each) for seat, each in (turn.episode.gone or {}).items())
    return tuple((seat, each["step"], each["why"]) for seat, each in gone)


def _missing(turn: OpenTurn, number: int, speaking: SpeakingTurn | None) -> list[Seat]:
    """Return the seats for which the page of seat `number` shows that it waits.

    Seats of agents are included until the step is taken, even if the agent has already decided. If members
    speak in turns and it is another member's turn, only that speaker's seats are returned. A busy person who
    has to answer a message is included, and so is a leader without a seat for whom the step waits.
    """
    open_seats = asked_seats(turn) - {seat for seat in turn.people if seat in turn.given}
    if speaking and turn.episode.team:
        of_speaker = set(turn.episode.team.member(speaking.speaker).seats)
        open_seats = open_seats | turn.people_to_answer if number in of_speaker else of_speaker
    open_seats |= turn.leaders & turn.people_to_answer
    return [seat for seat in turn.seats if seat.number in open_seats]


class Conversation(TypedDict, total=False):
    """The fields of a `SeatView` about messages and jobs."""

    talk: TalkView
    jobs: JobsView


def _talk(turn: OpenTurn, seat: int, page: Page) -> Conversation:
    """Return the messages and jobs that this seat's person may see. Empty if nobody can send messages."""
    organisation = turn.episode.team
    if organisation is None or organisation.is_silent:
        return {}
    member = organisation.holder(seat).number
    said, own = messages_known_to(turn, member), organisation.member(member).seats
    seen = [other for other in organisation.seats_seen(member) if other not in own]
    jobs = [job for job in jobs_in(said) if member in (job.giver, job.worker)]
    over = [job for job in jobs if not job.is_open][-FINISHED_JOBS_SHOWN:]
    talk = TalkView(
        member=member,
        members={one.number: _called(one, page) for one in organisation.members},
        takes_turns=organisation.takes_turns,
        one_partner=organisation.one_partner,
        messages=said[-MESSAGES_SHOWN:],
        requests=tuple(one for one in said if REQUESTS_KEY in one.data),
        spoken=organisation.spoken,
        language=organisation.talk_language,
        people=tuple(one.number for one in organisation.members if one.is_person),
    )
    if turn.is_open:
        unread, only_jobs = _unread(turn, organisation, member)
        talk = replace(
            talk,
            addressees=organisation.to(member, SAY),
            unread=unread,
            only_jobs=only_jobs,
            partner=conversation_partners(turn).get(member),
        )
    led = JobsView(
        listed=tuple(job for job in jobs if job.is_open or job in over),
        led=bool(organisation.commanders_of(member)),
        leaders=organisation.commanders_of(member),
        leads=organisation.commanded_by(member),
        led_by={one: _led_besides(organisation, one, member) for one in organisation.commanded_by(member)},
        aims=_aims(turn, organisation, member),
        seats_of={one: organisation.member(one).seats for one in organisation.commanded_by(member)},
        can_wait_for_leaders=turn.can_wait_for_leaders,
        seen={other: turn.world.observe(other) for other in seen},
    )
    return {"talk": talk, "jobs": led}


def _led_besides(organisation: Organisation, leader: int, member: int) -> tuple[int, ...]:
    """Return the members whom `leader` may command, without `member`."""
    return tuple(other for other in organisation.commanded_by(leader) if other != member)


def _unread(
    turn: OpenTurn, organisation: Organisation, member: int
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return two tuples with the numbers of members to whom this member may write, but who read no messages.
    The first has all of them. The second has those that carry out jobs."""
    known = agent_kinds()
    kinds = {mind.pk: get_agent(mind.kind) for mind in turn.minds if mind.kind in known}
    held = [(organisation.holder(seat.number).number, kinds.get(seat.mind_id or 0)) for seat in turn.seats]
    deaf = {number: kind.pursues for number, kind in held if kind and not kind.reads_words}
    unread = tuple(other for other in organisation.to(member, SAY) if other in deaf)
    return unread, tuple(other for other in unread if deaf[other])


def _aims(turn: OpenTurn, organisation: Organisation, member: int) -> dict[int, list[Aim]]:
    """Return the goals that can be assigned to each member that this member leads. Members without goals are
    left out.
    """
    led = {other: organisation.member(other).seats for other in organisation.commanded_by(member)}
    aims = {other: turn.world.aims(seats[0]) for other, seats in led.items() if seats}
    return {other: listed for other, listed in aims.items() if listed}


def _called(member: Member, page: Page) -> str:
    """Return the member's name or, if it has none, the names of its seats."""
    names = [page.named(seat + 1) for seat in member.seats]
    return gettext(member.name) if member.name else pgettext("between the things of a list", ", ").join(names)


def _phase(turn: OpenTurn, number: int, missing: list[Seat]) -> str:
    """Return the phase of the turn for the page of the seat `number`: `over`, `choose`, `answer` (a message,
    although busy), `waiting` (for people) or `thinking` (agents).

    `missing` are the seats for which the page waits.
    """
    if not turn.is_open:
        return "over"
    if number in {other.number for other in missing}:
        return "answer" if number in turn.people_to_answer else "choose"
    return "waiting" if any(other.is_person for other in missing) else "thinking"


def state_message(world: str, view: SeatView) -> StateMessage:
    """Convert the view of a seat to the message for JSON clients. `world` is the name of the world."""
    page = get_page(world)
    return StateMessage(
        world=world,
        seats=len(view.players),
        seat=view.seat,
        phase=view.phase,
        step=view.step,
        length=view.length,
        observation=view.observation,
        legal=[list(command) for command in view.choice.legal],
        anticipated=[list(command) for command in view.choice.anticipated],
        score=dict(view.result.score),
        seconds_left=view.timing.seconds_left,
        brief=dict(view.brief),
        public_state=dict(view.public_state),
        plans={str(seat): [list(command) for command in left] for seat, left in view.plans.by_seat.items()},
        intents={str(seat): dict(intent) for seat, intent in view.plans.intents.items()},
        member=view.talk.member,
        addressees=list(view.talk.addressees),
        partner=view.talk.partner,
        seen={str(seat): dict(observation) for seat, observation in view.jobs.seen.items()},
        messages=[asdict(shown_message(page, view, message)) for message in view.talk.messages],
        jobs=[asdict(job) for job in view.jobs.listed],
        aims={str(member): [list(aim) for aim in aims] for member, aims in view.jobs.aims.items()},
        amounts=[[list(command), *bounds] for command, bounds in view.choice.amounts.items()],
        waiting_for=list(view.waiting_for),
        probe=probe_message(view),
    )


_STATES = f"""
SELECT seat.id, seat.key, seat.page, episode.step, episode.status, episode.turn_closes_at, episode.asked_at,
    (SELECT COUNT(*) FROM kitchen_seatcommand command
        WHERE command.episode_id = seat.episode_id AND command.step = episode.step + 1
        AND command.chosen_by IN ({", ".join(f"'{code}'" for code in step_timer.PEOPLE_CODES)})),
    episode.messages, episode.gone
FROM kitchen_seat seat JOIN kitchen_episode episode ON episode.id = seat.episode_id
WHERE seat.id {{among}}
"""  # noqa: S608 - names of our own columns, and our own codes


def seat_states(seat_ids: Iterable[int]) -> dict[int, tuple[str, str, TurnStamp]]:
    """Return for each seat id: the seat's key, the id of the page that plays the seat, and the version
    (stamp) of the seat's episode. Erased seats are left out."""
    among, value = among_ids([*seat_ids])
    states = {}
    for pk, key, page, step, status, closes, asked, given, said, gone in select_rows(
        _STATES.format(among=among), [value]
    ):
        closes_at, asked_at = (each and time_from_driver(each) for each in (closes, asked))
        time = stamp_time(closes_at, asked_at)
        states[pk] = (
            key,
            page,
            (step, status, time, given, said, seat_changes(json_from_driver(gone or "{}"))),
        )
    return states
