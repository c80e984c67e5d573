"""Define an agent that commands all its players with one language model, by skills (actions of several
steps). It plays any world that offers skills.

One call plans skills for all players that need one, and a skill lasts until it is done. If a plan cannot be
carried out, the model gets the reason and plans again. This follows MindAgent's dispatcher (arXiv
2309.09971). The prompts were written for this project.
"""
