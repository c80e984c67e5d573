"""Manage staff accounts: rights, logins, second factor, API tokens, and security events."""
