"""What a person can do, by topic: each module is a group of the actions in the table."""
