import numpy as np
import pytest

from discreet.errors import InvalidParameter, RelationMismatch
from discreet.sensitivity.size import check_size, require_public_size


def test_sizes_become_python_integers():
    assert type(check_size(np.int8(100))) is int
    assert check_size(2, least=2) == 2


@pytest.mark.parametrize("size", [0, -3, 1.0, True, None, "10"])
def test_other_sizes_are_refused(size):
    with pytest.raises(InvalidParameter, match="size, the public number of records, must be"):
        check_size(size)


def test_the_relation_must_make_the_size_public():
    require_public_size("replace_one", query="mean", instead="something else")
    with pytest.raises(RelationMismatch, match="Release something else"):
        require_public_size("add_remove", query="mean", instead="something else")
    with pytest.raises(RelationMismatch, match="must be said"):
        require_public_size(None, query="mean", instead="something else")
