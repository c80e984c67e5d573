"""Define the agent `SkillDispatcher`, which commands all its players by skills, with one language model.

A skill is an action that lasts several steps until it is done. One model call plans skills for all players
that need one. If a plan cannot be carried out, the model gets the reason and plans again. Source: the
dispatcher of MindAgent (arXiv 2309.09971). The wording of the prompts is our own.
"""
