"""Define the agent `collab`, whose language model plays the chef or the assistant of Collab-Overcooked.

`prompt.py` writes the prompts, `turn_reply.py` reads the replies, and `agent.py` makes the decisions. Source:
Collab-Overcooked (ACL 2025).
"""
