"""The rules of HubSpot that the sandbox keeps; each can be switched off to see what it is worth."""

from __future__ import annotations

RULES = {
    # requests
    "token": "a call without the right bearer token is 401",
    "versions": "only published API versions are served",
    "unknown_type": "an object type that does not exist is 400",
    "required_fields": "a request lacking a field that the description requires is 400",
    "batch_limit": "a batch takes at most 100 inputs",
    "association_limit": "a batch of associations takes at most 1,000 inputs",
    "associations_of_one": "associations of one record have no path from 2026-09 on",
    "history_limit": "a batch read with property history takes at most 50 inputs",
    "duplicate_ids": "a batch update naming an id twice is refused whole",
    "batch_by_email": "a batch update takes record ids only",
    "comma_lists": "properties of a single read may be one comma-separated parameter",
    "id_property": "a single read may name a record by another property",
    # answers
    "text_ids": "record ids are JSON strings",
    "wide_ids": "record ids do not fit 32 bits",
    "unknown_ids": "a batch reports ids that name no record, beside the good results",
    "dated_status": "from 2026-09 on a partial failure is 200 instead of 207",
    "association_numbers": "ids of associated records are JSON numbers",
    "unknown_from": "a batch of associations reports ids that name no record",
    "one_primary": "a new primary association takes the place of the old",
    "record_pages": "a list of records comes page by page, ten at a time unless asked for more",
    "batch_order": "results do not come in the order of the inputs",
    "unknown_read_property": "asking for a property that does not exist leaves it out silently",
    "deleted": "a deleted record is not found",
    # writes
    "unknown_property": "writing a property that does not exist refuses the whole request",
    "text_values": "property values are strings",
    "unknown_owner": "an owner id that does not exist is refused",
    "user_id_owner": "a user id is refused as owner",
    "user_record_owner": "the id of a user record is refused as owner",
    "archived_owner": "an archived owner is refused (what HubSpot does is not published)",
    "whole_batch": "one bad owner refuses the whole batch (what HubSpot does is not published)",
    "empty_clears": "writing an empty string clears a property",
    "last_modified": "each write bumps the last-modified property",
    "history": "each value is kept in the history with who set it",
    "admin_rule_dated": "required-property rules of the account bind writes from 2026-09 on only",
    # merges
    "merged_single": "a merged-away id leads a single call to the survivor",
    "merged_batch_update": "a merged-away id is not found by a batch update",
    # owners
    "owner_pages": "owners come page by page",
    "owner_lists": "active and archived owners are two lists",
    "owner_email": "owners are found by the whole address only",
    "archived_user_id": "an archived owner has no user id",
    # tokens
    "token_expiry": "an OAuth access token is good for half an hour",
    "refresh_token": "a revoked or replaced refresh token is 400",
    "oauth_client": "the token endpoint wants the app's own id and secret",
    "oauth_code": "an authorization code is good once and for one redirect address",
    "oauth_form": "the token endpoint takes form-encoded bodies only",
    # callbacks
    "callback_known": "only a callback that an action opened can be completed",
    "callback_once": "a callback can be completed once",
    "callback_ends": "a callback can be completed until its time is over",
    "typed_outputs": "dated versions require typed outputs of a callback",
    # limits
    "rate_limit": "calls beyond the ten-second or the daily limit are 429",
    "rate_headers": "answers tell what is left of both limits",
    "own_counters": "searches and batches of associations are outside the ten-second limit",
    "oauth_limits": "calls with OAuth tokens have a smaller limit, and none of the day",
}
