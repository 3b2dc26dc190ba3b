"""Date literals as the store writes times: fixed-width UTC, so that text order is time order."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone

_DATE = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)"
    r"(?:[Tt ](\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,6}))?)?(?:[Zz]|([+-])(\d\d):?(\d\d))?)?",
    re.ASCII,
)


def to_utc(literal: str) -> str:
    """`YYYY-MM-DDTHH:MM:SS.ffffffZ` of an ISO 8601 date or time; a date is its midnight, no offset means UTC.

    Raises ValueError with a reason when it is not a date of the calendar, or leaves the years 1 to 9999.
    """
    found = _DATE.fullmatch(literal)
    if not found:
        raise ValueError("not an ISO 8601 date")
    year, month, day, hour, minute, second = (int(part or 0) for part in found.group(1, 2, 3, 4, 5, 6))
    micros = int((found[7] or "0").ljust(6, "0"))
    moment = datetime(year, month, day, hour, minute, second, micros, tzinfo=_zone(*found.group(8, 9, 10)))
    try:
        moment = moment.astimezone(UTC)
    except OverflowError as error:
        raise ValueError("outside the calendar once in UTC") from error
    return moment.replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"


def is_bare(literal: str) -> bool:
    """True for a date without a time."""
    return re.fullmatch(r"\d{4}-\d\d-\d\d", literal, re.ASCII) is not None


def _zone(sign: str | None, hours: str | None, minutes: str | None) -> timezone:
    if not (sign and hours and minutes):
        return UTC
    if int(minutes) > 59:
        raise ValueError("offset minutes go to 59")
    if int(hours) > 23:
        raise ValueError("offset hours go to 23")
    offset = timedelta(hours=int(hours), minutes=int(minutes))
    return timezone(-offset if sign == "-" else offset)
