"""How far one record can move an answer: queries that know their own sensitivity, exactly.

The *sensitivity* of a query is the largest change of its answer between neighbouring data sets, measured in a
norm (Dwork, McSherry, Nissim and Smith, Calibrating Noise to Sensitivity in Private Data Analysis, TCC 2006).
It depends on what a neighbour is, so every question names the relation.

How many people have blond hair? One person changes the answer by at most one.

>>> people = [{"sex": "m", "hair": "blond"}, {"sex": "f", "hair": "blond"}, {"sex": "f", "hair": "red"}]
>>> blond = Count(where=lambda person: person["hair"] == "blond")
>>> blond(people)
2
>>> [str(blond.sensitivity(relation=relation)) for relation in ("add_remove", "replace_one")]
['1', '1']

How many are male, and how many are blond? One person may be both.

>>> both = Counts(wheres=(lambda person: person["sex"] == "m", lambda person: person["hair"] == "blond"))
>>> [str(both.sensitivity(relation=relation)) for relation in ("add_remove", "replace_one")]
['2', '2']

How many have each of four hair colours? A person has one colour, so whoever is added changes one count;
whoever is replaced may change two.

>>> colours = Histogram(bins=("black", "blond", "brown", "red"), by=lambda person: person["hair"])
>>> [str(colours.sensitivity(relation=relation)) for relation in ("add_remove", "replace_one")]
['1', '2']

What is the average salary? Nobody can say how far one salary moves it, until salaries are clamped.

>>> Mean(size=1000)
Traceback (most recent call last):
discreet.errors.UnboundedSensitivity: the mean has no bounds, so one person could move it without limit.
Write Mean(bounds=(0, 500000), size=...).
>>> str(Mean(bounds=(0, 500000), size=1000).sensitivity(relation="replace_one"))
'500'

No theorem needs to be believed: ``brute_force`` tries every pair of neighbours over a small domain.

>>> str(brute_force(colours, [{"hair": hair} for hair in colours.bins], size=3, relation="replace_one"))
'2'

Where the sensitivity at the data at hand is far below that of all data sets, see ``discreet.sensitivity.smooth`` for
numbers and ``discreet.sensitivity.graphs`` for graphs.
"""

from discreet.sensitivity.brute_force import brute_force
from discreet.sensitivity.count import Count
from discreet.sensitivity.counts import Counts
from discreet.sensitivity.histogram import Histogram
from discreet.sensitivity.mean import Mean
from discreet.sensitivity.norms import norm
from discreet.sensitivity.restricted import Restricted
from discreet.sensitivity.sum import Sum
from discreet.sensitivity.variance import Variance

__all__ = ["Count", "Counts", "Histogram", "Mean", "Restricted", "Sum", "Variance", "brute_force", "norm"]
