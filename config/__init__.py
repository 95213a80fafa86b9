"""Settings: read once at start, checked as a whole, handed down as one frozen object."""

from config.provenance import Origin, Source, origins
from config.settings import Settings, load

__all__ = ["Origin", "Settings", "Source", "load", "origins"]
