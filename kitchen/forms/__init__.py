"""Build Django form fields for the settings that worlds and agents declare."""
