"""What every prompt of those who think in skills says in the same words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from kitchen.contract.skills import FREELY, ONCE, Condition, Manner, Skill, spelled, wait


def parts_told(parts: Iterable[tuple[str, Sequence[str]]]) -> str:
    """Each with its title; those that say nothing are left out."""
    return "\n\n".join(f"# {title}\n" + "\n".join(lines) for title, lines in parts if lines)


def skills_told(skills: Iterable[tuple[Skill, str]], manner: Manner) -> Iterator[str]:
    """All that there are, with what they need."""
    yield "A skill lasts until it is done; you are asked for the next one then. These are all that there are:"
    for skill, meaning in skills:
        yield f"- {spelled(skill)}: {meaning}"
    if manner.waits == FREELY:
        yield "- wait(n): do nothing for n steps, from 1 to 20; always possible."
    elif manner.waits == ONCE:
        yield f"- {spelled(wait())}: do nothing for one step; always possible."


def refused(name: str, skill: Skill, failed: Sequence[Condition]) -> str:
    """Why it cannot be done, in a fixed sentence."""
    return f"{name} cannot do {spelled(skill)} now: {failed[0].why_not}"


def succeeded(name: str, skill: str) -> str:
    """That it is done; the skill as it is spelled."""
    return f"{name} succeeded at {skill}."


def plan_line(name: str, skill: Skill) -> str:
    """The line of an answer that counts."""
    return f"Plan for {name}: {spelled(skill)}"
