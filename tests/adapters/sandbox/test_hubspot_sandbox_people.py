"""Users and their availability, associations, tokens and callbacks of the sandbox HubSpot."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest
from hubspot_caller import START, code, links, objects, serving, types_of
from hubspot_rows import contact

AVAILABILITY = [
    "hs_availability_status",
    "hs_out_of_office_hours",
    "hs_working_hours",
    "hs_standard_time_zone",
]


def availability(call, portal, owner):
    record = portal.user_record_id_of(owner)
    told = call.get(f"/crm/v3/objects/users/{record}", properties=",".join(AVAILABILITY)).json()
    return {name: told["properties"][name] for name in AVAILABILITY if name in told["properties"]}


# -- users


def test_each_person_has_a_user_record_that_tells_all_his_ids():
    with serving() as (portal, call, _):
        owner = portal.add_owner("ann@example.test", "Ann", "Example")
        portal.add_owner("desk@example.test", type="QUEUE")
        names = "hubspot_owner_id,hs_internal_user_id,hs_email,hs_given_name,hs_family_name"
        for version in ("v3", "2026-03", "2026-09"):
            (user,) = call.get(f"{objects(version)}/users", properties=names).json()["results"]
            assert user["id"] == portal.user_record_id_of(owner)
            told = {name: user["properties"][name] for name in names.split(",")}
            assert list(told.values()) == [
                owner,
                portal.user_id_of(owner),
                "ann@example.test",
                "Ann",
                "Example",
            ]
            body = {
                "inputs": [{"id": user["id"]}],
                "properties": ["hubspot_owner_id"],
                "propertiesWithHistory": [],
            }
            read = call.post(f"{objects(version)}/0-115/batch/read", body).json()["results"]
            assert [one["properties"]["hubspot_owner_id"] for one in read] == [owner]


def test_a_deactivated_user_leaves_the_list_of_users():
    with serving() as (portal, call, _):
        owner = portal.add_owner("ann@example.test")
        portal.add_owner("bob@example.test", archived=True)
        portal.archive_owner(owner)
        assert call.get("/crm/v3/objects/users").json()["results"] == []
        portal.archive_owner(owner, archived=False)
        assert len(call.get("/crm/v3/objects/users").json()["results"]) == 1


def test_availability_is_told_in_texts_of_json():
    with serving() as (portal, call, _):
        owner = portal.add_owner("ann@example.test")
        leave = (START, START + timedelta(days=2))
        portal.set_availability(
            owner,
            status="away",
            out_of_office=[leave],
            working_hours=[("MONDAY_TO_FRIDAY", 540, 1020), ("SATURDAY", 0, 240)],
            time_zone="Europe/Paris",
        )
        told = availability(call, portal, owner)
        assert told["hs_availability_status"] == "away"
        assert told["hs_standard_time_zone"] == "Europe/Paris"
        assert json.loads(told["hs_working_hours"]) == [
            {"days": "MONDAY_TO_FRIDAY", "startMinute": 540, "endMinute": 1020},
            {"days": "SATURDAY", "startMinute": 0, "endMinute": 240},
        ]
        first = int(START.timestamp() * 1000)
        assert json.loads(told["hs_out_of_office_hours"]) == [
            {"startTimestamp": first, "endTimestamp": first + 172_800_000}
        ]


@pytest.mark.parametrize(
    ("unit", "digits"), [("milliseconds", 13), ("seconds", 10), ("eleven_digits", 11)]
)
def test_out_of_office_timestamps_come_in_three_lengths(unit, digits):
    with serving() as (portal, call, _):
        owner = portal.add_owner("ann@example.test")
        portal.out_of_office_unit = unit
        portal.set_availability(owner, out_of_office=[(START, START + timedelta(hours=1))])
        (span,) = json.loads(availability(call, portal, owner)["hs_out_of_office_hours"])
        assert len(str(span["startTimestamp"])) == digits


def test_availability_that_was_never_set_is_null_missing_or_blank():
    with serving() as (portal, call, _):
        owner = portal.add_owner("ann@example.test")
        portal.set_availability(owner, status="available", out_of_office=[])
        told = availability(call, portal, owner)
        assert (told["hs_availability_status"], told["hs_out_of_office_hours"]) == (
            "available",
            "[]",
        )
        portal.clear_availability(owner)
        forms = []
        for portal.empty_as in ("null", "missing", "blank"):
            told = availability(call, portal, owner)
            forms.append([told.get(name, "missing") for name in AVAILABILITY])
        assert forms == [[None] * 4, ["missing"] * 4, [""] * 4]


def test_a_user_may_have_texts_that_are_no_availability():
    with serving() as (portal, call, _):
        owner = portal.add_owner("ann@example.test")
        portal.set_availability(
            owner, status="", time_zone="Nowhere/Land", working_hours="[", out_of_office="{}"
        )
        assert list(availability(call, portal, owner).values()) == ["", "{}", "[", "Nowhere/Land"]


def test_working_hours_need_a_time_zone():
    with serving() as (portal, *_):
        owner = portal.add_owner("ann@example.test")
        with pytest.raises(ValueError, match="time zone"):
            portal.set_availability(owner, working_hours=[("EVERY_DAY", 0, 1440)])
        with pytest.raises(LookupError, match="queue"):
            portal.set_availability(
                portal.add_owner("desk@example.test", type="QUEUE"), status="away"
            )


def test_users_need_a_scope_of_their_own():
    with serving() as (portal, call, _):
        portal.missing_scopes = ["crm.objects.users.read"]
        assert code(call.get("/crm/v3/objects/users"))[0] == 403
        assert call.get("/crm/v3/owners").status_code == 200


# -- associations


@pytest.mark.parametrize(
    ("near", "far", "primary", "ahead", "back"),
    [
        ("contacts", "companies", False, [279], [280]),
        ("contacts", "companies", True, [1, 279], [2, 280]),
        ("leads", "contacts", True, [578, 608], None),
        ("leads", "companies", False, [610], None),
        ("deals", "contacts", False, [3], [4]),
        ("deals", "companies", True, [5, 341], [6, 342]),
        ("tickets", "contacts", False, [16], [15]),
        ("tickets", "companies", True, [26, 339], [25, 340]),
        ("tasks", "contacts", False, [204], [203]),
        ("meetings", "contacts", False, [200], [199]),
    ],
)
@pytest.mark.parametrize("reversed_", [False, True])
def test_an_association_has_its_type_ids_at_both_ends(near, far, primary, ahead, back, reversed_):
    with serving() as (portal, call, _):
        one, other = portal.create(near, {}), portal.create(far, {})
        ends = [(near, one), (far, other)]
        (a, b) = reversed(ends) if reversed_ else ends
        portal.link(*a, *b, primary=primary)
        for version in ("v4", "2026-03", "2026-09"):
            told = links(call.links(near, far, [one], version))
            assert types_of(told[one][other]) == ahead
            told = links(call.links(far, near, [other], version))
            assert back is None or types_of(told[other][one]) == back


def test_a_label_of_the_accounts_own_stands_beside_hubspots():
    with serving() as (portal, call, _):
        lead, firm = contact(portal), portal.create("companies", {})
        portal.link("contacts", lead, "companies", firm, label="Billing contact")
        told = links(call.links("contacts", "companies", [lead]))[lead][firm]
        assert [(one["category"], one["label"]) for one in told["associationTypes"]] == [
            ("HUBSPOT_DEFINED", None),
            ("USER_DEFINED", "Billing contact"),
        ]
        back = links(call.links("companies", "contacts", [firm]))[firm][lead]
        assert types_of(back) == [280, types_of(told)[1] + 1]


def test_what_is_unlinked_or_deleted_is_no_longer_associated():
    with serving() as (portal, call, _):
        lead = contact(portal)
        kept, cut, deleted = (portal.create("companies", {}) for _ in range(3))
        for firm in (kept, cut, deleted):
            portal.link("contacts", lead, "companies", firm)
        portal.unlink("companies", cut, "contacts", lead)
        portal.delete("companies", deleted)
        assert list(links(call.links("contacts", "companies", [lead]))[lead]) == [kept]


def test_the_survivor_of_a_merge_has_the_links_of_all_and_one_primary():
    with serving() as (portal, call, _):
        first, second = contact(portal), contact(portal)
        ours, theirs = portal.create("companies", {}), portal.create("companies", {})
        portal.link("contacts", second, "companies", theirs, primary=True)
        portal.link("contacts", first, "companies", ours, primary=True)
        portal.merge(first, [second])
        told = links(call.links("contacts", "companies", [first]))[first]
        assert {one: types_of(to) for one, to in told.items()} == {ours: [1, 279], theirs: [279]}


def test_a_record_without_associations_can_be_an_error_instead():
    with serving() as (portal, call, _):
        lead = contact(portal)
        portal.unlinked_as = "error"
        answer = call.links("contacts", "companies", [lead])
        assert (answer.status_code, answer.json()["results"]) == (207, [])
        (error,) = answer.json()["errors"]
        assert error["subCategory"] == "crm.associations.NO_ASSOCIATIONS_FOUND"
        assert error["context"] == {"fromObjectId": [lead]}


def test_the_associations_of_one_record_come_in_pages():
    with serving() as (portal, call, _):
        firm = portal.create("companies", {})
        for _ in range(5):
            portal.link("companies", firm, "contacts", contact(portal))
        path, after, sizes = f"/crm/v4/objects/companies/{firm}/associations/contacts", {}, []
        while len(sizes) < 5:
            body = call.get(path, limit=2, **after).json()
            sizes.append(len(body["results"]))
            if "paging" not in body:
                break
            after = {"after": body["paging"]["next"]["after"]}
        assert sizes == [2, 2, 1]
        assert call.get(path.replace(firm, "1")).status_code == 404


def test_types_that_hubspot_does_not_associate_are_refused():
    with serving() as (portal, *_):
        lead, task = portal.create("leads", {}), portal.create("tasks", {})
        firm = portal.create("companies", {})
        with pytest.raises(ValueError, match="no primary"):
            portal.link("leads", lead, "companies", firm, primary=True)
        with pytest.raises(ValueError, match="not associated"):
            portal.link("tasks", task, "tasks", task)
        with pytest.raises(LookupError, match="no companies 1"):
            portal.link("leads", lead, "companies", "1")


@pytest.mark.parametrize("scope", ["crm.objects.contacts.read", "crm.objects.companies.read"])
def test_associations_need_the_scopes_of_both_ends(scope):
    with serving() as (portal, call, _):
        portal.missing_scopes = [scope]
        assert call.links("contacts", "companies", ["1"]).status_code == 403


# -- tokens and callbacks


def test_the_static_token_can_be_switched_off():
    with serving() as (portal, call, _):
        portal.use_oauth()
        assert call.get("/crm/v3/owners").status_code == 200
        portal.takes_static_token = False
        assert code(call.get("/crm/v3/owners")) == (401, "INVALID_AUTHENTICATION")


@pytest.mark.parametrize("version", ["v1", "v3", "2026-03", "2026-09"])
def test_each_version_hands_out_tokens_and_each_call_is_counted(version):
    with serving() as (portal, call, _):
        form = {
            "grant_type": "refresh_token",
            "client_id": "my-app",
            "client_secret": portal.client_secret,
            "refresh_token": portal.use_oauth(client_id="my-app"),
        }
        path = f"/oauth/{version}/token"
        del call.session.headers["Authorization"]
        told = [call.session.post(portal.url + path, data=form).json() for _ in range(2)]
        assert [one["expires_in"] for one in told] == [1800, 1800]
        assert told[0]["access_token"] != told[1]["access_token"]
        assert told[0]["refresh_token"] == form["refresh_token"]
        assert ("hub_id" in told[0]) == (version != "v1")
        assert len(portal.calls_to("/token", "POST")) == 2
        call.session.headers["Authorization"] = f"Bearer {told[0]['access_token']}"
        assert call.get("/crm/v3/owners").status_code == 200
        portal.expire_tokens()
        assert code(call.get("/crm/v3/owners")) == (401, "EXPIRED_AUTHENTICATION")


def test_an_unknown_grant_is_refused():
    with serving() as (portal, call, _):
        answer = call.session.post(portal.url + "/oauth/v1/token", data={"grant_type": "password"})
        assert (answer.status_code, answer.json()["status"]) == (400, "BAD_GRANT_TYPE")


def test_callbacks_need_a_scope():
    with serving() as (portal, call, _):
        portal.callbacks.open("ap-1")
        portal.missing_scopes = ["automation"]
        assert call.complete("ap-1", {}).status_code == 403
        assert portal.completed == {}


@pytest.mark.parametrize("duration", ["week", "P", "PT", "4H"])
def test_a_duration_that_is_none_is_refused(duration):
    with serving() as (portal, *_), pytest.raises(ValueError, match="ISO 8601"):
        portal.callbacks.open("ap-1", duration)
