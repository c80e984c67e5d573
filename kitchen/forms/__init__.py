"""Settings that worlds and agents declare, as form fields."""
