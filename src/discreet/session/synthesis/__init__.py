"""Synthetic copies of private tables: a model that answers counts, and rows with the types of the original.

``session.synthesize`` charges everything at once, then finds what is not declared, measures coded rows with one grouped
query, and fits a model. What comes out of the model costs nothing more.
"""
