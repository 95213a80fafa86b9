"""Which scenarios must run, and which of their variants do not, with the reason."""

from __future__ import annotations

_IDS = """
S01 S02 S03 S05 S06 S08 S09 S10 S11 S13 S15 S16 S17 S20 S21 S23 S26 S27 S28 S29 S30 S32 S34 S35 S36
S38 S41 S42 S44 S45 S47 S49 S50 S52 S54 S55 S56 S57 S59 S63 S65 S66 S67 S70 S72 S75 S77 S79 S80 S81
S82 S85 S87 S89 S91 S94 S96 S97 S99 S100 S101 S104 S111 S113 S114 S116 S117 S119 S120 S122 S123
S124 S131 S133 S134
"""
REQUIRED = frozenset(_IDS.split())

# Variants that need a field or a thing which the product does not have: (id, variant) -> why.
LEFT_OUT = {
    ("S06", "existing_owner=ignore"): (
        "An active owner of the CRM stays. Where creators become owners, they are listed in "
        "SALESFORCE_UNASSIGNED_OWNERS; that runs."
    ),
    ("S20", "one counter per rule"): "A pool has one rotation; two rotations are two pools.",
    ("S26", "availability=ignore"): (
        "Who is away gets no leads, in every pool; a user who never says so and has no hours or "
        "absences is always there; that runs."
    ),
    ("S38", "no_repeat=true"): (
        "Fewest first may serve somebody twice in a row; strict never does while others are there."
    ),
    ("S54", "none_available=assign_anyway"): (
        "The rotation gives nobody a lead out of hours; a fallback user takes it whatever the "
        "hours; that runs."
    ),
    ("S55", "busy, offline and other words"): "The words are available and away; others are 422.",
    ("S56", "an alert to the administrator"): "A held lead is in sight; nothing is sent.",
    ("S77", "drain_rate"): "Quotas pace what goes out of the queue.",
    ("S81", "propagate=account"): "Only the owner of the lead's own record is written.",
    ("S85", "preferred_mode=hard"): (
        "A preferred user who cannot take the lead leaves it to the rotation."
    ),
    ("S87", "sticky_scope=members_only"): "A sticky user need not be a member.",
    ("S122", "one notification"): "Nobody is notified; the attempts stand in the decision.",
    ("S131", "version of the rule"): "The decision names the territory, not a version of it.",
}
