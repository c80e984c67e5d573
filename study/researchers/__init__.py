"""Who of the staff may do what; logins, second factor, tokens; security events; the frame of their pages."""
