"""A game of DualQuery that claims less than it costs is found; that the entries stand is in ``test_audit``."""

from discreet.auditing import audit


def test_a_game_with_far_too_large_a_step_is_found():
    from functools import partial

    from discreet.auditing.dual_entries import _records
    from discreet.synthetic.dual_query import DualQuery, Queries, Search

    quick = Search(starts=1, moves=0)
    queries = Queries(sizes=(2,), attributes=[[0]], values=[[1]])
    wild = DualQuery(queries=queries, size=2, rounds=3, samples=9, eta=20, relation="replace_one", search=quick)
    mild = DualQuery(queries=queries, size=2, rounds=3, samples=9, eta=0.1, relation="replace_one")
    pair = ([[1], [1]], [[1], [0]])
    found = audit(partial(_records, wild), claims=mild.loss, neighbours=[pair], draws=1600, alpha=1e-6)
    assert found.refuted
