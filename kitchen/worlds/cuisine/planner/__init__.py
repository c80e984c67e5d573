"""The planner: it solves MindAgent's Equation 2 by search (arXiv 2309.09971, section 4), without a model.

A plan is an ordered list of dishes. `rollout` plays it ahead in a simplified kitchen. `plan_search` changes
it and keeps the better plan. The value of a plan is the orders served in time, dishes for later orders, and
work begun.
"""
