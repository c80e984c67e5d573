"""ProAgent (Zhang et al., arXiv 2308.11339, AAAI 2024): a language model that plans skills beside unknown
partners.

In every step it compares what others finished with what it predicted. If a seat needs a skill, it asks the
model, verifies the plan, and asks again with an explanation if the plan fails. A skill then becomes
commands. It knows a world only through `kitchen.contract.agent_skills`. The prompts are our own.
"""
