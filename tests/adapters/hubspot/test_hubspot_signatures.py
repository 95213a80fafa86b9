"""The v3 signature: published vectors, computed ones, and all that must be refused."""

from datetime import UTC, datetime, timedelta

import pytest

from adapters.hubspot import receiver
from adapters.hubspot.settings import HubSpotSettings
from adapters.hubspot.signatures import sign
from connector.errors import BadSettings, WebhookRefused
from connector.ports import Delivery

PUBLISHED_SECRET = "yyyyyyyy-yyyy-yyyy-yyyy-yyyyyyyyyyyy"
SECRET = "test-client-secret-0001"
ORIGIN = "https://connector.example.test"
PATH = "/webhooks/hubspot"
STAMP = 1790000001000
A = (
    b'[{"eventId":501,"subscriptionId":77,"portalId":4242,"appId":9001,"occurredAt":1790000000000,'
    b'"subscriptionType":"contact.creation","attemptNumber":0,"objectId":88000000123,'
    b'"changeFlag":"CREATED","changeSource":"FORM"}]'
)
B = (
    '[{"eventId":502,"subscriptionId":78,"portalId":4242,"appId":9001,"occurredAt":1790000000500,'
    '"subscriptionType":"object.propertyChange","objectTypeId":"0-1","attemptNumber":1,'
    '"objectId":88000000123,"propertyName":"firstname","propertyValue":"Zoë",'
    '"changeSource":"CRM_UI","sourceId":"userId:7"}]'
).encode()
C = b'{"objectId":88000000123,"email":"lead@example.test","firstname":"Ada"}'
SIGNED_A = "nWVeKFjCXt+jSf0J+jLZbhTpIEe47ZK1/b8hP2SNEBY="
V1_A = "89ea3bd8c494adabd245504e47039cf6bd8e227ed4ba1ee0edd83ba05e9048c4"
V2_A = "78a4c1206501f8ba235e8f645a5bd582a665231fc3f5282e38abf31a1ce4a649"


def settings(**changes):
    values = {
        "name": "hubspot",
        "access_token": "token",
        "client_secret": SECRET,
        "public_url": ORIGIN,
    }
    return HubSpotSettings(**(values | changes))


def delivery(
    *, body=A, signature=SIGNED_A, stamp=str(STAMP), method="POST", target=PATH, **headers
):
    given = {
        "x-hubspot-signature-v3": signature,
        "x-hubspot-request-timestamp": stamp,
        **{name.replace("_", "-"): value for name, value in headers.items()},
    }
    kept = {name: value for name, value in given.items() if value is not None}
    return Delivery(method=method, target=target, headers=kept, body=body)


def at(milliseconds):
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=milliseconds)


def verify(sent, *, now=None, **changes):
    receiver(settings(**changes)).verify(sent, now or at(STAMP))


def refusal(sent, *, now=None, **changes):
    with pytest.raises(WebhookRefused) as caught:
        verify(sent, now=now, **changes)
    assert caught.value.status == 401
    return caught.value.code


@pytest.mark.parametrize(
    ("stamp", "signature"),
    [
        (1693657560000, "K36dawei4A+QBNolUOqo7s91KQDWQ5MXZ/QufNYuk/Y="),
        (1700000300000, "RnbPH7+UMKVkbV32P8bz450N4M56aPmcru1+D3kSDtw="),
    ],
)
def test_the_published_vectors_are_taken(stamp, signature):
    sent = delivery(
        body=b"{'example_field':'example_value'}",
        signature=signature,
        stamp=str(stamp),
        target="/webhook_uri",
    )

    verify(
        sent,
        now=at(stamp),
        client_secret=PUBLISHED_SECRET,
        public_url="https://www.example.com",
    )


@pytest.mark.parametrize(
    ("method", "target", "body", "signature"),
    [
        pytest.param("POST", PATH, A, SIGNED_A, id="A"),
        pytest.param("POST", PATH, B, "cvkm1WaPGL1r6wLR72wTyiBHP4MsYTz885oMlsWYBkQ=", id="B-utf8"),
        pytest.param(
            "POST",
            PATH + "?pool=emea%3Asdr&x=%28a%29&y=a%20b",
            C,
            "I9XReGH6A8XEKauAQCQBzlA5Cn9yFSKYKwbseqN+NlI=",
            id="C-decoded-query",
        ),
        pytest.param(
            "GET",
            PATH + "?contact=88000000123",
            b"",
            "3zho5uM5ZIg6E4hc4AOybNiG+SAULJgPu5JXM+B4fQo=",
            id="D-get",
        ),
        pytest.param(
            "POST", PATH, b"[]", "ekWSusR5C3RKJG4Wjk6pYRvWmZbrsfDc+DeebCNq1x8=", id="E-empty"
        ),
    ],
)
def test_a_computed_vector_is_taken(method, target, body, signature):
    verify(delivery(method=method, target=target, body=body, signature=signature))


def test_a_public_address_with_a_slash_at_its_end_is_the_same_address():
    verify(delivery(), public_url=ORIGIN + "/")


@pytest.mark.parametrize(
    "sent",
    [
        pytest.param(delivery(body=A + b" "), id="tampered body"),
        pytest.param(delivery(stamp=str(STAMP + 1)), id="later stamp"),
        pytest.param(delivery(stamp=str(STAMP - 1)), id="earlier stamp"),
        pytest.param(delivery(method="GET"), id="other method"),
        pytest.param(delivery(target=PATH + "/"), id="trailing slash"),
        pytest.param(delivery(target=PATH + "?"), id="lone question mark"),
        pytest.param(delivery(target="/%77ebhooks/hubspot"), id="other spelling"),
        pytest.param(
            delivery(signature="+6pzROiAiu+m4tuqp5326o0BN7ClZ5rm5pbQeJL+erg="), id="signed for http"
        ),
        pytest.param(
            delivery(
                target=PATH + "?pool=emea%3Asdr&x=%28a%29&y=a%20b",
                body=C,
                signature="Gl7+ja/9sx0FQu+9oU1xU7GiyzmpwBBGQC38R677d6E=",
            ),
            id="query not decoded",
        ),
        pytest.param(delivery(signature=SIGNED_A.lower()), id="other case"),
        pytest.param(delivery(signature=SIGNED_A + " "), id="padded"),
        pytest.param(delivery(signature="é" * 44), id="not ASCII"),
        pytest.param(delivery(signature="\udcff"), id="half a character"),
        pytest.param(delivery(target="/webhooks/\udcff"), id="half a character in the path"),
        pytest.param(delivery(signature=V1_A), id="v1 in the v3 header"),
        pytest.param(
            delivery(signature="AAAA", x_hubspot_signature=V2_A, x_hubspot_signature_version="v2"),
            id="good v2 beside a bad v3",
        ),
    ],
)
def test_what_hubspot_did_not_sign_is_refused(sent):
    assert refusal(sent) == "bad_signature"


def test_another_secret_is_refused():
    assert refusal(delivery(), client_secret="test-client-secret-0002") == "bad_signature"


@pytest.mark.parametrize(
    "sent",
    [
        pytest.param(delivery(signature=None), id="no signature"),
        pytest.param(delivery(signature=""), id="empty signature"),
        pytest.param(delivery(stamp=None), id="no timestamp"),
        pytest.param(
            delivery(
                signature=None,
                stamp=None,
                x_hubspot_signature=V1_A,
                x_hubspot_signature_version="v1",
            ),
            id="v1 alone",
        ),
        pytest.param(
            delivery(
                signature=None,
                stamp=None,
                x_hubspot_signature=V2_A,
                x_hubspot_signature_version="v2",
            ),
            id="v2 alone",
        ),
    ],
)
def test_a_delivery_without_the_v3_headers_is_refused(sent):
    assert refusal(sent) == "missing_signature"


@pytest.mark.parametrize(
    "stamp",
    ["1790000001", "1790000001000.0", "-790000001000", "+790000001000", " 1790000001000",
     "1790000001000\n", "17900000010000", "١٧٩٠٠٠٠٠٠١٠٠٠", "NaN", "1_90000001000"],
    ids=ascii,
)  # fmt: skip
def test_a_timestamp_that_is_not_13_digits_is_refused(stamp):
    assert refusal(delivery(stamp=stamp)) == "bad_timestamp"


@pytest.mark.parametrize("seconds", [-299, -300, 299, 300])
def test_a_signature_of_the_last_five_minutes_is_taken(seconds):
    verify(delivery(), now=at(STAMP + seconds * 1000))


@pytest.mark.parametrize("milliseconds", [300_001, 301_000, -300_001, -301_000, 3_000_000])
def test_a_stale_or_future_signature_is_refused(milliseconds):
    assert refusal(delivery(), now=at(STAMP + milliseconds)) == "stale_signature"


@pytest.mark.parametrize("secret", ["", "  "], ids=repr)
def test_a_connection_without_a_secret_does_not_start(secret):
    with pytest.raises(BadSettings, match="client secret"):
        receiver(settings(client_secret=secret))


def test_twelve_characters_are_decoded_once_and_no_others():
    def signed(url):
        return sign(b"k", method="POST", url=url, body=b"", timestamp="1790000001000")

    encoded = "%3A%2F%3F%40%21%24%27%28%29%2A%2C%3B"
    assert signed("https://h/p?q=" + encoded) == signed("https://h/p?q=:/?@!$'()*,;")
    assert signed("https://h/p?q=%3a%2f") == signed("https://h/p?q=:/")
    for kept in ("%20", "%26", "%3D", "%25", "%253A", "%C3%AB", "+"):
        assert signed(f"https://h/p?q={kept}{encoded}") == signed(
            f"https://h/p?q={kept}:/?@!$'()*,;"
        )
    assert signed("https://h/p?q=%20") != signed("https://h/p?q= ")
    assert signed("https://h/p?q=%253A") != signed("https://h/p?q=%3A")
