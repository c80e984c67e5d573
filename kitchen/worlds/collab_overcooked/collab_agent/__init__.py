"""Define the agent `collab`: a language model plays the chef or the assistant, as in Collab-Overcooked (ACL
2025).

`prompt.py` writes the prompts, `turn_reply.py` reads the answers, and `agent.py` makes the decisions.
"""
