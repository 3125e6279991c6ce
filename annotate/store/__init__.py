"""Every query and write, by subject; a session is passed in."""
