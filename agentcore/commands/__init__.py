"""The commands of `python -m agentcore`, one file each: `add` puts it into the parser, and what it
sets as `run` returns the exit code."""
