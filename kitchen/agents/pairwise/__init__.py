"""Define the agent `pairwise`. It talks with one partner at a time and gives one command at a time, as in
MINDcraft.

`own_commands.py` lists and carries out its commands, and `partner_talk.py` stores its conversations.
`prompt.py` writes the model's prompt, and `spoken_reply.py` parses the model's reply. `stand_in_talk.py`
writes the messages of the stand-in (an imitation of a language model), and `agent.py` decides. The prompts
were written for this project.
"""
