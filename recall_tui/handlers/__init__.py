"""The functions behind the actions, one module for each group."""
