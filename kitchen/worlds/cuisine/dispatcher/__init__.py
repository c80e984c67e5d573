"""The dispatcher of MindAgent (arXiv 2309.09971, section 4): one language model that commands several robots.

`prompt` writes the prompt, and `demonstration` its example. `agent` asks the model through `model_exchange`.
`command_extraction` finds the commands in the reply, and `reply_extraction` chooses those that are intended.
`command_check` tries them in a simulated step. `settings` switches each part of the prompt on or off.
Specification: `mindagent.md`.
"""
