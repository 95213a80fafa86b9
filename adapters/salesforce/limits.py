"""What Salesforce tells of its limits with each answer, in the header ``Sforce-Limit-Info``.

``api-usage=10018/100000``, maybe followed by ``; api-bursts=1/750`` or, from older releases,
``; per-app-api-usage=17/250(appName=x)``: so many used of so many.
https://developer.salesforce.com/docs/atlas.en-us.api_rest.meta/api_rest/headers_api_usage.htm
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from connector.ports import Limit

_USED = re.compile(r"(?:^|[;,])\s*([a-z-]+)\s*=\s*(\d{1,12})\s*/\s*(\d{1,12})", re.ASCII)
_NAMES = {
    "api-usage": "daily",  # within 24 hours, a rolling window
    "api-bursts": "bursts",  # how often in a month the daily one may be exceeded
    "per-app-api-usage": "per_app",
}


def told(headers: Mapping[str, str]) -> list[Limit]:
    """The limits of an answer; what cannot be read is left out."""
    found = _USED.findall(headers.get("Sforce-Limit-Info", "").lower())
    return [
        Limit(name=_NAMES[name], most=int(most), left=max(int(most) - int(used), 0))
        for name, used, most in found
        if name in _NAMES
    ]
