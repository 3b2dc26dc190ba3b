"""Recall as a server of the Model Context Protocol, for agents."""
