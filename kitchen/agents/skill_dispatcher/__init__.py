"""An agent that commands all its seats with one language model and the skills of any world.

It follows MindAgent's dispatcher (arXiv 2309.09971): one call plans skills for all seats that need one, and a
skill lasts until it is done. A plan that cannot be carried out is explained to the model and requested again.
The prompts were written for this project.
"""
