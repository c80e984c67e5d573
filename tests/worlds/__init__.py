"""Define worlds for tests, one folder or module each. `BRIGADE_WORLDS` adds them to the registry."""
