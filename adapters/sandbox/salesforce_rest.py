"""The REST API of the sandbox org: one function for each resource that Lead Rota calls."""

from __future__ import annotations

import re
from collections.abc import Callable

from werkzeug import Request, Response
from werkzeug.http import http_date

from adapters.sandbox import salesforce_collections as collections
from adapters.sandbox import salesforce_describe as describe
from adapters.sandbox import salesforce_query as query
from adapters.sandbox import salesforce_refusals as say
from adapters.sandbox import salesforce_writes as writes
from adapters.sandbox.salesforce_answers import show_json, show_refusal
from adapters.sandbox.salesforce_ids import MalformedId, make_id
from adapters.sandbox.salesforce_records import Record, Records
from adapters.sandbox.salesforce_requests import read_object, read_options, refuse_size
from adapters.sandbox.salesforce_switches import Switches
from adapters.sandbox.salesforce_token import Tokens

CROWDED = "sandbox.crowded"  # in the environment of a call beside too many long ones
_NEWEST, _OLDEST = 68, 31
_PAGE = 2_000
_LEAST_PAGE = 200


class Rest:
    """Answers requests below ``/services/data``."""

    def __init__(self, records: Records, switches: Switches, tokens: Tokens) -> None:
        self.records = records
        self.switches = switches
        self.tokens = tokens
        self.rules = records.rules
        self.used = 0
        self._numbered = 0
        self._locators: dict[str, list[query.Row]] = {}
        self._routes: list[tuple[str, str, Callable[..., Response]]] = [
            ("GET", r"/query/?", self._query),
            ("GET", r"/queryAll/?", self._query_all),
            ("GET", r"/query/([^/]+)", self._query_more),
            ("GET", r"/limits/?", self._limits),
            ("PATCH", r"/composite/sobjects/?", self._patch_many),
            ("GET", r"/sobjects/?", self._describe_all),
            ("GET", r"/sobjects/(\w+)/describe/?", self._describe),
            ("POST", r"/sobjects/(\w+)/?", self._post_row),
            ("GET", r"/sobjects/(\w+)/([^/]+)/?", self._get_row),
            ("PATCH", r"/sobjects/(\w+)/([^/]+)/?", self._patch_row),
        ]

    def answer(self, request: Request) -> Response:
        """The whole way of one request: size, version, session, limit, resource."""
        if "uri_limit" in self.rules and (too_long := refuse_size(request)):
            return too_long
        if re.fullmatch(r"/services/data/?", request.path):
            return show_json(_versions())
        try:
            response = self._open(request)
        except say.Refused as refused:
            response = show_refusal(refused)
        if "limit_info" in self.rules:
            usage = f"api-usage={self.used}/{self.switches.daily_limit}{self.switches.usage_extra}"
            response.headers["Sforce-Limit-Info"] = usage
        return response

    def _open(self, request: Request) -> Response:
        known = re.fullmatch(r"(/services/data/v(\d+)\.0)(/.*)", request.path)
        if not known or not _OLDEST <= int(known[2]) <= _NEWEST:
            raise say.not_found()
        if self.switches.is_down and "maintenance" in self.rules:
            raise say.unavailable()
        self._check_session(request)
        self._check_limits(request)
        return self._route(request, known[1], known[3])

    def _check_session(self, request: Request) -> None:
        authorization = request.headers.get("Authorization")
        if "session" in self.rules and not self.tokens.is_live(authorization):
            raise say.refuse(401, "INVALID_SESSION_ID", "Session expired or invalid", None)
        if "rest_session" in self.rules and not self.tokens.opens_rest:
            message = "This session is not valid for use with the REST API"
            raise say.refuse(401, "INVALID_SESSION_ID", message, None)

    def _check_limits(self, request: Request) -> None:
        message = "ConcurrentRequests (Concurrent API Requests) Limit exceeded."
        if request.environ.get(CROWDED) and "concurrent_limit" in self.rules:
            raise say.refuse(403, "REQUEST_LIMIT_EXCEEDED", message, None)
        with self.records.lock:
            self.used += 1
        if self.used > self.switches.daily_limit and "daily_limit" in self.rules:
            message = "TotalRequests Limit exceeded."
            raise say.refuse(403, "REQUEST_LIMIT_EXCEEDED", message, None)

    def _route(self, request: Request, base: str, path: str) -> Response:
        methods = []
        for method, pattern, serve in self._routes:
            found = re.fullmatch(pattern, path)
            if found and method == request.method:
                return serve(request, base, *found.groups())
            if found:
                methods.append(method)
        if methods:
            message = f"HTTP Method '{request.method}' not allowed. Allowed are {','.join(methods)}"
            raise say.refuse(405, "METHOD_NOT_ALLOWED", message, None)
        raise say.not_found()

    def _query(self, request: Request, base: str) -> Response:
        return self._rows(request, base, with_deleted="deleted_hidden" not in self.rules)

    def _query_all(self, request: Request, base: str) -> Response:
        return self._rows(request, base, with_deleted=True)

    def _rows(self, request: Request, base: str, *, with_deleted: bool) -> Response:
        text = request.args.get("q", "")
        rows = query.answer(self.records, text, base=base, with_deleted=with_deleted)
        wished = re.search(r"batchSize=(\d+)", request.headers.get("Sforce-Query-Options", ""))
        size = min(self.switches.page_size, max(int(wished[1]), _LEAST_PAGE) if wished else _PAGE)
        if "paging" not in self.rules:
            size = max(len(rows), 1)
        with self.records.lock:
            self._numbered += 1
            locator = make_id("01g", self._numbered)
            if len(rows) > size:
                self._locators[locator] = rows
        return show_json(_page(rows, base, locator, start=0, size=size))

    def _query_more(self, _: Request, base: str, place: str) -> Response:
        found = re.fullmatch(r"(01g\w{15})-(\d+)-(\d+)", place)
        rows = self._locators.get(found[1]) if found else None
        if found is None or (rows is None and "locator" in self.rules):
            raise say.refuse(400, "INVALID_QUERY_LOCATOR", "invalid query locator", None)
        return show_json(_page(rows or [], base, found[1], start=int(found[2]), size=int(found[3])))

    def _limits(self, _: Request, __: str) -> Response:
        left = max(self.switches.daily_limit - self.used, 0)
        return show_json(
            {"DailyApiRequests": {"Max": self.switches.daily_limit, "Remaining": left}}
        )

    def _describe_all(self, _: Request, __: str) -> Response:
        return show_json(describe.describe_all(self.records.objects))

    def _describe(self, _: Request, __: str, object_type: str) -> Response:
        return show_json(describe.describe(self.records.objects, self._kind(object_type)))

    def _get_row(self, request: Request, base: str, object_type: str, raw: str) -> Response:
        row = self._row(object_type, raw)
        wanted = request.args.get("fields")
        everything = self.records.fields[row.type]
        seen = [name for name in everything if self.records.objects.is_seen(row.type, name)]
        names = wanted.split(",") if wanted else seen
        body: query.Row = {
            "attributes": {"type": row.type, "url": f"{base}/sobjects/{row.type}/{row.id}"}
        }
        for name in names:
            known = self.records.objects.seen_field(row.type, name.strip())
            if known is None:
                message = f"No such column '{name}' on sobject of type {row.type}"
                raise say.refuse(400, "INVALID_FIELD", message, None)
            body[known] = self.records.read(row, known)
        response = show_json(body)
        response.headers["Last-Modified"] = http_date(row.modified_at)
        if row.type == "Account":  # the only object with entity tags
            response.headers["ETag"] = writes.entity_tag(row)
        return response

    def _post_row(self, request: Request, _: str, object_type: str) -> Response:
        kind = self._kind(object_type)
        how = read_options(request, self.rules)
        created = writes.create(self.records, self.switches, kind, read_object(request), how)
        return show_json({"id": created, "success": True, "errors": []}, status=201)

    def _patch_row(self, request: Request, _: str, object_type: str, raw: str) -> Response:
        row = self._row(object_type, raw)
        values = read_object(request)
        how = read_options(request, self.rules)
        writes.update(self.records, self.switches, (row.type, row.id), values, how)
        self.records.tell(row.type, row.id, over_api=True, kind="updated")
        return Response(status=204)

    def _row(self, object_type: str, raw: str) -> Record:
        kind = self._kind(object_type)
        try:
            row = self.records.find(raw)
        except MalformedId:
            raise say.malformed_id(raw) from None
        except KeyError:
            raise say.not_found() from None
        if row.type != kind:
            raise say.not_found()
        if row.is_deleted and "deleted" in self.rules:
            raise say.refuse(404, "ENTITY_IS_DELETED", "entity is deleted")
        return row

    def _kind(self, object_type: str) -> str:
        kind = self.records.objects.seen_object(object_type)
        if kind is None:
            raise say.not_found()
        return kind

    def _patch_many(self, request: Request, _: str) -> Response:
        results = collections.patch(
            self.records, self.switches, read_object(request), read_options(request, self.rules)
        )
        failed = not all(result["success"] for result in results)
        return show_json(results, status=400 if failed and "always_200" not in self.rules else 200)


def _page(rows: list[query.Row], base: str, locator: str, *, start: int, size: int) -> query.Row:
    end = start + size
    page: query.Row = {"totalSize": len(rows), "done": end >= len(rows), "records": rows[start:end]}
    if end < len(rows):
        page["nextRecordsUrl"] = f"{base}/query/{locator}-{end}-{size}"
    return page


def _versions() -> list[dict[str, str]]:
    return [
        {"label": _release(n), "url": f"/services/data/v{n}.0", "version": f"{n}.0"}
        for n in range(_OLDEST, _NEWEST + 1)
    ]


def _release(version: int) -> str:
    # Three releases a year; v68 is Winter '27.
    year, season = divmod(version - 68, 3)
    return f"{('Winter', 'Spring', 'Summer')[season]} '{27 + year:02d}"
