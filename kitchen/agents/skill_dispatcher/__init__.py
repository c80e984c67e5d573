"""An agent that commands all its seats with one language model and the skills of any world.

Like MindAgent's dispatcher (arXiv 2309.09971) it sees the whole scene and remembers the last exchanges. A
command is a skill that lasts until it is done, and one call plans for all seats that need one. Plans are
verified; a plan that fails is explained and requested again. It makes no predictions. The prompts are our
own.
"""
