"""Agents: profiles that each have a memory of their own, read from agents.toml, and the routes of messages to them."""
