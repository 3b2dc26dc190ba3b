"""One store for many callers at once: a pool of connections, names that callers may use, and following changes."""
