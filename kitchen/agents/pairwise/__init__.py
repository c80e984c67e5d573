"""The agent `pairwise`: it talks with one partner and acts by one command at a time, as in MINDcraft.

`own_commands.py` lists and carries out its commands, and `partner_talk.py` holds its conversations.
`prompt.py` writes what the model is told, and `spoken_reply.py` reads what it answers. `stand_in_talk.py`
speaks for the stand-in, and `agent.py` decides. The prompts were written for this project.
"""
