"""The base of agents that plan skills: settings, model access, reading skills, and carrying them out."""
