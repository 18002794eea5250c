from __future__ import annotations

import pytest
from django.template.loader import render_to_string

from hermesweb.spark import BARS, spark
from hermesweb.templatetags.units import chip


def test_a_spark_has_one_bar_a_turn_and_its_cuts() -> None:
    drawn = spark([10, 20, 5], ceiling=40, threshold=30, compacted=[2])
    assert drawn.heights == (25, 50, 12.5)
    assert (drawn.tick, drawn.cuts, drawn.width) == (25, (2.0,), 3)


def test_a_long_spark_is_binned_and_keeps_its_peaks() -> None:
    values = [1] * 1_000
    values[517] = 9
    drawn = spark(values, compacted=[500])
    assert len(drawn.heights) <= BARS
    assert max(drawn.heights) == 100
    assert drawn.cuts[0] == pytest.approx(drawn.width / 2, abs=1)


def test_a_spark_beyond_its_ceiling_stays_in_its_box() -> None:
    assert max(spark([50, 300], ceiling=100).heights) == 100


def test_a_spark_of_nothing_is_drawn_empty() -> None:
    html = render_to_string("_spark.html", {"spark": spark([])})
    assert 'd=""' in html


def test_a_spark_is_drawn_as_paths() -> None:
    html = render_to_string("_spark.html", {"spark": spark([1, 2], threshold=1, compacted=[1])})
    assert html.count("<path") == 3
    assert 'd="M0 50.0h.8V100h-.8zM1 0.0h.8V100h-.8z"' in html


def test_a_category_chip_shows_its_letter_and_name() -> None:
    assert chip("summary") == '<span class="letter cat-summary" title="Summary">Y</span>'
