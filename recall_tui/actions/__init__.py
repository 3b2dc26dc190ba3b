"""What a person can do: a module a group of actions, and the one table that all of them make."""
