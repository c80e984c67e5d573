"""The dispatcher of MindAgent (arXiv 2309.09971, section 4): one language model that commands many seats.

`prompt` writes the fixed part and the state, with `demonstration` and the feedback of `command_check`.
`model_exchange` calls the model. `reply_extraction` reads commands from its reply, with `text_commands`,
`json_commands` and `phrase_parser`. `command_check` tries them one step ahead. `agent` connects these
modules, and `settings` switches each part on or off. Specification: `mindagent.md`.
"""
