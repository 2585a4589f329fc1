"""DualQuery: synthetic records that answer millions of queries about hundreds of thousands of attributes.

>>> from discreet.synthetic.dual_query import DualQuery, random_queries
>>> asked = random_queries((2,) * 12, 500, ways=3)
>>> plan = DualQuery.for_budget(1, 1e-3, queries=asked, size=5000, relation="replace_one")
>>> made = plan.release([[0] * 12] * 5000)
>>> made.answer(asked).shape, made.sizes == asked.sizes
((500,), True)
"""

from discreet.synthetic.dual_query.accountings import Accountings
from discreet.synthetic.dual_query.certificate import Certificate, certificate
from discreet.synthetic.dual_query.choice import Choice, practical, records_needed, theoretical
from discreet.synthetic.dual_query.mechanism import DualQuery
from discreet.synthetic.dual_query.packed import Packed, packed
from discreet.synthetic.dual_query.queries import Queries, all_marginals, random_queries
from discreet.synthetic.dual_query.records import SyntheticRecords
from discreet.synthetic.dual_query.response import Search, response
from discreet.synthetic.dual_query.transcript import Transcript

__all__ = [
    "Accountings",
    "Certificate",
    "Choice",
    "DualQuery",
    "Packed",
    "Queries",
    "Search",
    "SyntheticRecords",
    "Transcript",
    "all_marginals",
    "certificate",
    "packed",
    "practical",
    "random_queries",
    "records_needed",
    "response",
    "theoretical",
]
