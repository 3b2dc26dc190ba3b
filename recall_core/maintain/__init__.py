"""The care of a store: is it sound, can it be smaller, how does it travel."""
