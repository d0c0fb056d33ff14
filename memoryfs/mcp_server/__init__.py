"""In: JSON-RPC on stdin, or HTTP on the loopback interface. Out: the verbs of a store as MCP tools (official SDK).

`tools` says what there is, `fields` checks what comes, `answers` keeps what goes within a limit, `wire` speaks the protocol.
"""
