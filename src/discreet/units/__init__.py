"""Who is protected: neighbour relations, and privacy units whose distance between data sets can be run.

>>> Row(relation="add_remove").neighbours(["blond", "brown"], ["blond", "brown", "brown"])
True
>>> Row(relation="replace_one").neighbours(["blond", "brown"], ["blond", "brown", "brown"])
False
"""

from discreet.units.numeric import check_numeric
from discreet.units.records import frozen, multiset, records
from discreet.units.relation import Relation, check_relation
from discreet.units.unit import Person, Row

__all__ = ["Person", "Relation", "Row", "check_numeric", "check_relation", "frozen", "multiset", "records"]
