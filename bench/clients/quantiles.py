def quantile(values, share):
    """As the load generator of the HTTP cases computes it."""
    ordered = sorted(values)
    return ordered[int(share * (len(ordered) - 1))]
