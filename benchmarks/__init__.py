"""Measurements, side by side in one run; ratios matter, seconds do not."""
