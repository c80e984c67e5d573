"""The agent ProAgent: a language model that plans skills for its seats next to unknown partners.

Source: Zhang et al., arXiv 2308.11339, AAAI 2024. The agent knows a world only through
`kitchen.contract.agent_skills`. The prompts were written for this project.
"""
