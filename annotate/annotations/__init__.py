"""Rules for marks: snapping, overlap, layers. Pure; no database."""
