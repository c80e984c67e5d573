"""Write messages and jobs into the dispatcher's prompt, and read the model's answers to them.

A job is a task given by message. The dispatcher is a language model that commands several robots. Messages
are quoted on one line, so that the model treats them as data. If the model's own message repeats the prompt,
it is not sent (MindAgent, section 7).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from kitchen.agents.job_answers import job_line
from kitchen.contract.assigned_jobs import aim_and_words
from kitchen.contract.language_model import Reply
from kitchen.contract.organisation import DOWNWARD_KINDS, INFORM, UPWARD_KINDS
from kitchen.contract.team_messages import MessageDraft, TeamMessage
from kitchen.contract.world import Aim, Json
from kitchen.words.quoted_messages import clip_line, plain_letters, quote_text
from kitchen.worlds.cuisine.dispatcher.command_check import agent_name
from kitchen.worlds.cuisine.dispatcher.kitchen_snapshot import KitchenMoment

MAX_MESSAGES_TOLD = 10
"""Largest number of messages in a prompt, the newest ones."""
SAY_PATTERN = re.compile(
    r"^[ \t>*_-]*say(?:[ \t]+to[ \t]+(?P<to>[^:\n]{1,60}?))?[ \t*_]*:[ \t*_]*(?P<line>.+)$",
    re.IGNORECASE | re.MULTILINE,
)
"""The line to people, or to one member, in free text; no commands are read in it."""
GIVE_PATTERN = re.compile(
    r"^[ \t>*_-]*give[ \t]+(?P<to>[^:\n]{1,60}?)[ \t*_]*:[ \t*_]*(?P<job>.+)$",
    re.IGNORECASE | re.MULTILINE,
)
"""A job for one member in free text; no commands are read in it."""
ALL = "all"
"""The addressee of a line to everybody, in the structured reply."""
NO_AIM = "none"
"""The aim of a job in words only, in the structured reply."""


def conversation_lines(moment: KitchenMoment) -> Iterator[str]:
    """Yield a heading and the last messages for the prompt, one per line, oldest first.

    Yield nothing if people and agents cannot write to each other.
    """
    if moment.organisation is None:
        return
    heard = moment.messages[-MAX_MESSAGES_TOLD:]
    yield "Conversation, oldest first:" if heard else "Conversation: nobody has said anything."
    for said in heard:
        mark, who = "new" if said.is_new else "old", member_name(moment, said.sender)
        yield f"- {mark}, step {said.step}, {who}{_job_reference(said)}: {quote_text(said.text)}"


def _job_reference(message: TeamMessage) -> str:
    """Return a text that says which job a message is about. Empty if the message is about no job."""
    if message.kind == INFORM:
        return f" gives job {message.number}"
    job, status = message.data.get("job"), message.data.get("status", message.kind)
    return f" ({status} job {job})" if message.kind in DOWNWARD_KINDS | UPWARD_KINDS and job else ""


def member_name(moment: KitchenMoment, number: int | None) -> str:
    """Return the name of a team member in the prompt: `agent0 (a person)`, `you`, or `the game` if `number`
    is None.

    A member without a robot is shown with the name from the organisation (the team's rules).
    """
    if number is None:
        return "the game"
    if number == moment.member or moment.organisation is None:
        return "you"
    member = moment.organisation.member(number)
    mark = " (a person)" if member.is_person else ""
    names = [agent_name(seat) for seat in member.seats] or [member.name]
    return " and ".join(f"{name}{mark}" for name in names)


class SaidLine(NamedTuple):
    """The message in a reply, and the name of its one addressee; no name if it is for everybody."""

    text: str = ""
    to: str = ""


def line_in_reply(reply: Reply) -> SaidLine:
    """Return the message to people in this reply, on one line; empty if there is none."""
    if reply.call is not None:
        said, to = reply.call.get("say"), reply.call.get("say_to")
        name = to if isinstance(to, str) and to != ALL else ""
        return SaidLine(clip_line(said), name) if isinstance(said, str) else SaidLine()
    found = SAY_PATTERN.search(reply.text)
    return SaidLine(clip_line(found["line"]), found["to"] or "") if found else SaidLine()


def addressee_names(moment: KitchenMoment, kind: str) -> dict[str, int]:
    """Return the members to whom the dispatcher may send messages of this kind, by name. A name is `agent1`,
    or the own name of a member without a robot."""
    if moment.organisation is None:
        return {}
    members = map(moment.organisation.member, moment.organisation.to(moment.member, kind))
    return {agent_name(one.seats[0]) if one.seats else one.name: one.number for one in members}


def member_named(name: str, names: Mapping[str, int]) -> int | None:
    """Return the member with this name as a model writes it: `agent1`, `agent 1`; None if there is none."""
    return {plain_letters(known): number for known, number in names.items()}.get(plain_letters(name))


def is_led(moment: KitchenMoment) -> bool:
    """Return whether some member of the team may give the dispatcher jobs."""
    return moment.organisation is not None and bool(moment.organisation.commanders_of(moment.member))


def job_lines(moment: KitchenMoment) -> Iterator[str]:
    """Yield the open jobs for the prompt, one per line, oldest first.

    Jobs of the dispatcher are listed if somebody may give it jobs. Jobs that it gave are listed if it may
    give jobs.
    """
    if is_led(moment):
        mine = [job for job in moment.jobs if job.worker == moment.member]
        yield "Jobs for you:" if mine else "Jobs for you: none."
        for job in mine:
            yield job_line(job, f"from {member_name(moment, job.giver)}")
    if addressee_names(moment, INFORM):
        given = [job for job in moment.jobs if job.giver == moment.member]
        yield "Jobs that you gave:" if given else "Jobs that you gave: none is open."
        for job in given:
            yield job_line(job, f"for {member_name(moment, job.worker)}")


def spelled_aims(moment: KitchenMoment) -> dict[str, Aim]:
    """Return all aims that members can be asked for, as a model writes them: `serve salmonSushi`."""
    return {" ".join(aim): aim for aims in moment.aims.values() for aim in aims}


def jobs_given_in(reply: Reply, moment: KitchenMoment) -> tuple[MessageDraft, ...]:
    """Return the jobs that the model's reply gives to members whom the dispatcher may command. A job for
    another member is left out. A job with neither an aim nor words is left out, too."""
    names, aims = addressee_names(moment, INFORM), spelled_aims(moment)
    in_text = ((found["to"], found["job"]) for found in GIVE_PATTERN.finditer(reply.text))
    given = (
        _given_in_call(reply.call)
        if reply.call is not None
        else ((to, *aim_and_words(clip_line(job), aims)) for to, job in in_text)
    )
    made = []
    for to, aim, words in given:
        number = member_named(to, names)
        if number is not None and (aim in aims or words):
            data = {"aim": list(aims[aim])} if aim in aims else {}
            made.append(MessageDraft(clip_line(words), INFORM, (number,), data))
    return tuple(made)


def _given_in_call(call: Mapping[str, Json]) -> Iterator[tuple[str, str, str]]:
    said = call.get("give")
    for one in said if isinstance(said, list) else ():
        if isinstance(one, dict):
            aim = str(one.get("aim") or "")
            yield str(one.get("to", "")), "" if aim == NO_AIM else aim, str(one.get("words") or "")
