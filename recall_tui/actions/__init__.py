"""The actions of the user: their conditions and the table of all actions."""
