"""How long work is watched: it tells the share that is done, and whoever listens may call it off. Pure."""

from collections.abc import Callable

Watch = Callable[[float], None]
"""Is told after each step what share is done, 0 to 1; what it raises calls the work off."""
