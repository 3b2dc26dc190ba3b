"""The version of Recall."""

__version__ = "0.1.0"
