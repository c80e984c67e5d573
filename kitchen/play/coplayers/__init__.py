"""Run the agents (co-players) of a live episode.

The package builds each agent's situation, which is all that the agent may know. It asks the agents, and
submits their decisions and answers.
"""
