"""Runs every benchmark."""

from benchmarks import engine, flow

for run in (engine.run, flow.run):
    run()
