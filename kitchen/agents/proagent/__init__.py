"""Define the agent ProAgent. A language model plans skills (actions of several steps) for its players, and
works with unknown partners.

Source: Zhang et al., arXiv 2308.11339, AAAI 2024. The agent plays any world with skills
(`kitchen.contract.agent_skills`). The prompts were written for this project.
"""
