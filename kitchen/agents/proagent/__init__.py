"""The agent ProAgent: a language model that plans skills for its seats and works with unknown partners. A
skill is an action of several steps.

Source: Zhang et al., arXiv 2308.11339, AAAI 2024. The agent knows a world only through
`kitchen.contract.agent_skills`. The prompts were written for this project.
"""
