"""A HubSpot and a Salesforce on loopback, for the demo, the tests, the benchmarks and by hand."""
