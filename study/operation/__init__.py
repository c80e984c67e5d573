"""Is everything well? What programs ask (health, readiness, metrics), and the page and command for people."""
