"""Build form fields for the settings that worlds and agents declare."""
