"""Build the panels that the play page has in every world, such as step, clock, messages and final result."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from kitchen.contract.organisation import END, INFORM
from kitchen.contract.page import Page, Panel, PublicFact
from kitchen.contract.page_view import PlayerView, ResultView, SeatView
from kitchen.contract.team_messages import CODE_KEY, PLAN_KEY, TeamMessage
from kitchen.play.episode.absent_players import FREE
from kitchen.play.live.agent_sentences import agent_sentence, foreign_language, written_language
from kitchen.play.live.job_panels import jobs_panel, roster_panel
from kitchen.play.live.leader_panels import leader_panels
from kitchen.play.live.plan_panels import command_value, others_plans_panel, plan_panel
from kitchen.play.live.probe_panel import probe_panel
from kitchen.play.live.star_panel import Stars, star_panel, stars_of_view
from kitchen.play.turn.websocket_messages import HAVE_PERSON
from kitchen.words.gettext_without_django import gettext, gettext_noop

SHARED_PANEL_IDS = ("notice", "bar", "phase", "clock", "hint", "over", "outage", "away")
"""Ids of the shared panels. Their templates are `kitchen/play/<id>.jinja`.

Further ones: `stars` if the condition has star targets, `talk` and `replies` if members can send messages,
`partner` if they talk with one partner at a time, `pass` if two take turns to speak or if steps wait for this
leader, `jobs` if the reader can be given jobs, `roster` and those of `leader_panels` for a reader who leads,
and `public_facts` for a reader who does not see the world. No world's layout contains these.
"""


class Bar(NamedTuple):
    """The number of the step, the length of the episode, and the phase."""

    step: int
    length: int | None
    phase: str


class Phase(NamedTuple):
    """The phase, and the names of the people or agents whom the page waits for."""

    phase: str
    waiting_for: tuple[str, ...]
    passed_by: bool = False
    """True if this seat has nothing to choose."""
    may_act: bool = False
    """True if this seat may choose but need not."""
    speaker: str = ""
    """Name of the member whose turn to speak this person waits for."""
    addressed: str = ""
    """Name of the member who waits for this person's answer."""
    answers: bool = False
    """True if the speaker answers a message, False if the speaker opens."""
    waited: int = 0
    """Seconds since the speaker's turn began."""
    leads_now: bool = False
    """True if the step waits for this person, who leads without a seat."""
    goes_on: bool = False
    """True if this seat goes on with what its person has planned, and nobody who is waited for is away."""
    probing: bool = False
    """True while questions hold the game."""


class Clock(NamedTuple):
    """The time limit of a step and the time left, in seconds as text. Empty without a limit."""

    whole: str
    left: str
    choosing: bool
    step: int
    """The step of a running timer, which restarts with each step."""


class Hint(NamedTuple):
    """Hints for the person's next command."""

    hints: tuple[str, ...]
    command: str
    """The command that the last hint is about, as in the menu. Empty if there is none."""
    purpose: str = ""
    """The purpose of this command, in a code of the world."""


class EpisodeEnd(NamedTuple):
    """The result of the episode. All fields but `over` have defaults until the episode ends."""

    over: bool
    step: int = 0
    achieved: tuple[tuple[str, str], ...] = ()
    ended_by_staff: bool = False
    abandoned_because: str = ""
    goal: str = ""
    """The result of the goal as text. Empty without a goal, or if somebody ended the episode."""
    outcome: str = ""
    """The world's text on how the episode ended. Empty if somebody ended it."""
    seconds: int | None = None
    """Duration in seconds of a real-time episode."""
    reached: bool = False
    """True if the page celebrates the result."""
    ended_technically: bool = False
    stars: Stars = Stars()
    counts_steps: bool = False
    """True if the world's own result has the number of steps already."""


class PublicFacts(NamedTuple):
    """What anybody may know of the present state, for a leader who does not see the world."""

    steps_left: int | None
    """The steps until the episode ends at the latest. None if it has no limit."""
    facts: tuple[PublicFact, ...]


class PeopleGone(NamedTuple):
    """Sentences about people who have left and whose seats an agent plays."""

    sentences: tuple[str, ...]


class PeopleAway(NamedTuple):
    """Sentences about people who have turned away from the game, and their seats."""

    sentences: tuple[str, ...]
    seats: tuple[int, ...]


class OutageNote(NamedTuple):
    """A sentence about a part of the server that is unreachable. Empty if all parts are there."""

    text: str


class Notice(NamedTuple):
    """A short notice from the server to this person, such as an error. Usually empty."""

    text: str = ""
    tone: str = "info"
    again: bool = False
    """True if the page must send the unstored command again."""
    code: str = ""
    """The code of its subject, such as a key of `RECEIPTS`. Empty for the empty notice."""


def shared_panels(page: Page, view: SeatView) -> tuple[Panel, ...]:
    """Return all panels of this module that this seat's page shows, except the notice."""
    waited = set(view.waiting_for) - {view.seat}
    names = tuple(_waited_name(view, player) for player in view.players if player.seat in waited)
    names += _awaited_leaders(view)
    phase = "choose" if view.choice.may_act else view.phase
    return (
        _panel("bar", Bar(view.step, view.length, phase)),
        _panel("phase", _phase(view, phase, () if phase == "over" else names)),
        _panel("clock", _clock(view)),
        *([star_panel(view)] if view.result.star_targets else []),
        *([probe_panel(view)] if view.probes is not None else []),
        *([_panel("hint", _hint(view))] if view.acts else []),
        _panel("over", _over(page, view)),
        _panel("outage", OutageNote(_outage_sentence(view))),
        _panel("away", _away(view)),
        *(_gone_panels(view) if view.taken_over is not None else ()),
        *([talk_panel(page, view), _replies(page, view)] if view.talk.member is not None else []),
        *([_panel("partner", _partner(view))] if view.talk.one_partner else []),
        *([_panel("pass", _pass_button(page, view))] if _has_pass_button(view) else []),
        *([plan_panel(page, view)] if view.plans.offered else []),
        *([others_plans_panel(page, view)] if view.plans.shows_intents else []),
        *([] if view.acts or view.looks_on else [_panel("public_facts", _public_facts(page, view))]),
        *([*leader_panels(page, view), roster_panel(page, view)] if view.jobs.leads else []),
        *([jobs_panel(page, view)] if view.jobs.led else []),
    )


def _hint(view: SeatView) -> Hint:
    first, after = view.choice.hinted, view.choice.hinted_next
    command = command_value((first, *after) if first and after else first)
    return Hint(view.choice.hints, command, view.choice.purpose)


OUTAGE_SENTENCES = {
    True: gettext_noop(
        "A part of the server is not available at the moment. This step may take longer than usual. Nothing "
        "is lost."
    ),
    False: gettext_noop(
        "A part of the server is not available at the moment. You can play on. This page looks for news "
        "every two seconds."
    ),
}
"""Sentences shown while notifications do not reach the page, by whether it waits for others."""


def _outage_sentence(view: SeatView) -> str:
    if not view.news_is_late or view.phase == "over":
        return ""
    return gettext(OUTAGE_SENTENCES[view.phase in ("thinking", "waiting")])


def _waited_name(view: SeatView, player: PlayerView) -> str:
    """Return the name of somebody whom the page waits for. It says if this person is away."""
    return _with_absence(view, player.seat, player.name)


def _awaited_leaders(view: SeatView) -> tuple[str, ...]:
    """Return the names of other people who lead without a seat and for whom the step waits."""
    seats = {player.seat for player in view.players}
    others = (number for number in view.waiting_for if number not in {*seats, view.seat})
    return tuple(_with_absence(view, one, view.talk.members[one]) for one in others)


def _with_absence(view: SeatView, seat: int, name: str) -> str:
    """Return the name of the person in this seat. It says if the person is away, or not connected."""
    if seat in view.turned_away:
        return gettext("{name} (away)").format(name=name)
    return _not_connected(name) if seat in view.away else name


AWAY_SENTENCE = gettext_noop("{name} is away from the game at the moment.")
"""Sentence shown to the others about somebody who has turned away from the game."""


def away_sentences(view: SeatView, seats: Collection[int]) -> tuple[str, ...]:
    """Return a sentence for each of these people who are away. People without a player have the name of
    their member."""
    names = {**view.talk.members, **{player.seat: player.name for player in view.players}}
    return tuple(gettext(AWAY_SENTENCE).format(name=names[seat]) for seat in sorted(seats) if seat in names)


def _away(view: SeatView) -> PeopleAway:
    seats = () if view.phase == "over" else tuple(sorted(view.turned_away))
    return PeopleAway(away_sentences(view, seats), seats)


def _not_connected(name: str) -> str:
    return gettext("{name} (not connected)").format(name=name)


def _phase(view: SeatView, phase: str, names: tuple[str, ...]) -> Phase:
    """Return the phase of the turn (such as `waiting`), with the names that the page shows. If members speak
    in turns, it also says whom the person waits for or should answer."""
    made, turn = Phase(phase, names, view.choice.passed_by, view.choice.may_act), view.talk.turn
    goes_on = bool(view.plans.by_seat.get(view.seat)) and not view.away.intersection(view.waiting_for)
    made = made._replace(leads_now=view.is_leader_awaited, goes_on=goes_on)
    if view.probes is not None and view.probes.is_on:
        return made._replace(probing=True, goes_on=False)
    if turn is None or phase == "over":
        return made
    if turn.speaker != view.talk.member:
        speaker = view.talk.members[turn.speaker]
        if view.away.intersection(view.waiting_for):  # these are the speaker's seats
            speaker = _not_connected(speaker)
        return made._replace(speaker=speaker, answers=turn.answers, waited=turn.seconds)
    if not turn.answers or (phase != "answer" and _is_fixed_sentence(view)):
        return made
    return made._replace(addressed=next(iter(view.talk.members[one] for one in view.talk.addressees), ""))


def _is_fixed_sentence(view: SeatView) -> bool:
    """Return whether the newest message is a fixed sentence of a program. Words do not answer it: it needs an
    action, or nothing."""
    newest = view.talk.messages[-1:]
    return any(one.sender != view.talk.member and CODE_KEY in one.data for one in newest)


class Talk(NamedTuple):
    """The panel of messages. Each message is a part of the panel."""

    mine: int
    """The number of this person's last message."""
    sent_to: tuple[str, ...] = ()
    """Co-players who read this person's newest message with the next step."""


class Line(NamedTuple):
    """One message as the page shows it."""

    step: int
    sender: str
    """Name of the sender. Empty for the reader."""
    to: tuple[str, ...]
    """Names of the addressees other than the reader."""
    to_you: bool
    text: str
    is_ours: bool = False
    """True if the text is the page's own, in its language."""
    requests: str = ""
    """The commands that the message requests, as text, if `text` does not contain them."""
    language: str = ""
    """Code of the language of `text`. Empty if it is not known, or is the page's (`is_ours`)."""
    at: str = ""
    """The time since the game began, such as `0:08`, where a clock takes the steps. Empty elsewhere."""


class PassButton(NamedTuple):
    """The button with which a busy person gives no answer, or a leader without a seat no more jobs. Also the
    message that a person has to answer."""

    offered: bool
    asker: str = ""
    """Name of the member who wrote the message. Empty if there is nothing to answer."""
    text: str = ""
    step: int = 0
    """The open step, for a leader. 0 for others."""
    language: str = ""
    """Code of the language of `text`. Empty if it is not known or is the page's."""


class QuickReplies(NamedTuple):
    """Messages that the page sends with one press."""

    texts: tuple[str, ...]


class Partner(NamedTuple):
    """The member with whom this person talks now."""

    name: str
    """The partner's name. Empty if there is none."""


PLATFORM_MESSAGES = {
    "busy": gettext_noop("%(name)s is talking with somebody else and did not receive your message."),
    "gone": gettext_noop("The person who played %(name)s has left. The conversation is over."),
}
"""Messages of the system, by code (`kitchen.contract.mailbox.PLATFORM_WORDS`)."""
CONVERSATION_ENDED = gettext_noop("The conversation has ended.")


def _has_pass_button(view: SeatView) -> bool:
    """Return whether the page of this person has the panel `pass`; the same for the whole episode."""
    return view.talk.takes_turns or (view.jobs.can_wait_for_leaders and not view.acts)


def _pass_button(page: Page, view: SeatView) -> PassButton:
    if not view.acts:
        return PassButton(view.is_leader_awaited, step=view.step + 1)
    turn, offered = view.talk.turn, view.phase == "answer"
    if turn is None or not turn.answers or turn.speaker != view.talk.member:
        return PassButton(offered)
    heard = [one for one in view.talk.messages if one.sender not in (None, view.talk.member) and one.text]
    if not heard or heard[-1].step != view.step + 1:
        return PassButton(offered)
    asker, line = view.talk.members[heard[-1].sender or 0], _line(page, view, heard[-1])
    return PassButton(offered, asker, line.text, language=line.language)


MOST_REPLIES = 4
"""The largest number of messages that the page offers to send with one press."""


def _replies(page: Page, view: SeatView) -> Panel:
    """Return the panel of messages to send with one press. Empty if nobody reads messages, and at the end."""
    is_read = view.phase != "over" and set(view.talk.addressees) - set(view.talk.unread)
    return _panel("replies", QuickReplies(page.quick_replies(view)[:MOST_REPLIES] if is_read else ()))


def _partner(view: SeatView) -> Partner:
    return Partner("" if view.talk.partner is None else view.talk.members[view.talk.partner])


def talk_panel(page: Page, view: SeatView) -> Panel:
    """Return the panel of the messages that this person has sent and received."""
    mine = max((said.number for said in view.talk.messages if said.sender == view.talk.member), default=0)
    tick_ms = view.timing.tick_ms or 0
    lines = (
        (said, _line(page, view, said)._replace(at=_clock_time(said.step * tick_ms)))
        for said in view.talk.messages
    )
    parts = tuple(
        Panel(f"said-{said.number}", "kitchen/play/said.jinja", line)
        for said, line in lines
        # the end of a wait has no addressees
        if (line.text or line.requests) and said.to and not _is_shown_as_job(view, said)
    )
    return Panel("talk", "kitchen/play/talk.jinja", Talk(mine, _read_later(view)), parts=parts)


def _clock_time(milliseconds: int) -> str:
    """Return a time in minutes and seconds, such as `0:08`; empty for 0."""
    minutes, seconds = divmod(milliseconds // 1000, 60)
    return f"{minutes}:{seconds:02}" if milliseconds else ""


def _read_later(view: SeatView) -> tuple[str, ...]:
    """Return the names of the co-players to whom this person has written since the last step, if they read
    it with the next step. Empty once one of them has answered."""
    talk = view.talk
    if view.phase == "over" or view.timing.tick_ms is not None or talk.takes_turns or talk.one_partner:
        return ()
    said = [one for one in talk.messages if one.step == view.step + 1 and one.sender is not None]
    mine = [one for one in said if one.sender == talk.member and one.text]
    if not mine or said[-1].number > mine[-1].number:
        return ()
    readers = set(mine[-1].to) - {talk.member, *talk.people, *talk.unread}
    return tuple(talk.members[one] for one in sorted(readers))


def _is_shown_as_job(view: SeatView, said: TeamMessage) -> bool:
    """Return whether another panel shows this message: a job with its card, or a job that a leader gave
    without words of their own."""
    is_given = said.kind == INFORM and view.jobs.led and view.talk.member in said.to
    has_card = any(job.number == said.number for job in view.jobs.listed)
    return bool(said.data.get("plain")) or (is_given and has_card)


def _line(page: Page, view: SeatView, message: TeamMessage) -> Line:
    if message.sender is None:
        code, name = message.data["code"], view.talk.members[message.data["member"]]
        words = gettext(PLATFORM_MESSAGES[code]) % {"name": name}
        return Line(message.step, gettext("Note"), (), True, words, is_ours=True)
    sender = "" if message.sender == view.talk.member else view.talk.members.get(message.sender, "")
    others = tuple(view.talk.members[one] for one in message.to if one != view.talk.member)
    if message.kind == END and not message.text:
        return Line(message.step, gettext("Note"), (), False, _end_in_words(view, message), is_ours=True)
    to_you = view.talk.member in message.to
    if own := agent_sentence(page, view, message):
        return Line(message.step, sender, others, to_you, own, True, language=foreign_language(view))
    requests, language = page.requests_named(message.data), written_language(view, message.sender)
    return Line(message.step, sender, others, to_you, message.text, requests=requests, language=language)


def _end_in_words(view: SeatView, end: TeamMessage) -> str:
    """Return what an empty message of kind `END` means. Where members take turns to speak, the sender has
    planned instead of writing, or has nothing more to say."""
    if not view.talk.takes_turns:
        return gettext(CONVERSATION_ENDED)
    is_own, has_plan = end.sender == view.talk.member, PLAN_KEY in end.data
    if is_own:
        return gettext("You answered with a plan.") if has_plan else gettext("You said nothing more.")
    text = gettext("%(name)s answered with a plan.") if has_plan else gettext("%(name)s said nothing more.")
    return text % {"name": view.talk.members[end.sender or 0]}


def notice_panel(notice: Notice) -> Panel:
    """Return the panel that shows this notice."""
    return _panel("notice", notice)


def _panel(name: str, shows: NamedTuple) -> Panel:
    return Panel(name, f"kitchen/play/{name}.jinja", shows)


def _clock(view: SeatView) -> Clock:
    whole = "" if view.timing.step_seconds is None else f"{view.timing.step_seconds:g}"
    left = "" if view.timing.seconds_left is None else f"{view.timing.seconds_left:.2f}"
    is_asked = view.phase in ("choose", "answer") or view.is_leader_awaited
    return Clock(whole, left, is_asked, view.step if left else 0)


def _over(page: Page, view: SeatView) -> EpisodeEnd:
    if view.phase != "over":
        return EpisodeEnd(over=False)
    ended_early = view.result.ended_by_staff or view.result.ended_technically
    stopped = ended_early or view.result.abandoned_because
    goal = (
        (page.reached(view) if view.result.reached else page.missed)
        if view.result.until and not stopped
        else gettext("Well done: you have reached the goal.")
        if view.result.has_early_end and view.result.reached
        else ""
    )
    why = gettext(view.result.abandoned_because) if view.result.abandoned_because else ""
    seconds = round(view.step * view.timing.tick_ms / 1000) if view.timing.tick_ms else None
    outcome = "" if stopped else page.outcome(view)
    return EpisodeEnd(
        True,
        view.step,
        view.result.achieved,
        view.result.ended_by_staff,
        why,
        goal,
        outcome,
        seconds,
        not stopped and _has_success(view.result),
        view.result.ended_technically,
        stars_of_view(view),
        counts_steps=seconds is None and view.result.score.get("steps_used") == view.step,
    )


def _has_success(result: ResultView) -> bool:
    """Return whether the goal of the episode was reached. Without a goal, return whether the world's metric
    `success` is above 0. Without this metric, return whether any shown metric that is better when higher is
    above 0."""
    if result.reached or "success" in result.score:
        return result.reached or bool(result.score["success"])
    return any((result.score.get(one.name) or 0) > 0 for one in result.figures if one.better == "higher")


STEPS_GONE_SHOWN = 2
"""Number of steps for which the page shows above the game that a seat was taken over. Below the game it
stays.
"""


def _gone_panels(view: SeatView) -> tuple[Panel, Panel]:
    lately, ever = gone_sentences(view, steps=STEPS_GONE_SHOWN), gone_sentences(view)
    return _panel("gone", PeopleGone(lately)), _panel("replaced", PeopleGone(ever))


def gone_sentences(view: SeatView, *, steps: int | None = None) -> tuple[str, ...]:
    """Return a sentence for each seat that an agent has taken over, or that a person has (again). With
    `steps`, only for those of the last `steps` steps, and not for seats that nobody has taken yet."""
    names = {player.seat: player.name for player in view.players}
    words = GONE_SENTENCES if view.timing.tick_ms is None else {**GONE_SENTENCES, **GONE_SENTENCES_REALTIME}
    others = [each for each in view.taken_over or () if each[0] != view.seat or each[2] not in HAVE_PERSON]
    return tuple(
        gettext(words[why]).format(player=names[seat], step=step)
        for seat, step, why in others
        if steps is None or (why != FREE and view.step < step + steps)
    )


GONE_SENTENCES = {
    "away": gettext_noop("From step {step} on, a program plays {player} because the person is away."),
    "left": gettext_noop("From step {step} on, a program plays {player} because the person has left."),
    "never": gettext_noop("Nobody came to play {player}, so a program plays it."),
    "free": gettext_noop("A program plays {player} until another person comes."),
    "joined": gettext_noop("From step {step} on, another person plays {player}."),
    "returned": gettext_noop("The person who plays {player} is back since step {step}."),
}
"""Sentences shown to the others about a seat that was taken over, by reason."""
GONE_SENTENCES_REALTIME = {
    "away": gettext_noop("A program plays {player} because the person is away."),
    "left": gettext_noop("A program plays {player} because the person has left."),
    "joined": gettext_noop("Another person plays {player} now."),
    "returned": gettext_noop("The person who plays {player} is back."),
}
"""The same sentences for a real-time episode, without the number of the step."""


def _public_facts(page: Page, view: SeatView) -> PublicFacts:
    return PublicFacts(view.public_state.get("steps_left"), page.public_facts(view))
