"""Provide the common base of agents that plan skills (actions of several steps): settings, access to the
language model, and text of skills."""
