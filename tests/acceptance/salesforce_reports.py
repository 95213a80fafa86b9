"""Public bug reports of Salesforce integrations, each with the tests that keep it away from here.

A test is named by its file under ``tests`` and its function.
"""

from __future__ import annotations

from dataclasses import dataclass

_WHOLE = "acceptance/test_salesforce_reports.py::test_"
_CHANGES = "acceptance/test_salesforce_changes.py::test_"
_ADAPTER = "adapters/salesforce/test_salesforce_"
_MESSAGES = "adapters/salesforce/test_outbound_messages.py::test_"
_SCENARIOS = "scenarios/test_org.py::test_"

# Rows of which no test can be made, since what they are about is not there.
NOT_BUILT = {30: "The event bus (Pub/Sub) is not used: messages, callouts and polling are."}


@dataclass(frozen=True, slots=True)
class Report:
    """One fault of others. ``promise`` says what holds here instead."""

    number: int
    source: str
    promise: str
    tests: tuple[str, ...]


REPORTS: tuple[Report, ...] = (
    Report(
        1,
        "simple-salesforce/simple-salesforce#804",
        "A session refused for ever costs two calls and two log-ins a batch, and five in all.",
        (
            f"{_WHOLE}a_session_that_is_refused_for_ever_costs_two_calls_and_two_log_ins_a_batch",
            f"{_ADAPTER}log_in.py::test_a_lasting_401_costs_two_calls_and_two_log_ins",
        ),
    ),
    Report(
        2,
        "simple-salesforce, its own retry after a log-in",
        "A call that is repeated after a log-in has all its headers.",
        (f"{_ADAPTER}log_in.py::test_an_expired_session_is_renewed_once_and_the_call_repeated",),
    ),
    Report(
        3,
        "simple-salesforce/simple-salesforce#569, #598, #594",
        "A 401 of any shape is one clean error.",
        (
            f"{_WHOLE}a_session_that_is_refused_for_ever_costs_two_calls_and_two_log_ins_a_batch",
            f"{_ADAPTER}errors.py::test_a_refused_call_says_what_will_come_of_it",
        ),
    ),
    Report(
        4,
        "simple-salesforce/simple-salesforce#148, #240, #303",
        "A call that hangs ends in time, and its outcome counts as open.",
        (
            f"{_ADAPTER}transport.py::test_a_call_ends_in_time_whatever_the_server_does",
            f"{_ADAPTER}transport.py::test_an_update_that_hangs_leaves_the_outcome_open",
        ),
    ),
    Report(
        5,
        "simple-salesforce/simple-salesforce#807",
        "An org that is not available for a while gets its owners once it is.",
        (
            "acceptance/test_trouble.py::test_a_crm_that_is_down_at_first_gets_its_owners_once_it_is_up",
            f"{_ADAPTER}records.py::test_a_read_is_tried_once_more",
        ),
    ),
    Report(
        6,
        "simple-salesforce, how it joins ids to addresses",
        "An id that is an address leads to no call.",
        (
            f"{_WHOLE}an_id_that_is_an_address_leads_to_no_call",
            f"{_ADAPTER}ids.py::test_what_is_no_base_62_id_is_refused",
        ),
    ),
    Report(
        7,
        "simple-salesforce/simple-salesforce#272",
        "The bulk API's words for an expired session are understood.",
        (f"{_ADAPTER}errors.py::test_only_an_expired_session_is_worth_a_log_in",),
    ),
    Report(
        8,
        "jsforce/jsforce#1301",
        "A session that no log-in can repair is not renewed, and the queue is kept.",
        (f"{_WHOLE}a_session_that_no_log_in_can_repair_is_not_renewed_and_keeps_its_work",),
    ),
    Report(
        9,
        "jsforce/jsforce#861",
        "All errors of a refused record are told.",
        (f"{_ADAPTER}owners.py::test_all_reasons_of_a_refusal_are_told",),
    ),
    Report(
        10,
        "jsforce/jsforce#680, #813",
        "One bad record hides none of the results of the others.",
        (
            f"{_ADAPTER}owners.py::test_one_bad_record_hides_none_of_the_others",
            "acceptance/test_trouble.py::test_one_record_that_can_never_be_written_does_not_cost_the_others",
        ),
    ),
    Report(
        11,
        "jsforce/jsforce#1018, developerforce/Force.com-JavaScript-REST-Toolkit#68,"
        " roblesterjr04/EloquentSalesForce#59, hiratake55/RForcecom#67",
        "A locked record is written again, for the same user.",
        (f"{_SCENARIOS}a_write_to_a_locked_record_is_made_again_for_the_same_user",),
    ),
    Report(
        12,
        "restforce/restforce#204",
        "The org's assignment rules do not run on our writes.",
        (
            f"{_SCENARIOS}the_orgs_assignment_rules_do_not_run_on_our_writes",
            f"{_ADAPTER}owners.py::test_every_write_carries_the_headers_that_protect_it",
        ),
    ),
    Report(
        13,
        "PipedreamHQ/pipedream#2321",
        "Each of a hundred notifications in a message is an event of its own.",
        (
            f"{_MESSAGES}each_notification_is_an_event_of_its_own",
            "acceptance/test_new_leads.py::test_a_hundred_notifications_of_a_soap_client_are_acknowledged_and_spread_exactly",
        ),
    ),
    Report(
        14,
        "matrix-org/matrix-hookshot#837",
        "A message that is taken is answered by exactly the Ack, from the first byte.",
        (f"{_MESSAGES}the_ack_is_the_documented_envelope_from_its_first_byte",),
    ),
    Report(
        15,
        "InfoTechRG/salesforce_ar_sync#7",
        "A message of another org is refused, never acknowledged, and the log names both orgs.",
        (f"{_WHOLE}a_foreign_org_is_refused_by_a_fault_and_told_with_both_ids",),
    ),
    Report(
        16,
        "amp-labs/connectors#3472",
        "Fields that a message leaves out are read from the org.",
        (
            f"{_MESSAGES}null_fields_are_simply_absent",
            f"{_ADAPTER}records.py::test_a_lead_without_any_field_is_read_as_nulls",
        ),
    ),
    Report(
        17,
        "amp-labs/connectors#3419",
        "What a message is about is told by its dates, else by the state of the record.",
        (f"{_MESSAGES}a_record_counts_as_new_unless_its_dates_say_that_it_was_changed",),
    ),
    Report(
        18,
        "developer.salesforce.com, outbound messages",
        "A message about a deleted record is acknowledged, and nothing follows.",
        (
            f"{_CHANGES}a_lead_that_is_deleted_before_it_is_told_of_is_acknowledged",
            f"{_MESSAGES}a_notification_without_data_means_that_the_record_is_gone",
        ),
    ),
    Report(
        19,
        "developer.salesforce.com, outbound messages",
        "A notification that comes again, also after a restart, changes nothing.",
        (
            f"{_WHOLE}a_notification_that_comes_again_two_hours_later_is_acknowledged_and_changes_nothing",
            "acceptance/test_new_leads.py::test_deliveries_that_come_again_in_other_groupings_change_nothing",
        ),
    ),
    Report(
        20,
        "mshanemc/roundRobinProcessBuilder#38",
        "After a restart the next user has the turn.",
        (f"{_WHOLE}the_turn_after_a_restart_is_the_next_users",),
    ),
    Report(
        21,
        "mshanemc/roundRobinProcessBuilder#3, #27, #24",
        "A queue is nobody's owner id, and an empty pool keeps its leads.",
        (
            f"{_ADAPTER}ids.py::test_only_a_user_can_be_the_owner_of_a_rep",
            "scenarios/test_crms.py::test_a_queue_cannot_stand_in_for_a_user",
            "scenarios/test_crms.py::test_a_webhook_for_an_empty_pool_is_taken_and_the_lead_waits",
        ),
    ),
    Report(
        22,
        "mshanemc/roundRobinProcessBuilder#33, SalesforceLabs/Milestones-PM#26",
        "Who is inactive gets no leads, whether that is known before or told by the write.",
        (
            f"{_SCENARIOS}who_left_the_org_is_known_before_the_next_lead_comes",
            f"{_SCENARIOS}who_left_since_is_refused_by_the_org_and_the_next_has_the_lead_at_once",
        ),
    ),
    Report(
        23,
        "mshanemc/roundRobinProcessBuilder#44",
        "Automation that takes a record away is followed or told of, and never fought.",
        (f"{_CHANGES}a_rule_of_the_org_that_takes_the_lead_away_is_followed_not_fought",),
    ),
    Report(
        24,
        "jamessimone/salesforce-round-robin#21",
        "Fifty leads in one message are ten for each of five.",
        (f"{_WHOLE}fifty_leads_in_one_message_are_ten_for_each_of_five",),
    ),
    Report(
        25,
        "SalesforceFoundation/NPSP#1484",
        "Who is inactive is never sent, even where Salesforce would take them.",
        (
            f"{_ADAPTER}owners.py::test_an_inactive_owner_is_never_sent_even_where_salesforce_would_take_him",
        ),
    ),
    Report(
        26,
        "n8n-io/n8n#6958, apache/camel#1869",
        "The owner, and nothing else, is written to records of each type.",
        (
            "acceptance/test_salesforce_objects.py::test_nothing_but_the_owner_of_a_record_changes",
            f"{_ADAPTER}owners.py::test_nothing_but_the_owner_is_written",
        ),
    ),
    Report(
        27,
        "SalesforceFoundation/EDA#1129, SFDO-Community/declarative-lookup-rollup-summaries#758",
        "What a trigger of the org says against a write is told in full, and not tried again.",
        (f"{_ADAPTER}errors.py::test_failed_code_of_the_org_is_tried_again_only_for_a_lock",),
    ),
    Report(
        28,
        "airbytehq/airbyte#27146",
        "A row that is committed late is found by polling all the same.",
        (
            "flow/test_polling.py::test_a_change_that_shows_late_is_found",
            "flow/test_polling.py::test_a_change_that_shows_while_pages_are_read_is_found",
        ),
    ),
    Report(
        29,
        "airbytehq/airbyte#42537, #17148, supaglue-labs/supaglue#532",
        "Rows of one moment are polled once each, however many.",
        (
            f"{_ADAPTER}backlog.py::test_t29_more_records_of_one_stamp_than_a_page_holds_are_told_once_each",
        ),
    ),
    Report(
        31,
        "SalesforceLabs/OrgCheck#181, #432, mike4aday/SwiftlySalesforce#29",
        "A 403 is a limit that rests the connection or a permission that is told, never a log-in.",
        (
            f"{_WHOLE}a_limit_rests_the_connection_and_keeps_its_queue",
            f"{_WHOLE}a_missing_permission_is_told_and_the_leads_wait_for_it",
        ),
    ),
    Report(
        32,
        "SalesforceLabs/actionplansv4#51",
        "The owner of a task is a user.",
        (
            f"{_ADAPTER}owners.py::test_a_queue_is_no_owner_to_give_a_record_to",
            "acceptance/test_salesforce_objects.py::test_a_new_record_of_any_type_gets_its_owner",
        ),
    ),
    Report(
        33,
        "Pages on ids of 15 and 18 characters",
        "Both forms of an id are one record, case twins are two, and a wrong suffix is refused.",
        (
            f"{_WHOLE}both_forms_of_an_id_are_one_record_and_case_twins_are_two",
            f"{_ADAPTER}ids.py::test_a_suffix_that_does_not_fit_is_refused",
        ),
    ),
    Report(
        34,
        "simple-salesforce, threads",
        "Twenty calls of several processes with one expired session cost one log-in.",
        (
            f"{_ADAPTER}sessions.py::test_twenty_threads_with_one_expired_session_log_in_once",
            f"{_ADAPTER}sessions.py::test_threads_of_four_processes_with_one_expired_session_log_in_once",
        ),
    ),
    Report(
        35,
        "simple-salesforce, instance_url",
        "A full My Domain address leads to the right hosts.",
        (f"{_ADAPTER}log_in.py::test_a_full_my_domain_address_leads_to_the_right_hosts",),
    ),
    Report(
        36,
        "simple-salesforce, instance_url",
        "A slash at the end of the org's address does no harm.",
        (f"{_ADAPTER}log_in.py::test_a_slash_at_the_end_of_the_instance_does_no_harm",),
    ),
    Report(
        37,
        "xml.etree, entity expansion",
        "A DOCTYPE is refused unread, and so is a body over a mebibyte.",
        (
            "acceptance/test_deliveries.py::test_a_doctype_is_refused_whatever_it_declares",
            "acceptance/test_deliveries.py::test_a_chunked_body_over_a_mebibyte_is_refused_too",
        ),
    ),
    Report(
        38,
        "developer.salesforce.com, conditional requests",
        "A reply that is lost is found by reading, though our own write changed the record.",
        (
            f"{_WHOLE}a_reply_that_is_lost_is_found_by_reading_though_the_record_changed_by_it",
            f"{_WHOLE}an_owner_set_between_look_and_write_is_not_written_over",
        ),
    ),
)
