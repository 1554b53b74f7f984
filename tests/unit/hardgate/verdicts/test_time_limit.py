"""The limit on a block's time, alone and inside another one."""

import re
import time

import pytest

from hardgate.verdicts.time_limit import TimeLimitReached, time_limit


def test_a_block_in_time_is_left_alone():
    with time_limit(30):
        done = True
    assert done


def test_a_block_that_takes_longer_is_ended_whatever_it_swallows():
    with pytest.raises(TimeLimitReached, match="longer than 0.05 seconds"), time_limit(0.05):
        try:
            time.sleep(30)
        except Exception:
            pytest.fail("no Exception may catch the limit")


def test_a_pattern_without_end_is_ended():
    with pytest.raises(TimeLimitReached), time_limit(0.05):
        re.search("(a+)+$", "a" * 40 + "!")


def test_an_inner_limit_leaves_the_outer_one_in_force():
    with pytest.raises(TimeLimitReached, match="longer than 0.1 seconds"), time_limit(0.1):
        with time_limit(30):
            pass
        time.sleep(30)


def test_an_outer_limit_that_passed_meanwhile_is_due_at_once():
    with pytest.raises(TimeLimitReached, match="longer than 0.01 seconds"), time_limit(0.01):
        with pytest.raises(TimeLimitReached, match="longer than 0.05 seconds"), time_limit(0.05):
            time.sleep(30)
        time.sleep(30)
