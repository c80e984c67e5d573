"""Provide the code that all agents share which plan skills (actions of several steps).

It consists of a base class, settings, access to the language model, and the wording of skills.
"""
