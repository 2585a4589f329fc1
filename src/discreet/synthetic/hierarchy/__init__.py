"""Counts of persons on every level of a hierarchy, as a statistical office publishes them.

>>> spine = Spine.from_tree(["state", "county"], {"GA": ["Fulton", "Cobb"]})
>>> cells = Cells(attributes={"sex": ("f", "m"), "grown": (False, True)})
>>> tables = {"total": (), "sex": ("sex",), "all": ("sex", "grown")}
>>> census = Hierarchy(spine=spine, cells=cells, queries=tables, rho=0.5, relation="replace_one")
>>> {level: round(errors["sex"], 2) for level, errors in census.standard_errors().items()}
{'state': 1.87, 'county': 1.93}
"""

from discreet.synthetic.hierarchy.cells import Cells
from discreet.synthetic.hierarchy.hierarchy import Hierarchy, Measured
from discreet.synthetic.hierarchy.release import HierarchyRelease
from discreet.synthetic.hierarchy.spine import Spine

__all__ = ["Cells", "Hierarchy", "HierarchyRelease", "Measured", "Spine"]
