"""How fast the parts are, as ratios to a floor measured in the same run.

``python -m benchmarks`` prints one JSON object a line. Times on a shared machine mean little; the
ratio between a thing and its floor, taken turn by turn, means more.
"""
