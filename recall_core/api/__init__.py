"""One store with one method a command: the only rooms where everything meets."""
