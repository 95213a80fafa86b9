"""Checks of the sandbox HubSpot's rules about associations and lists."""

from __future__ import annotations

from hubspot_caller import code, links, objects, types_of
from hubspot_rows import contact, keeps


@keeps("association_limit", "§4 associations")
def a_batch_of_associations_takes_a_thousand(portal, call, clock):
    ids = [contact(portal) for _ in range(1001)]
    assert call.links("contacts", "companies", ids[:1000]).status_code == 200
    answer = call.links("contacts", "companies", ids)
    assert code(answer) == (400, "VALIDATION_ERROR")


@keeps("associations_of_one", "§3 table of versions")
def the_associations_of_one_have_no_path_from_2026_09_on(portal, call, clock):
    lead, firm = contact(portal), portal.create("companies", {"name": "Example"})
    portal.link("contacts", lead, "companies", firm)
    for root in ("/crm/v4/objects", objects("2026-03")):
        told = call.get(f"{root}/contacts/{lead}/associations/companies").json()["results"]
        assert [one["toObjectId"] for one in told] == [int(firm)]
    answer = call.get(f"{objects('2026-09')}/contacts/{lead}/associations/companies")
    assert answer.status_code == 404


@keeps("association_numbers", "§5 association reads, EXP")
def associated_ids_are_numbers(portal, call, clock):
    lead, firm = contact(portal), portal.create("companies", {})
    portal.link("contacts", lead, "companies", firm)
    (told,) = call.links("contacts", "companies", [lead]).json()["results"]
    assert told["from"] == {"id": lead}
    assert [one["toObjectId"] for one in told["to"]] == [int(firm)]


@keeps("unknown_from", "§3 after the table: partial failure, INF for associations")
def unknown_ids_are_told_and_unlinked_ones_left_out(portal, call, clock):
    lead = contact(portal)
    for version, status in (("v4", 207), ("2026-03", 207), ("2026-09", 200)):
        answer = call.links("contacts", "companies", [lead, "99999"], version)
        assert (answer.status_code, answer.json()["results"]) == (status, [])
        (error,) = answer.json().get("errors", [{}])
        assert error.get("context") == {"ids": ["99999"]}


@keeps("one_primary", "§5 type ids: the primary company")
def a_new_primary_takes_the_place_of_the_old(portal, call, clock):
    lead = contact(portal)
    old, new = portal.create("companies", {}), portal.create("companies", {})
    for firm in (old, new):
        portal.link("contacts", lead, "companies", firm, primary=True)
    told = links(call.links("contacts", "companies", [lead]))[lead]
    assert {one: types_of(entry) for one, entry in told.items()} == {old: [279], new: [1, 279]}
    back = links(call.links("companies", "contacts", [old, new]))
    assert types_of(back[old][lead]) == [280]
    assert types_of(back[new][lead]) == [2, 280]


@keeps("record_pages", "§6 users: default page 10, at most 100")
def records_come_in_pages(portal, call, clock):
    for number in range(23):
        portal.add_owner(f"rep{number}@example.test")
    seen, sizes, after = [], [], {}
    while len(sizes) < 5:
        body = call.get("/crm/v3/objects/users", properties="hubspot_owner_id", **after).json()
        sizes.append(len(body["results"]))
        seen += [one["properties"]["hubspot_owner_id"] for one in body["results"]]
        if "paging" not in body:
            break
        after = {"after": body["paging"]["next"]["after"]}
    assert sizes == [10, 10, 3]
    assert seen == [str(5501 + number) for number in range(23)]
    assert len(call.get("/crm/objects/2026-09/users", limit=100).json()["results"]) == 23
    assert call.get("/crm/v3/objects/users", limit=101).status_code == 400
