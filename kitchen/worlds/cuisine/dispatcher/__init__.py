"""The dispatcher of MindAgent (arXiv 2309.09971, section 4): one language model that commands many seats.

`prompt` writes the fixed part and the state, with `demonstration` and the feedback. The way of a reply is:
`agent` asks the model through `model_exchange`, `reply_extraction` chooses the intended commands among those
that `command_extraction` finds, and `command_check` tries them one step ahead. `settings` switches each part
on or off. Specification: `mindagent.md`.
"""
