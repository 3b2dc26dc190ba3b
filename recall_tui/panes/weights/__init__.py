"""Pane 4: the settings that are moved, and what each weight would make of the first ranks, the grades, the pins."""
