"""Thin blueprints: parse, call, reply."""
