"""Who of the staff may do what; tokens; the frame of their pages."""
