"""From a pool to a ranking: normalise, weigh, order, page. Pure functions over frozen values."""
