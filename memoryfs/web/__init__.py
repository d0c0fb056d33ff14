"""In: a store. Out: a local page to see and correct it: search, topics, reviews, timelines, a graph, a dashboard.

Rendered by the server, for this machine only: see `memoryfs.web.guard` for who may ask, `memoryfs.web.markdown` for
what a note may show. Needs the extra `web` (starlette, uvicorn, jinja2).
"""
