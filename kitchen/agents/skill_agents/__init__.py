"""The common base of agents that plan skills (actions of several steps): settings, access to the model, and
reading and carrying out skills.
"""
