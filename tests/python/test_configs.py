"""What configs may be, and what is said of those that are none."""

import numpy
import pytest

import kernsight as nsight
from kernsight import configs
from kernsight.exceptions import ProfilerException


def one(n):
    pass


def two(n, kind):
    pass


def default(n, kind="x"):
    pass


def named(n, *, kind):
    pass


@pytest.mark.parametrize("given, function, expected", [
    ([1, 2], one, [(1,), (2,)]),
    ([(1,), 2, (3,)], one, [(1,), (2,), (3,)]),
    ([([1, 2],)], one, [([1, 2],)]),
    (["ab"], one, [("ab",)]),
    (range(3), one, [(0,), (1,), (2,)]),
    ([(1, "a")], two, [(1, "a")]),
    ([[1, "a"], [2, "b"]], two, [(1, "a"), (2, "b")]),
    ([{"kind": "a", "n": 1}], two, [(1, "a")]),
    ([{"n": 1}, {"n": 2, "kind": "y"}], default, [(1, "x"), (2, "y")]),
    ([(1,), (2,)], default, [(1, "x"), (2, "x")]),
    ([(1, "a")], named, [(1, "a")]),
    ((i for i in (1, 2)), one, [(1,), (2,)]),
    (numpy.array([[1, 2], [3, 4]]), two, [(1, 2), (3, 4)]),
    (numpy.array([1, 2]), one, [(1,), (2,)]),
])
def test_configs_are_tuples_in_the_end(given, function, expected):
    assert configs.normalize(given, function) == expected


@pytest.mark.parametrize("given, function, error, text", [
    ([], one, ProfilerException, "configs cannot be empty"),
    (3, one, AssertionError, "configs must be an iterable, got int"),
    ([(1,), (1, 2), (1,)], two, ProfilerException, r"Found lengths: \[1, 2, 1\]"),
    ([(1, 2)], one, ProfilerException, "Configs have 2 arguments, but function expects 1"),
    ([[1, 2]], one, ProfilerException, "Configs have 2 arguments, but function expects 1"),
    ([(1, 2, 3)], default, ProfilerException, "between 1 and 2"),
    ([1, 2], two, TypeError, "has no len"),
    ([{"m": 1}], one, ProfilerException, "names \\['m'\\]"),
    ([{"kind": "a"}, {"n": 1}], two, ProfilerException, "has no 'n'|function expects"),
])
def test_what_is_no_config_is_told(given, function, error, text):
    with pytest.raises(error, match=text):
        configs.normalize(given, function)


def test_where_configs_come_from():
    decorated = nsight.analyze.kernel(one, configs=[1])
    with pytest.raises(ProfilerException, match="at decoration time and at runtime"):
        decorated(configs=[2])
    with pytest.raises(AssertionError):
        decorated(1)
    with pytest.raises(ProfilerException, match="Keyword arguments are not supported yet: n"):
        nsight.analyze.kernel(one)(n=1)
    with pytest.raises(ProfilerException, match="You have provided no configs"):
        nsight.analyze.kernel(one)()


def test_an_iterator_of_the_decorator_serves_each_call():
    @nsight.analyze.kernel(configs=iter([1, 2]))
    def function(n):
        with nsight.annotate("work"):
            pass

    assert list(function().to_dataframe().n) == [1, 2] and list(function().to_dataframe().n) == [1, 2]


def test_defaults_are_a_config():
    @nsight.analyze.kernel
    def function(n=7):
        with nsight.annotate("work"):
            pass

    assert list(function().to_dataframe().n) == [7]


def test_texts_of_objects_have_no_address():
    class Thing:
        pass

    assert configs.shown(Thing()) == "test_texts_of_objects_have_no_address.<locals>.Thing"
    assert configs.shown(len) == "len" and configs.shown([1, 2]) == "[1, 2]"
    assert len(configs.shown("x" * 1000)) == 200
