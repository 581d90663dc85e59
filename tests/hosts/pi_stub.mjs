// A stand-in for Pi: loads an extension, fires the events that standard input lists, prints what came back.
// Input: {extension, steps: [{on, event, file, id, branch, cwd, ui, waitMs}]}. Output: one JSON list, an item a step.

import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const { extension, steps } = JSON.parse(readFileSync(0, "utf8"));
const handlers = new Map();
const known = ["session_start", "session_compact", "session_shutdown", "before_agent_start"];
const pi = {
  on(name, handler) {
    if (!known.includes(name)) throw new Error(`no such event: ${name}`);
    handlers.set(name, [...(handlers.get(name) ?? []), handler]);
  },
};

const factory = (await import(pathToFileURL(extension).href)).default;
await factory(pi);

const out = [];
for (const step of steps) {
  const notes = [];
  const manager = { getSessionFile: () => step.file };
  if (step.id) manager.getSessionId = () => step.id;
  if (step.branch) manager.getBranch = () => step.branch;
  const ctx = {
    cwd: step.cwd,
    hasUI: step.ui ?? true,
    ui: { notify: (text, level) => notes.push([text, level]) },
    sessionManager: step.broken ? undefined : manager,
  };
  const began = performance.now();
  const messages = [];
  const others = [];
  for (const handler of handlers.get(step.on) ?? []) {
    const result = await handler(step.event, ctx);
    if (result?.message) messages.push(result.message);
    else if (result !== undefined) others.push(result);
  }
  out.push({ messages, others, notes, ms: performance.now() - began, session: process.env.PI_SESSION_ID ?? null });
  if (step.waitMs) await new Promise((resolve) => setTimeout(resolve, step.waitMs));
}
process.stdout.write(JSON.stringify({ out, events: [...handlers.keys()] }));
