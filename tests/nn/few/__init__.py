"""The few-label model."""
