"""Lists that HubSpot answers page by page."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from connector.errors import CrmAgain


def items(read_page: Callable[[str | None], Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    """Each object of each page; ``read_page`` takes the mark of the page before, first None.

    Raises ``CrmAgain`` when the pages run in a circle.
    """
    seen: set[str | None] = set()
    after: str | None = None
    while after not in seen:
        seen.add(after)
        page = read_page(after)
        yield from (item for item in page["results"] if isinstance(item, Mapping))
        after = _next(page)
        if after is None:
            return
    raise CrmAgain("HubSpot's list leads back to a page that was read already.")


def _next(page: Mapping[str, Any]) -> str | None:
    paging = page.get("paging")
    link = paging.get("next") if isinstance(paging, Mapping) else None
    after = link.get("after") if isinstance(link, Mapping) else None
    return None if after in (None, "") else str(after)
