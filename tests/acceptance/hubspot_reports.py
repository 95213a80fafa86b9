"""Public bug reports of HubSpot integrations, each with the tests that keep it away from here.

A test is named by its file under ``tests`` and its function.
"""

from __future__ import annotations

from dataclasses import dataclass

_WHOLE = "acceptance/test_hubspot_reports.py::test_"
_CHANGES = "acceptance/test_hubspot_changes.py::test_"
_ADAPTER = "adapters/hubspot/test_hubspot_"
_SANDBOX = f"{_ADAPTER}conformance.py::test_"
_DELIVERIES = "acceptance/test_deliveries.py::test_"
_OWNERS = "acceptance/test_owners.py::test_"


@dataclass(frozen=True, slots=True)
class Report:
    """One fault of others. ``promise`` says what holds here instead."""

    number: int
    source: str
    promise: str
    tests: tuple[str, ...]


REPORTS = (
    Report(
        1,
        "HubSpot/hubspot-api-python#117",
        "A write that meets a limit is put off as the policy says and made once.",
        (
            f"{_SANDBOX}a_write_that_meets_the_limit_twice_sets_the_owner_once",
            f"{_CHANGES}a_limit_rests_as_long_as_its_policy_says",
        ),
    ),
    Report(
        2,
        "HubSpot/hubspot-api-python#460, #446, #226",
        "The version of the HTTP library that broke every call cannot be installed.",
        (f"{_WHOLE}the_http_library_that_broke_every_call_is_never_installed",),
    ),
    Report(
        3,
        "HubSpot/hubspot-api-python#331, HubSpot/hubspot-api-nodejs#387",
        "A call that hangs ends by itself, and its work is tried again later.",
        (
            f"{_ADAPTER}faults.py::test_an_answer_that_does_not_come_ends_the_call",
            "flow/test_intake.py::test_a_failed_read_is_tried_again_within_two_seconds",
        ),
    ),
    Report(
        4,
        "HubSpot/hubspot-api-python#247, HubSpot/hubspot-api-ruby#357",
        "A signature counts for five minutes before and after, in milliseconds.",
        (
            f"{_ADAPTER}signatures.py::test_a_signature_of_the_last_five_minutes_is_taken",
            f"{_ADAPTER}signatures.py::test_a_stale_or_future_signature_is_refused",
            f"{_DELIVERIES}a_signature_of_another_time_is_refused",
        ),
    ),
    Report(
        5,
        "HubSpot/hubspot-api-python#263",
        "The timestamp is signed and checked as the text that came.",
        (
            f"{_ADAPTER}signatures.py::test_a_computed_vector_is_taken",
            f"{_ADAPTER}signatures.py::test_a_timestamp_that_is_not_13_digits_is_refused",
        ),
    ),
    Report(
        6,
        "simstudioai/sim#4612",
        "Only HubSpot's own timestamp header counts, and without it there is no signature.",
        (
            f"{_DELIVERIES}a_hubspot_delivery_without_a_good_signature_is_refused",
            f"{_ADAPTER}signatures.py::test_a_delivery_without_a_signature_that_counts_is_refused",
        ),
    ),
    Report(
        7,
        "dubinc/dub#2898, #2839",
        "Without a secret nothing starts, and an unknown version of a signature is refused.",
        (
            f"{_ADAPTER}signatures.py::test_a_connection_without_a_secret_does_not_start",
            f"{_ADAPTER}signatures.py::test_a_signature_of_an_unknown_version_is_refused",
            f"{_ADAPTER}signatures.py::test_the_published_vector_of_v1_is_refused",
        ),
    ),
    Report(
        8,
        "HubSpot/hubspot-api-python#314, airbytehq/airbyte#55818",
        "An archived owner without a user id is known all the same, and gets and keeps nothing.",
        (
            f"{_ADAPTER}people.py::test_an_archived_owner_is_found_by_the_user_id_that_is_left",
            f"{_ADAPTER}people.py::test_queues_and_archived_owners_are_told_as_inactive",
            f"{_OWNERS}a_record_of_someone_who_left_is_routed",
        ),
    ),
    Report(
        9,
        "getprobo/probo#1594, onyx-dot-app/onyx#11930",
        "While owners may not be read the missing scope is named, nobody is assigned unverified,"
        " and the queue is kept.",
        (
            f"{_WHOLE}without_leave_to_read_owners_nobody_is_assigned_and_nothing_is_lost",
            f"{_ADAPTER}faults.py::test_missing_scopes_are_named",
        ),
    ),
    Report(
        10,
        "simstudioai/sim#7359",
        "All pages of owners are read.",
        (
            f"{_WHOLE}a_user_on_the_third_page_of_owners_gets_leads",
            f"{_SANDBOX}all_pages_of_owners_are_read",
        ),
    ),
    Report(
        11,
        "HubSpot/hubspot-api-php#59, HubSpot/hubspot-api-nodejs#545, solspace/craft-freeform#2500",
        "Records are read by their id, so a search that lags behind hides nothing.",
        (
            f"{_WHOLE}a_fresh_contact_that_no_search_shows_yet_gets_its_owner",
            f"{_ADAPTER}backlog.py::test_a_record_that_the_index_shows_late_is_found_by_the_next_walk",
        ),
    ),
    Report(
        12,
        "airbytehq/airbyte#10700, activepieces/activepieces#10160, onyx-dot-app/onyx#10677",
        "More than 10,000 unowned records are walked through without paging beyond 10,000.",
        (f"{_SANDBOX}all_unowned_of_ten_thousand_and_fifty_are_found_without_owned_ones",),
    ),
    Report(
        13,
        "airbytehq/airbyte#43317",
        "Records that all changed at the same moment do not keep the walk from ending.",
        (f"{_ADAPTER}backlog.py::test_more_than_ten_thousand_records_of_one_moment_are_all_found",),
    ),
    Report(
        14,
        "amp-labs/connectors#3487",
        "A merge is worked under the id of its survivor, whose owner stays.",
        (
            f"{_CHANGES}the_survivor_of_a_merge_keeps_its_owner_under_its_new_id",
            f"{_CHANGES}a_survivor_that_nobody_owns_is_served_once_and_the_dead_never",
        ),
    ),
    Report(
        15,
        "HubSpot/hubspot-api-nodejs#6, fivetran/dbt_hubspot#168, #172, singer-io/tap-hubspot#49",
        "Work for an id that was merged away is done once, under the survivor.",
        (
            f"{_CHANGES}a_job_for_an_id_that_was_merged_away_is_done_under_the_survivor",
            f"{_ADAPTER}reading.py::test_a_merged_record_names_its_survivor",
        ),
    ),
    Report(
        16,
        "HubSpot/hubspot-api-nodejs#548",
        "Writes name records by id, and a record that the answer lacks is not taken for written.",
        (
            f"{_SANDBOX}an_address_is_no_record_id",
            f"{_ADAPTER}writing.py::test_a_batch_is_written_by_one_post_with_the_owner_alone",
            f"{_ADAPTER}writing.py::test_errors_are_read_from_the_body_whatever_the_status",
        ),
    ),
    Report(
        17,
        "HubSpot/hubspot-api-python#51",
        "One bad record of a hundred is told, and the other 99 are written.",
        (
            f"{_WHOLE}one_record_of_a_hundred_that_a_rule_of_the_account_stops_is_a_dead_letter",
            f"{_SANDBOX}a_batch_refused_for_one_record_is_written_but_for_that_record",
        ),
    ),
    Report(
        18,
        "airbytehq/airbyte#74726, ToolJet/ToolJet#17192, supaglue-labs/supaglue#244",
        "An expired token is fetched anew once for all processes, and before it ends.",
        (
            f"{_WHOLE}an_expired_token_is_fetched_anew_once_and_no_lead_notices",
            f"{_WHOLE}a_token_that_is_about_to_end_is_fetched_before_it_does",
            "test_grants.py::test_threads_of_several_processes_fetch_an_expired_token_once",
        ),
    ),
    Report(
        19,
        "airbytehq/airbyte#79592",
        "A refused refresh token stops the connection with what to do, keeps its work, and is not"
        " tried over and over.",
        (f"{_WHOLE}an_app_that_was_removed_stops_with_an_alert_and_goes_on_once_it_is_back",),
    ),
    Report(
        20,
        "PipedreamHQ/pipedream#18215, HubSpot/hubspot-api-ruby#27, HubSpot/hubspot-api-nodejs#256",
        "Searches keep to four a second, and their limit costs a second.",
        (
            f"{_ADAPTER}pace.py::test_a_second_never_sees_more_than_four_searches",
            f"{_SANDBOX}the_search_limit_asks_for_a_second",
            f"{_CHANGES}a_limit_rests_as_long_as_its_policy_says",
        ),
    ),
    Report(
        21,
        "sourcegraph/sourcegraph-public-snapshot#61482, fivetran/dbt_hubspot#139",
        "Ids of 64 bits are kept and written unchanged.",
        (f"{_WHOLE}an_id_beyond_32_bits_is_kept_and_written_unchanged",),
    ),
    Report(
        22,
        "n8n-io/n8n#13293",
        "A change that does not name its property is taken and ignored.",
        (f"{_WHOLE}a_change_without_the_property_it_is_about_is_taken_and_ignored",),
    ),
    Report(
        23,
        "PipedreamHQ/pipedream#18428, activepieces/activepieces#9252",
        "A change of a record that is owned assigns nobody.",
        (f"{_WHOLE}a_change_of_an_old_record_that_is_owned_starts_nothing",),
    ),
    Report(
        24,
        "margince/margince#236",
        "Our own write comes back as an event and starts nothing; a person's is followed.",
        (f"{_CHANGES}our_own_write_comes_back_and_starts_nothing",),
    ),
    Report(
        25,
        "calcom/cal.diy#26047, #19898",
        "An owner who appears before the write stays, and the turn goes back.",
        (f"{_OWNERS}an_owner_who_appears_before_the_write_stays_and_the_turn_goes_back",),
    ),
    Report(
        26,
        "Vacademy-io/vacademy_platform#2170",
        "The turns of those who are off are spread evenly over those who are not.",
        (f"{_WHOLE}the_turns_of_three_who_are_off_are_spread_over_the_two_left",),
    ),
    Report(
        27,
        "jamessimone/salesforce-round-robin#21",
        "Many new records in one delivery are spread exactly.",
        (f"{_WHOLE}fifty_creations_in_one_delivery_are_ten_for_each_of_five",),
    ),
    Report(
        28,
        "airbytehq/airbyte#33976",
        "At most 20 properties of our own are asked for, and a page of HTML is an error like any"
        " other.",
        (
            f"{_WHOLE}a_page_of_html_for_a_refusal_is_an_error_like_any_other",
            f"{_ADAPTER}reading.py::test_at_most_twenty_properties_are_asked_for",
            f"{_ADAPTER}faults.py::test_a_call_that_is_too_long_is_not_repeated",
        ),
    ),
    Report(
        29,
        "HubSpot/hubspot-api-nodejs#657, HubSpot/hubspot-api-python#133",
        "One client with one pool of connections serves all calls for as long as it lives.",
        (
            f"{_ADAPTER}pace.py::test_hundreds_of_jobs_share_one_connection",
            f"{_ADAPTER}faults.py::test_calls_of_all_kinds_share_one_connection",
        ),
    ),
    Report(
        30,
        "community.hubspot.com 277558",
        "Events that mean nothing to us are answered 2xx; a bad signature is 401 and is told.",
        (f"{_WHOLE}a_foreign_portal_is_answered_2xx_and_a_bad_signature_401_and_told",),
    ),
)
