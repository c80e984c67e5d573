"""Run the agents of an episode: build what each may know (its situation), ask them, and submit their
decisions and answers.
"""
