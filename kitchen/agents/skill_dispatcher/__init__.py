"""An agent that commands all its seats with one language model. It uses the skills (actions of several steps)
that any world offers.

It follows MindAgent's dispatcher (arXiv 2309.09971): one call plans skills for all seats that need one, and a
skill lasts until it is done. If a plan cannot be carried out, the reason is sent to the model, which plans
again. The prompts were written for this project.
"""
