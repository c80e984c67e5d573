"""What the stand-in says around its commands when it plays the dispatcher's model."""

from __future__ import annotations

from kitchen.llm.providers.stand_in_text import Prose

PROSE = Prose(
    openings=(
        "Let me look at the orders and at what everybody holds.",
        "First I check which order expires next and which tools are free.",
        "To get the next dish out I divide the work as follows.",
        "Looking at the current state, this is what I would do in this step.",
    ),
    reasons={
        "goto": "{who} goes on to {place}.",
        "get": "{who} needs {item} from {place}.",
        "put": "{who} can put down what it holds at {place}.",
        "activate": "Everything is in {place}, so {who} starts it.",
        "noop": "{who} has nothing useful to do now and waits.",
    },
    closings=("", "", "I will look at the result in the next step.", "That should bring the order forward."),
    nonsense=(
        "I am sorry, but I am not able to help with that.",
        "Could you tell me more about what you would like to cook today?",
        "Sushi is a Japanese dish of vinegared rice with various ingredients. Sashimi, on the other hand, is"
        " served without rice.",
        "```json\n{}\n```",
        "As the dispatcher I will now coordinate the agents in the best possible way.",
        "... ... ...",
    ),
)
