"""The HTTP side: webhooks in, REST API, health. The only package that knows Flask."""
