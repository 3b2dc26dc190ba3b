"""What the actions do, a module a group."""
