"""Define the agent `hourglass`, which plans in stages, and gives tasks to others or does them itself.

It follows the hourglass architecture of the paper S-Agents (arXiv 2402.04578, section 3.2).
"""
