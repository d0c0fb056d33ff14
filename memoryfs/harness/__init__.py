"""In: an agent harness's events, settings files and memory tool. Out: the store at work where the agent works.

`hooks` answers events, `setup` edits a harness's settings, `memory_tool` serves the Anthropic memory tool.
"""
