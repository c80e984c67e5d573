"""Describe jobs (tasks given by message) in the prompt of a language model, and read the model's answers to
them.

An answer is an entry of `jobs` in a structured reply, or a line of text such as `Job 3: accept`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from kitchen.contract.assigned_jobs import Job
from kitchen.contract.data_limits import json_object_in_text
from kitchen.contract.language_model import Reply
from kitchen.contract.organisation import ACCEPT, DECLINE, REPORT
from kitchen.contract.team_messages import MessageDraft
from kitchen.contract.world import Json
from kitchen.words.quoted_messages import clip_line, quote_text

JOB_ANSWERS: Mapping[str, tuple[str, dict[str, Json]]] = {
    "accept": (ACCEPT, {}),
    "decline": (DECLINE, {}),
    "done": (REPORT, {"status": "done"}),
    "failed": (REPORT, {"status": "failed"}),
}
"""Answers to a job, each with the message that it sends."""
JOB_ANSWER_PATTERN = re.compile(
    r"^[ \t>*_-]*job[ \t*_]+(\d{1,6})[ \t*_]*:[ \t*_]*(accept|decline|done|failed)\b[ \t*_:,.-]*(.*)$",
    re.IGNORECASE | re.MULTILINE,
)
"""An answer to a job in free text; no commands are read in it."""
JOB_STATE_TEXTS = {"given": "not answered", "accepted": "accepted", "started": "begun"}
"""Words for the state of an open job."""
JOB_ANSWERS_SCHEMA: Mapping[str, Json] = {
    "type": "array",
    "description": "What becomes of jobs: new ones accepted or declined, others done or failed.",
    "items": {
        "type": "object",
        "properties": {
            "job": {"type": "integer"},
            "answer": {"type": "string", "enum": list(JOB_ANSWERS)},
            "words": {"type": "string"},
        },
        "required": ["job", "answer", "words"],
        "additionalProperties": False,
    },
}
"""The strict JSON schema of `jobs` in a structured reply."""


def job_line(job: Job, who: str) -> str:
    """Return an open job as a line of the prompt. `who` names its giver or worker, such as `from agent0`."""
    return f"- job {job.number}, {JOB_STATE_TEXTS[job.state]}, {who}: {quote_text(job.text)}"


def job_answers_in(reply: Reply, jobs: Iterable[Job]) -> tuple[MessageDraft, ...]:
    """Return the reply's answers to these jobs, as messages to the members who gave the jobs. If a job is
    answered twice, the first answer counts."""
    by_number = {job.number: job for job in jobs}
    said: dict[int, MessageDraft] = {}
    for number, answer, words in _answers(reply):
        if number in by_number and number not in said and answer in JOB_ANSWERS:
            kind, status = JOB_ANSWERS[answer]
            giver = by_number[number].giver
            said[number] = MessageDraft(clip_line(words), kind, (giver,), {"job": number, **status})
    return tuple(said.values())


def _answers(reply: Reply) -> Iterator[tuple[int, str, str]]:
    """Yield (job number, answer, text) for each answer in the reply. The reply can be structured, JSON in
    text, or free text."""
    parts = reply.call if reply.call is not None else json_object_in_text(reply.text)
    listed = parts.get("jobs") if parts is not None else None
    if isinstance(listed, list):
        for one in listed:
            if isinstance(one, dict) and type(one.get("job")) is int:
                yield one["job"], str(one.get("answer", "")), str(one.get("words") or "")
    elif reply.call is None:
        for found in JOB_ANSWER_PATTERN.finditer(reply.text):
            yield int(found[1]), found[2].lower(), found[3]
