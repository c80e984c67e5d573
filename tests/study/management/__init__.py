"""Test the management commands in `study/management`."""
