"""Run the agents of an episode: build the situation of each agent (all that it may know), ask the agents, and
submit their decisions and answers.
"""
