"""The agent `collab`: chef or assistant by a language model, as in Collab-Overcooked (ACL 2025).

`prompt.py` writes what the model is told, `turn_reply.py` reads what it answers, `agent.py` decides.
"""
