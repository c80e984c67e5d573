"""The dispatcher of MindAgent (arXiv 2309.09971, section 7) for the world `blocks_kitchen`: one language
model commands all players of the agent.

`prompt` writes the prompt: actions, dishes, hints, a played example, state, feedback and the talk so far.
`agent` asks the model. `action_reply` reads the actions in a reply, and checks them in a simulated step.
`player_requests` follows simple requests of people, for the stand-in (an imitation of a model).
"""
