import pytest

from recall_core.rql.filters import is_bare, to_utc


def test_date_becomes_fixed_width_utc() -> None:
    for literal, stored in [
        ("2026-01-31", "2026-01-31T00:00:00.000000Z"),
        ("2026-01-31T12:30", "2026-01-31T12:30:00.000000Z"),
        ("2026-01-31 12:30:45", "2026-01-31T12:30:45.000000Z"),
        ("2026-01-31t12:30:45z", "2026-01-31T12:30:45.000000Z"),
        ("2026-01-31T12:30:45.5Z", "2026-01-31T12:30:45.500000Z"),
        ("2026-01-31T12:30:45.000001Z", "2026-01-31T12:30:45.000001Z"),
        ("2026-01-01T01:00:00+02:00", "2025-12-31T23:00:00.000000Z"),
        ("2026-01-01T01:00:00-0530", "2026-01-01T06:30:00.000000Z"),
        ("2024-02-29", "2024-02-29T00:00:00.000000Z"),
        ("0001-01-01", "0001-01-01T00:00:00.000000Z"),
        ("9999-12-31T23:59:59.999999Z", "9999-12-31T23:59:59.999999Z"),
    ]:
        assert to_utc(literal) == stored, literal
        assert to_utc(stored) == stored, literal


def test_invalid_date_literal_is_refused() -> None:
    for literal in [
        "",
        "2026",
        "2026-01",
        "2026-1-1",
        "20260101",
        "2026-02-29",
        "2026-13-01",
        "2026-01-01T",
        "2026-01-01T24:00",
        "2026-01-01T12:60",
        "2026-01-01T12:00:60",
        "2026-01-01T12:00:00.1234567",
        "2026-01-01T12:00+02:60",
        "2026-01-01T12:00+24:00",
        "2026-01-01+02:00",
        " 2026-01-01",
        "2026-01-01\n",
        "٢٠٢٦-01-01",
        "0000-01-01",
        "0001-01-01T00:00+01:00",
        "9999-12-31T23:59-01:00",
    ]:
        with pytest.raises(ValueError, match=r"\w"):
            to_utc(literal)


def test_offset_of_a_day_is_refused_in_own_words() -> None:
    with pytest.raises(ValueError, match=r"^offset hours go to 23$"):
        to_utc("2026-01-01T12:00-24:00")


def test_only_a_date_without_a_time_is_bare() -> None:
    assert is_bare("2026-01-31")
    assert not is_bare("2026-01-31T00:00")
    assert not is_bare("2026-01-31\n")
