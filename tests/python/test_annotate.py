"""kernsight.annotate: inside a run, outside, nested, on threads, with failures."""

import threading

import pytest

import kernsight as nsight


def measured(body, **options):
    return nsight.analyze.kernel(body, **options)(1).to_dataframe().set_index("Annotation")


def test_outside_a_run_it_does_nothing_and_may_be_entered_again():
    for _ in range(3):
        with nsight.annotate("work") as entered:
            assert entered.name == "work"


def test_a_decorated_function_keeps_its_name_and_value():
    @nsight.annotate("work")
    def add(a, b=1):
        """Adds."""
        return a + b

    assert add(2) == 3 and add.__name__ == "add" and add.__doc__ == "Adds."
    frame = measured(lambda n: add(n) and None, runs=3)
    assert frame.Visits["work"] == 1 and frame.NumRuns["work"] == 3


def test_nesting_and_repeating_are_errors_unless_they_are_wanted():
    def nested(n):
        with nsight.annotate("outer"):
            with pytest.raises(ValueError, match="Nested annotations are not supported"):
                nsight.annotate("inner").__enter__()

    assert list(measured(nested).index) == ["outer"]

    def twice(n):
        with nsight.annotate("work"):
            pass
        with pytest.raises(ValueError, match="Annotation name 'work' has already been used"):
            nsight.annotate("work").__enter__()

    assert list(measured(twice, runs=2).NumRuns) == [2]

    def wanted(n):
        with nsight.annotate("outer"):
            for _ in range(3):
                with nsight.annotate("inner", nested=True):
                    pass

    frame = measured(wanted, combine_kernel_metrics="auto")
    assert frame.Visits["outer/inner"] == 3 and frame.Visits["outer"] == 1


def test_a_thread_may_use_a_name_in_each_run():
    work = threading.Semaphore(0)
    done = threading.Semaphore(0)
    failures = []

    def serve():
        for _ in range(4):
            work.acquire()
            try:
                with nsight.annotate("thread"):
                    pass
            except ValueError as error:
                failures.append(error)
            done.release()

    thread = threading.Thread(target=serve)
    thread.start()

    def body(n):
        work.release()
        done.acquire()
        with nsight.annotate("main"):
            pass

    frame = measured(body, runs=3)  # and a warm-up
    thread.join()
    assert failures == [] and frame.NumRuns["thread"] == 3 and frame.NumRuns["main"] == 3


def test_a_failure_that_is_ignored_spoils_its_run_alone():
    calls = []

    def body(n):
        calls.append(n)
        with nsight.annotate("work", ignore_failures=True):
            if len(calls) == 3:
                raise KeyError("boom")

    frame = measured(body, runs=3)
    assert frame.NumRuns["work"] == 2 and frame.NumFailed["work"] == 1 and "KeyError" in frame.Failure["work"]


def test_an_interrupt_is_never_ignored():
    with pytest.raises(KeyboardInterrupt):
        with nsight.annotate("work", ignore_failures=True):
            raise KeyboardInterrupt


def test_failures_outside_annotations_can_be_ignored():
    with nsight.analyze.ignore_failures():
        raise KeyError
    with pytest.raises(KeyboardInterrupt):
        with nsight.analyze.ignore_failures():
            raise KeyboardInterrupt


def test_a_name_is_a_text():
    with pytest.raises(TypeError, match="is a text, not int"):
        nsight.annotate(3)
    with pytest.raises(ValueError, match="control"):
        measured(lambda n: nsight.annotate("a\nb").__enter__() and None)
