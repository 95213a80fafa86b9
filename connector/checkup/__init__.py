"""What ``leadrota doctor`` looks at, as values; nothing is written to a CRM and nothing printed."""
