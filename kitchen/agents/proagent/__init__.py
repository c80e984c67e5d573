"""ProAgent (Zhang et al., arXiv 2308.11339, AAAI 2024): a language model that plans skills beside a partner
whom it does not know.

In every step: what the others finished is noted and compared with what was foreseen of them; where there is
no skill, or it is done, the model is asked for one; that is verified, and what fails is explained and planned
again; the skill becomes a command. The loop knows no world (`kitchen.contract.skills`). Prompts are our own.
"""
