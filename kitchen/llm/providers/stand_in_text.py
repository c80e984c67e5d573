"""The stand-in's prose: reasoning, commands in either spelling, now and then an apology, or nonsense."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random

from kitchen.contract.world import Command

Written = tuple[int, Command]
"""A command as it is written: the agent and what it is to do."""

_APOLOGIES = (
    "I apologize for my mistake in the last step; I have taken the feedback into account.",
    "Sorry about that. You are right, that was not possible, so I change my plan.",
    "My apologies, I overlooked that. Here is a better plan.",
)
_HEADINGS = ("Commands:", "My commands for this step:", "Action:", "")


@dataclass(frozen=True, slots=True)
class Prose:
    """What it says around its commands. Whoever knows the world hands in what one would say in it."""

    openings: Sequence[str] = (
        "Let me look at what there is to do and at what everybody has.",
        "Looking at the current state, this is what I would do in this step.",
    )
    reasons: Mapping[str, str] = field(default_factory=dict)
    """By verb, with `{who}`, `{place}` and `{item}`."""
    closings: Sequence[str] = ("", "", "I will look at the result in the next step.")
    nonsense: Sequence[str] = (
        "I am sorry, but I am not able to help with that.",
        "Could you tell me more about what you would like to do today?",
        "```json\n{}\n```",
        "... ... ...",
    )


PLAIN = Prose()


def underscored(agent: int, command: Command) -> str:
    """`goto_agent1_pot0`."""
    return "_".join((command[0], f"agent{agent}", *command[1:]))


def called(agent: int, command: Command) -> str:
    """`goto(agent1, pot0)`."""
    return f"{command[0]}({', '.join((f'agent{agent}', *command[1:]))})"


def write(commands: Sequence[Written], *, apologise: bool, rng: Random, prose: Prose) -> str:
    """The commands as a model would write them; one spelling to an answer."""
    spell = rng.choice((underscored, called))
    sentences = [rng.choice(_APOLOGIES)] if apologise else []
    sentences.append(rng.choice(prose.openings))
    sentences += [_reason(agent, command, prose) for agent, command in commands if rng.random() < 0.7]
    paragraphs = (" ".join(sentences), rng.choice(_HEADINGS), _listed(commands, spell, rng))
    return "\n".join(part for part in (*paragraphs, rng.choice(prose.closings)) if part)


def _reason(agent: int, command: Command, prose: Prose) -> str:
    place = command[1] if len(command) > 1 else "its place"
    item = command[2] if len(command) > 2 else "what is ready"
    pattern = prose.reasons.get(command[0], "{who} is next.")
    return pattern.format(who=f"Agent {agent}", place=place, item=item)


def _listed(commands: Sequence[Written], spell: Callable[[int, Command], str], rng: Random) -> str:
    bullet = rng.choice(("", "- ", "* ", "#"))
    if bullet == "#":
        return "\n".join(f"{number}. {spell(*written)}" for number, written in enumerate(commands, 1))
    return "\n".join(f"{bullet}{spell(*written)}" for written in commands)
