"""What may stand in braces in a system text of the researcher's own."""

from __future__ import annotations

from collections.abc import Mapping

PARTS: Mapping[str, str] = {
    "task": "what this is about, whom the model commands, and whom not",
    "persona": "the persona, where there is one",
    "recipes": "the recipes",
    "instructions": "commands, places, rules, and the form of the reply",
    "hints": "the inference knowledge",
    "talk": "how to deal with people who write; empty where nobody may write",
    "demonstration": "the demonstration",
}
"""The parts of the fixed text, each with its heading, in the order in which they usually stand."""
PIECES: Mapping[str, str] = {
    "agents": "the names of the agents that the model commands, without a heading",
    "team": "who else plays, in sentences; empty where nobody does",
    "steps": "how many steps an episode has",
    "commands": "the commands and what they do",
    "places": "the places of the kitchen",
    "answer": "the form of the reply",
}
"""Single pieces of those parts, for who words the rest anew."""
PLACEHOLDERS = (*PARTS.items(), *PIECES.items())
USUAL = "\n\n".join(f"{{{name}}}" for name in PARTS)
"""The text that says what is said without one of one's own."""
