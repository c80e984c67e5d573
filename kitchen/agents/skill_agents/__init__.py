"""Provide what all agents that plan skills have in common. A skill is an action of several steps.

The package has their base class, settings, access to the language model, and the wording of skills.
"""
