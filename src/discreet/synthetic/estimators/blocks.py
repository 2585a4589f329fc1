"""Where a side of cells is cut into blocks of nearly equal length.

Block t of ``count`` begins at cell ``floor(t side / count)``. So a cell is in the block
``floor(((cell + 1) count - 1) / side)``: block t begins at or before a cell just if ``t side < (cell + 1) count``.
"""

import numpy as np
import numpy.typing as npt

__all__ = ["Places", "block_of", "grid_labels"]

Places = npt.NDArray[np.int64]


def block_of(cells: Places, side: Places | int, count: Places | int) -> Places:
    """Return the number of the block that each cell of a side is in.

    >>> block_of(np.arange(5), 5, 2).tolist()
    [0, 0, 1, 1, 1]
    """
    return np.asarray(((cells + 1) * count - 1) // side, dtype=np.int64)


def grid_labels(shape: tuple[int, int], grid: tuple[int, int]) -> Places:
    """Return for each cell of a plane the number of its block, row by row.

    >>> grid_labels((2, 4), (1, 2)).tolist()
    [[0, 0, 1, 1], [0, 0, 1, 1]]
    """
    rows, columns = (
        block_of(np.arange(side, dtype=np.int64), side, count) for side, count in zip(shape, grid, strict=True)
    )
    return np.asarray(rows[:, None] * grid[1] + columns[None, :], dtype=np.int64)
