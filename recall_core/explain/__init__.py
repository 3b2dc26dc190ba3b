"""Why the ranking is as it is: what every weight would change, exactly, and how sure a better weight is."""
