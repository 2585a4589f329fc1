"""Products and lengths of rows that depend on the row alone.

A matrix product may round a row's result differently if other rows are there: it groups them by where they lie. Where
such a result decides what a record contributes (a slope that is rounded to a grid, the nearest of several centres), one
record could then change what others contribute. Here a row's numbers are multiplied and added one by one, column after
column, each operation rounded once as IEEE 754 says, so that no other row is in the result.
"""

import numpy as np

from discreet.noise.fast import Floats

__all__ = ["by_columns", "products", "squared_distances", "squared_lengths"]


def by_columns(rows: Floats) -> Floats:
    """Return the same rows, kept column after column, so that going through columns is fast."""
    return np.asfortranarray(rows)


def products(rows: Floats, weights: Floats) -> Floats:
    """Return ``rows @ weights``, row by row; weights are a vector or a matrix.

    >>> products(np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([10.0, 1.0]))
    array([12., 34.])
    """
    total = np.zeros((len(rows), *weights.shape[1:]))
    for column, weight in zip(rows.T, weights, strict=True):
        total += np.multiply.outer(column, weight)
    return total


def squared_lengths(rows: Floats) -> Floats:
    """Return the squared L2 norm of each row, as a column.

    >>> squared_lengths(np.array([[3.0, 4.0]]))
    array([[25.]])
    """
    total = np.zeros(len(rows))
    for column in rows.T:
        total += column * column
    return total[:, None]


def squared_distances(rows: Floats, points: Floats) -> Floats:
    """Return the squared distance of each row to each point.

    >>> squared_distances(np.array([[0.0, 0.0]]), np.array([[3.0, 4.0], [1.0, 0.0]]))
    array([[25.,  1.]])
    """
    total = np.zeros((len(rows), len(points)))
    for column, coordinates in zip(rows.T, points.T, strict=True):
        away = np.subtract.outer(column, coordinates)
        total += away * away
    return total
