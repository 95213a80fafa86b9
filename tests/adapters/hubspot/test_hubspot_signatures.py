"""Signatures v3 and v2 and the key: published vectors, computed ones, and all that is refused."""

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
WITH_QUERY = PATH + "?pool=emea%3Asdr&x=%28a%29&y=a%20b"
KEY = "a-shared-key-of-the-workflow"
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
        pytest.param(delivery(signature=None, stamp=None), id="nothing"),
    ],
)
def test_a_delivery_without_a_signature_that_counts_is_refused(sent):
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


# -- v2


def v2(old=V2_A, version="v2", **changes):
    """A delivery with the signature of workflows alone."""
    given = {"signature": None, "stamp": None, "x_hubspot_signature": old}
    return delivery(**(given | {"x_hubspot_signature_version": version} | changes))


@pytest.mark.parametrize(
    ("method", "body", "signature"),
    [
        ("GET", b"", "eee2dddcc73c94d699f5e395f4b9d454a069a6855fbfa152e91e88823087200e"),
        (
            "POST",
            b'{"example_field":"example_value"}',
            "9569219f8ba981ffa6f6f16aa0f48637d35d728c7e4d93d0d52efaa512af7900",
        ),
    ],
)
def test_the_published_vectors_of_v2_are_taken(method, body, signature):
    sent = v2(signature, method=method, body=body, target="/webhook_uri")

    verify(sent, client_secret=PUBLISHED_SECRET, public_url="https://www.example.com")


def test_the_published_vector_of_v1_is_refused():
    body = (
        b'[{"eventId":1,"subscriptionId":12345,"portalId":62515,"occurredAt":1564113600000,'
        b'"subscriptionType":"contact.creation","attemptNumber":0,"objectId":123,'
        b'"changeSource":"CRM","changeFlag":"NEW","appId":54321}]'
    )
    signature = "232db2615f3d666fe21a8ec971ac7b5402d33b9a925784df3ca654d05f4817de"

    assert refusal(v2(signature, "v1", body=body), client_secret=PUBLISHED_SECRET) == (
        "missing_signature"
    )
    assert refusal(v2(signature, body=body), client_secret=PUBLISHED_SECRET) == "bad_signature"


@pytest.mark.parametrize(
    ("method", "target", "body", "signature"),
    [
        pytest.param("POST", PATH, A, V2_A, id="A"),
        pytest.param(
            "POST",
            PATH,
            B,
            "3e322cfc55d936b0fffdc5977ed0cd533e8a3aa8c27a15921540b305ccb3f719",
            id="B-utf8",
        ),
        pytest.param(
            "POST",
            WITH_QUERY,
            C,
            "974f783f9bc23e27aad63c7dd489580477a83543c8cc86150d10db6a658a34d9",
            id="C-query-as-it-stands",
        ),
        pytest.param(
            "GET",
            PATH + "?contact=88000000123",
            b"",
            "46b90390bde6845f431a57ed8be2ad9fcb966e522681adc61fe93b668f7e3dc8",
            id="D-get",
        ),
        pytest.param(
            "POST",
            PATH,
            b"[]",
            "bb90e149989add46b2224e09f65e8b8ceb2881f4f2c77e604b3c03b97973014e",
            id="E-empty",
        ),
    ],
)
def test_a_computed_vector_of_v2_is_taken_at_any_time(method, target, body, signature):
    verify(v2(signature, method=method, target=target, body=body), now=at(STAMP + 10**9))


@pytest.mark.parametrize(
    "sent",
    [
        pytest.param(v2(body=A + b" "), id="tampered body"),
        pytest.param(v2(method="GET"), id="other method"),
        pytest.param(v2(target=PATH + "/"), id="slash at the end"),
        pytest.param(v2(target=PATH + "?"), id="empty query"),
        pytest.param(
            v2(
                "974f783f9bc23e27aad63c7dd489580477a83543c8cc86150d10db6a658a34d9",
                target=PATH + "?pool=emea:sdr&x=(a)&y=a%20b",
                body=C,
            ),
            id="query decoded",
        ),
        pytest.param(v2(V2_A.upper()), id="capitals"),
        pytest.param(v2(V2_A + " "), id="padded"),
        pytest.param(v2(f"{V2_A}, {V2_A}"), id="twice"),
        pytest.param(v2(f"{V2_A},{'0' * 64}"), id="a second one"),
        pytest.param(v2("é" * 64), id="not ASCII"),
        pytest.param(v2("\udcff"), id="half a character"),
        pytest.param(v2(V1_A), id="v1 called v2"),
        pytest.param(v2(SIGNED_A), id="v3 called v2"),
    ],
)
def test_what_hubspot_did_not_sign_by_v2_is_refused(sent):
    assert refusal(sent) == "bad_signature"


def test_another_secret_is_refused_by_v2():
    assert refusal(v2(), client_secret="test-client-secret-0002") == "bad_signature"


@pytest.mark.parametrize("version", ["v1", "v3", "v4", "V2", "2", "", " v2", "v2, v2", "é", None])
def test_a_signature_of_an_unknown_version_is_refused(version):
    assert refusal(v2(version=version)) == "missing_signature"


@pytest.mark.parametrize("signature", ["", None])
def test_a_version_without_a_signature_is_refused(signature):
    assert refusal(v2(signature), webhook_key=KEY) == "missing_signature"


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"signature": "AAAA", "stamp": str(STAMP)}, "bad_signature"),
        ({"signature": f"{SIGNED_A}, {SIGNED_A}", "stamp": str(STAMP)}, "bad_signature"),
        ({"signature": SIGNED_A, "stamp": f"{STAMP}, {STAMP}"}, "bad_timestamp"),
        ({"signature": SIGNED_A, "stamp": str(STAMP - 300_001)}, "stale_signature"),
        ({"signature": SIGNED_A, "stamp": None}, "missing_signature"),
        ({"signature": None, "stamp": str(STAMP)}, "missing_signature"),
        ({"signature": "", "stamp": None}, "missing_signature"),
        ({"signature": None, "stamp": ""}, "missing_signature"),
    ],
)
def test_beside_any_header_of_v3_a_good_v2_or_key_does_not_count(changes, code):
    assert refusal(v2(x_leadrota_key=KEY, **changes), webhook_key=KEY) == code


# -- the key


def keyed(key=KEY, **headers):
    return delivery(signature=None, stamp=None, x_leadrota_key=key, **headers)


def test_the_key_is_taken_where_there_is_no_signature():
    verify(keyed(), webhook_key=KEY)


@pytest.mark.parametrize(
    "key",
    [None, "", KEY[:-1], KEY + "x", KEY.upper(), " " + KEY, f"{KEY}, {KEY}", f"{KEY},x", "é",
     "\udcff"],
    ids=ascii,
)  # fmt: skip
def test_a_wrong_or_missing_key_is_refused(key):
    assert refusal(keyed(key), webhook_key=KEY) == "bad_key"


@pytest.mark.parametrize("configured", [None, "", "  "], ids=repr)
@pytest.mark.parametrize("key", ["", "  ", "None", KEY], ids=repr)
def test_no_key_is_taken_where_none_is_set(configured, key):
    assert refusal(keyed(key), webhook_key=configured) == "bad_key"


def test_a_key_where_none_is_set_is_told_which_setting_is_missing():
    with pytest.raises(WebhookRefused, match="HUBSPOT_WEBHOOK_KEY"):
        verify(keyed("any-key"), webhook_key=None)
    with pytest.raises(WebhookRefused, match=r"^Without a signature"):
        verify(keyed("any-key"), webhook_key=KEY)


@pytest.mark.parametrize(
    ("headers", "code"),
    [
        ({"x_hubspot_signature": V1_A, "x_hubspot_signature_version": "v1"}, "missing_signature"),
        ({"x_hubspot_signature": V1_A}, "missing_signature"),
        ({"x_hubspot_signature_version": "v2"}, "missing_signature"),
        ({"x_hubspot_signature": V1_A, "x_hubspot_signature_version": "v2"}, "bad_signature"),
    ],
)
def test_beside_a_signature_a_good_key_does_not_count(headers, code):
    assert refusal(keyed(**headers), webhook_key=KEY) == code


@pytest.mark.parametrize("secret", ["", " "], ids=repr)
def test_a_key_does_not_stand_in_for_the_secret(secret):
    with pytest.raises(BadSettings, match="client secret"):
        receiver(settings(client_secret=secret, webhook_key=KEY))
