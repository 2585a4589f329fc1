"""Graphical models: one distribution that fits noisy marginals, and answers what was not measured.

McKenna, Sheldon and Miklau, "Graphical-Model Based Estimation and Inference for Differential Privacy", ICML 2019.
"""

from discreet.synthetic.graphical.junction_tree import JunctionTree, junction_tree
from discreet.synthetic.graphical.model import GraphicalModel

__all__ = ["GraphicalModel", "JunctionTree", "junction_tree"]
