"""The stand-in's prose: reasoning, commands in either spelling, now and then an apology, or nonsense."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random

from kitchen.contract.world import Command

Written = tuple[int, Command]
"""A command as it is written: the agent and what it is to do."""

_OPENINGS = (
    "Let me look at the orders and at what everybody holds.",
    "First I check which order expires next and which tools are free.",
    "To get the next dish out I divide the work as follows.",
    "Looking at the current state, this is what I would do in this step.",
)
_APOLOGIES = (
    "I apologize for my mistake in the last step; I have taken the feedback into account.",
    "Sorry about that. You are right, that was not possible, so I change my plan.",
    "My apologies, I overlooked that. Here is a better plan.",
)
_REASONS = {
    "goto": "{who} goes on to {place}.",
    "get": "{who} needs {item} from {place}.",
    "put": "{who} can put down what it holds at {place}.",
    "activate": "Everything is in {place}, so {who} starts it.",
    "noop": "{who} has nothing useful to do now and waits.",
}
_CLOSINGS = ("", "", "I will look at the result in the next step.", "That should bring the order forward.")
_HEADINGS = ("Commands:", "My commands for this step:", "Action:", "")
_NONSENSE = (
    "I am sorry, but I am not able to help with that.",
    "Could you tell me more about what you would like to cook today?",
    "Sushi is a Japanese dish of vinegared rice with various ingredients. Sashimi, on the other hand, is"
    " served without rice.",
    "```json\n{}\n```",
    "As the dispatcher I will now coordinate the agents in the best possible way.",
    "... ... ...",
)


def underscored(agent: int, command: Command) -> str:
    """`goto_agent1_pot0`."""
    return "_".join((command[0], f"agent{agent}", *command[1:]))


def called(agent: int, command: Command) -> str:
    """`goto(agent1, pot0)`."""
    return f"{command[0]}({', '.join((f'agent{agent}', *command[1:]))})"


def write(commands: Sequence[Written], *, apologise: bool, rng: Random) -> str:
    """The commands as a model would write them; one spelling to an answer."""
    spell = rng.choice((underscored, called))
    sentences = [rng.choice(_APOLOGIES)] if apologise else []
    sentences.append(rng.choice(_OPENINGS))
    sentences += [_reason(agent, command) for agent, command in commands if rng.random() < 0.7]
    paragraphs = (" ".join(sentences), rng.choice(_HEADINGS), _listed(commands, spell, rng))
    return "\n".join(part for part in (*paragraphs, rng.choice(_CLOSINGS)) if part)


def nonsense(rng: Random) -> str:
    """A text without any command."""
    return rng.choice(_NONSENSE)


def _reason(agent: int, command: Command) -> str:
    place = command[1] if len(command) > 1 else "its place"
    item = command[2] if len(command) > 2 else "what is ready"
    pattern = _REASONS.get(command[0], "{who} is next.")
    return pattern.format(who=f"Agent {agent}", place=place, item=item)


def _listed(commands: Sequence[Written], spell: Callable[[int, Command], str], rng: Random) -> str:
    bullet = rng.choice(("", "- ", "* ", "#"))
    if bullet == "#":
        return "\n".join(f"{number}. {spell(*one)}" for number, one in enumerate(commands, 1))
    return "\n".join(f"{bullet}{spell(*one)}" for one in commands)
