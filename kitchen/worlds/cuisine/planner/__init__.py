"""Define the planner, an agent that searches for a good plan, without a language model.

A plan is an ordered list of dishes. `rollout` simulates it in a simplified kitchen. `plan_search` tries
random changes and keeps the best plan. A plan's value depends on orders served in time, dishes for later
orders, and unfinished work. Source: MindAgent, arXiv 2309.09971, section 4.
"""
