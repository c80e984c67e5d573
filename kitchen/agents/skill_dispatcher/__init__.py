"""A central dispatcher of any world that has skills: one language model commands all its seats.

As that of MindAgent (Gong et al., arXiv 2309.09971), it is shown the whole scene and remembers the last few;
what it plans is verified, and what cannot be done is told to it and asked again. Unlike there, a command is a
skill that lasts until it is done (`kitchen.contract.skills`), and one call plans for all seats that need one.
It foresees nobody. Prompts are our own.
"""
