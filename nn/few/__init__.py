"""The few-label model: what 20 to 200 marked spans teach in under a second. No torch, no web, no database."""
