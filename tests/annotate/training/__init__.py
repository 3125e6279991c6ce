"""The trainer thread, its parts, and the publisher."""
