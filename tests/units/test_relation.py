import pytest

from discreet.errors import RelationMismatch
from discreet.units import check_relation


@pytest.mark.parametrize("relation", ["add_remove", "replace_one"])
def test_both_relations_pass(relation):
    assert check_relation(relation) == relation


@pytest.mark.parametrize("value", [None, "", "bounded", "add-remove", 1, ["add_remove"], True])
def test_anything_else_is_told_what_to_write(value):
    with pytest.raises(RelationMismatch, match=r'relation="add_remove".*relation="replace_one"'):
        check_relation(value)
