"""A token endpoint on loopback: knows one refresh token, notes who asks, and errs by script."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qsl

from werkzeug.wrappers import Request, Response

from adapters.sandbox.server import Call, Sandbox, json_response

CLIENT = {"client_id": "client-1", "client_secret": "client-secret-1"}


class TokenEndpoint(Sandbox):
    """Gives ``access-1``, ``access-2`` … for the refresh token or the code that it knows.

    ``rotates``: each refresh token works once, and the next comes along.
    """

    def __init__(self, *, refresh_token: str = "refresh-0", rotates: bool = False) -> None:
        super().__init__()
        self.refresh_token = refresh_token
        self.code = "code-1"
        self.rotates = rotates
        self.given = 0
        self.instead: dict[str, Any] = {}  # what to say otherwise than usual
        self.route("POST", "/oauth/<version>/token", self.give)

    def give(self, request: Request, version: str) -> Response:
        form = request.form.to_dict()
        good = {"grant_type": "refresh_token", "refresh_token": self.refresh_token}
        if form.get("grant_type") == "authorization_code":
            good = {"grant_type": "authorization_code", "code": self.code}
            good["redirect_uri"] = "https://leads.example.com/oauth/hubspot"
        with self.lock:
            if form != good | CLIENT:
                told = {"status": "BAD_REFRESH_TOKEN", "message": f"no such grant: {form}"}
                return json_response(told, 400)
            self.given += 1
            if self.rotates:
                self.refresh_token = f"refresh-{self.given}"
            usual = {
                "token_type": "bearer",
                "access_token": f"access-{self.given}",
                "refresh_token": self.refresh_token,
                "expires_in": 1800,
            }
        return json_response({k: v for k, v in (usual | self.instead).items() if v is not None})

    @property
    def forms(self) -> list[dict[str, str]]:
        """What each call sent, oldest first."""
        return [form_of(call) for call in self.calls]


def form_of(call: Call) -> dict[str, str]:
    return dict(parse_qsl(call.body.decode(), strict_parsing=True))
