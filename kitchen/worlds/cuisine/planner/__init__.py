"""The planner: it solves MindAgent's Equation 2 by search (arXiv 2309.09971, section 4), without a language
model.

A plan is an ordered list of dishes. `rollout` simulates it in a simplified kitchen. `plan_search` tries
random changes and keeps the best plan. The value of a plan is the worth of orders served in time, of dishes
for later orders, and of unfinished work.
"""
