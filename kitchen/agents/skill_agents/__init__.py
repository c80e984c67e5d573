"""The common base of agents that plan skills (commands that last several steps): settings, access to the
model, and reading and carrying out skills.
"""
