"""Judge whether a job (a task given by message) is done, by fixed rules.

The rules use the world's state and the messages of the worker, the agent that does the job. If the two
contradict each other, the state decides. Only English messages are understood. Source: the progress monitor
of S-Agents (arXiv 2402.04578).
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from kitchen.contract.world import FAIL, SUCCESS, UNKNOWN

_CLAUSE_END = re.compile(r"[.!;\n]+|,?\s+(?:but|then|and now)\s+", re.IGNORECASE)


def _any_of(*patterns: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{'|'.join(patterns)})\b", re.IGNORECASE)


_NO_REPORT = _any_of(
    *("will", r"\w+'ll", "won't", "shall", "going to", "gonna", "about to", "let me", "trying to", "try to"),
    *("if", "when", "once", "until", "till", "unless", "before", "should", "would", "please"),
    *("almost", "nearly", "half", "yet"),
)
"""Words of a clause about what is to come, or about what is not finished."""
_FAILED = _any_of(
    *("fail(?:ed|s|ure)?", "can ?not", "can'?t", "could not", "couldn'?t", "impossible"),
    *("(?:am|are|is|was|were) unable", "not (?:possible|successful)", "unsuccessful", "no success"),
    *("(?:did|have) ?(?:not|n't) succeed(?:ed)?", r"no (?:\w+ ){0,3}left", "none left"),
    *("(?:ran|run|am|are) out of", "ga?ve up", "giv(?:e|ing) up"),
)
_SUCCEEDED = _any_of(
    *("succe(?:ed|eded|ss|ssful|ssfully)", "done", "finished", "completed?", "accomplished"),
)
_DENIED = _any_of("not", "never", "no", r"\w+n't")


def judge_job(status: str, words: Iterable[str]) -> str:
    """Return SUCCESS, FAIL or UNKNOWN for a job.

    `status` is the world's judgement of the job's aim (`World.aim_status`); UNKNOWN for a job without an
    aim. `words` are the worker's messages about this job since the last planning, oldest first. The last
    clause that reports a result decides.
    """
    if status != UNKNOWN:
        return status
    plain = (text.replace("\N{RIGHT SINGLE QUOTATION MARK}", "'") for text in words)
    clauses = (clause for text in plain for clause in _CLAUSE_END.split(text))
    found = [result for clause in clauses if (result := _reported(clause)) != UNKNOWN]
    return found[-1] if found else UNKNOWN


def _reported(clause: str) -> str:
    """Return SUCCESS if a clause of a message reports that a job is done, or FAIL if it reports a failure.
    Return UNKNOWN otherwise."""
    if _NO_REPORT.search(clause) or clause.rstrip().endswith("?"):
        return UNKNOWN
    if failure := _FAILED.search(clause):
        return UNKNOWN if _DENIED.search(clause[: failure.start()]) else FAIL
    success = _SUCCEEDED.search(clause)
    if success is None or _DENIED.search(clause[: success.start()]):
        return UNKNOWN
    return SUCCESS
