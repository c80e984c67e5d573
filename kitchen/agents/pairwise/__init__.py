"""Define the agent `pairwise`, which talks with one partner at a time, as in MINDcraft.

It also gives one command at a time.

- `agent.py` makes the decisions.
- `own_commands.py` lists and carries out the agent's commands.
- `partner_talk.py` stores its conversations.
- `prompt.py` writes prompts for its language model. The wording is our own.
- `spoken_reply.py` parses the model's reply.
- `stand_in_talk.py` writes messages without a language model.
"""
