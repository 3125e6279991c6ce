"""Suggestions: what a model or a rule proposes, and what a person decides of it."""
