"""The threads that meet the store. Each has a connection of its own and tells the session what it found."""
