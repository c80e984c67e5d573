"""Define the agent ProAgent, whose language model plans skills (actions of several steps) and predicts its
teammates.

Source: Zhang et al., arXiv 2308.11339, AAAI 2024. The agent can play any world that offers skills
(`kitchen.contract.agent_skills`). The wording of the prompts is our own.
"""
