"""Lead Rota: a new lead gets the right owner, seconds later, and anyone can see why.

- `model`     the words: User, Pool, Lead, LeadEvent, Decision
- `engine`    pure: whose turn is it, and why not the others
- `store`     the only place that knows SQL
- `web`       webhooks in, REST API
- `intake`    events become decisions; `dispatch` decides and records in one commit
- `delivery`  decisions become owners in the CRM
- `worker`    the loop that runs both
"""

__version__ = "0.1.0"
