"""The planner: MindAgent's Equation 2 solved by search (arXiv 2309.09971, section 4), without a model.

A plan is an ordered list of dishes. `rollout` plays it ahead in a simplified kitchen, and `plan_search`
changes it and keeps what is better. A plan is worth the orders served in time, dishes for later orders, and
work begun.
"""
