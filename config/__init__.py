"""Settings: read once at start, checked as a whole, handed down as one frozen object."""

from config.settings import Settings, load

__all__ = ["Settings", "load"]
