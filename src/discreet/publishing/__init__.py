"""Publishing: the curator's file ``release.yaml``, what it will cost, its release, and the certificate of it.

The file declares who is protected, what may be spent and what is published. ``read_release`` reads it, ``opened`` joins
it to its table without reading a row, ``foresee`` tells error and cost, ``publish`` charges once and writes everything.
"""
