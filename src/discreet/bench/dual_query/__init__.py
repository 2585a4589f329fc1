"""DualQuery against noise on each answer and against independent attributes, as its paper measures it."""

from discreet.bench.dual_query.data import Table, biased_columns, generated_table, read_table, table_named
from discreet.bench.dual_query.result import Experiment, Measured
from discreet.bench.dual_query.run import against_attributes, against_epsilon, against_queries

__all__ = [
    "Experiment",
    "Measured",
    "Table",
    "against_attributes",
    "against_epsilon",
    "against_queries",
    "biased_columns",
    "generated_table",
    "read_table",
    "table_named",
]
