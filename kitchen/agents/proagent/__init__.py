"""Define the agent ProAgent, whose language model plans skills and predicts what teammates will do.

A skill is an action of several steps. Source: Zhang et al., arXiv 2308.11339, AAAI 2024. The agent can play
any world that offers skills (`kitchen.contract.agent_skills`). The wording of the prompts is our own.
"""
