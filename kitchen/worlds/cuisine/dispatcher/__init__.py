"""Define the dispatcher: an agent that commands several robots with one language model.

It follows MindAgent (arXiv 2309.09971, section 4).

- `agent` makes the decisions, and calls the model through `model_exchange`.
- `prompt` writes the prompt, and `demonstration` writes the example in the prompt.
- `command_extraction` finds all commands in a reply, and `reply_extraction` chooses the intended ones.
- `command_check` tries the chosen commands in a simulated step.
- `settings` declares the settings, which can switch each part of the prompt on or off.
"""
