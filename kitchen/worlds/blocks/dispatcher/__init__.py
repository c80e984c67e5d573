"""Define `blocks_dispatcher`, an agent whose language model commands several players.

The agent plays the world `blocks_kitchen`. It follows MindAgent's dispatcher (arXiv 2309.09971, section 7).

- `prompt` writes the prompt: actions, dishes, hints, a played example, state, feedback and earlier messages.
- `agent` asks the model.
- `action_reply` reads the actions in a reply, and checks them in a simulated step.
- `player_requests` follows simple requests of people by fixed rules, without a model.
"""
