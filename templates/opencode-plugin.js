// Memory for OpenCode. Written by `memoryfs setup opencode`; `memoryfs setup opencode --remove` takes it away.
import { spawn } from "node:child_process"

const COMMAND = [/* command */]
const LIMIT_MS = 3000

// One call of a memoryfs hook: its text, or "" for whatever goes wrong.
function hook(event, data) {
  return new Promise((resolve) => {
    let out = ""
    let child
    try {
      child = spawn(COMMAND[0], [...COMMAND.slice(1), "hook", event], { stdio: ["pipe", "pipe", "ignore"] })
    } catch {
      return resolve("")
    }
    const timer = setTimeout(() => { child.kill(); resolve("") }, LIMIT_MS)
    child.stdout.setEncoding("utf8")
    child.stdout.on("data", (piece) => { out += piece })
    child.stdin.on("error", () => {})
    child.on("error", () => { clearTimeout(timer); resolve("") })
    child.on("close", () => {
      clearTimeout(timer)
      try {
        resolve(JSON.parse(out).hookSpecificOutput?.additionalContext ?? "")
      } catch {
        resolve("")
      }
    })
    child.stdin.end(JSON.stringify(data))
  })
}

export const MemoryfsPlugin = async ({ directory }) => {
  const briefings = new Map() // session -> promise of its briefing
  const recalled = new Map() // session -> what its last prompt called for

  return {
    "chat.message": async (input, output) => {
      const prompt = (output.parts ?? []).filter((p) => p.type === "text" && !p.synthetic).map((p) => p.text).join("\n")
      const text = await hook("user-prompt-submit", { session_id: input.sessionID, cwd: directory, prompt })
      if (text) recalled.set(input.sessionID, text)
    },
    "experimental.chat.system.transform": async (input, output) => {
      const id = input?.sessionID ?? ""
      if (!briefings.has(id)) briefings.set(id, hook("session-start", { session_id: id, cwd: directory, source: "startup" }))
      for (const text of [await briefings.get(id), recalled.get(id)]) if (text) output.system.push(text)
    },
    event: async ({ event }) => {
      const id = event.properties?.sessionID ?? event.properties?.info?.id
      if (event.type === "session.compacted") briefings.delete(id)
      if (event.type === "session.deleted") { briefings.delete(id); recalled.delete(id) }
    },
  }
}
