"""The base of agents that plan skills: settings, access to the model, and reading and carrying out skills."""
