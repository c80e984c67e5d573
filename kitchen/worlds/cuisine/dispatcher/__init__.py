"""Define the dispatcher of MindAgent (arXiv 2309.09971, section 4): an agent that commands several robots
with one language model.

`prompt` writes the prompt, and `demonstration` the example in it. `agent` calls the model through
`model_exchange`. `command_extraction` finds commands in the reply, and `reply_extraction` chooses the
intended ones. `command_check` tries these in a simulated step. `settings` switches each part of the prompt on
or off.
"""
