// git mem for Pi: asks the memory on each prompt and hands its answer to the model.
// Written by `git mem connect pi`, taken away by `git mem disconnect pi`, which leaves it if you changed it.
// Plain JavaScript, so that it also runs where no TypeScript does. What to say, and whether, is decided by
// `git mem hook pi`; here events go in and answers come out. Whatever goes wrong, Pi goes on without memory.

import { spawn } from "node:child_process";
import { basename } from "node:path";

const LIMIT_MS = 1500; // `git mem hook` itself gives up a little earlier
const COMMAND = ["git", ["mem", "hook", "pi"]];

export default function (pi) {
  // git mem started this Pi: it must not ask itself
  if (process.env.GIT_MEM_IN_HOOK || process.env.GIT_MEM_DETACHED) return;

  let brief = Promise.resolve(undefined);

  // Asked early and not waited for, so that Pi starts as fast as without; given with the next prompt.
  const begin = (name, reason, event, ctx) => {
    const id = sessionOf(ctx);
    if (id) process.env.PI_SESSION_ID = id; // commands of the agent say by this in which session they run
    const before = event?.previousSessionFile;
    brief = ask({ ...common(name, ctx), reason, ...(before ? { previous_session_id: idOf(before) } : {}) });
  };

  on(pi, "session_start", (event, ctx) => begin("session_start", event?.reason ?? "startup", event, ctx));
  on(pi, "session_switch", (event, ctx) => begin("session_start", event?.reason ?? "resume", event, ctx)); // to 0.58
  on(pi, "session_fork", (event, ctx) => begin("session_start", "fork", event, ctx)); // to 0.58
  on(pi, "session_compact", (event, ctx) => begin("session_compact", event?.reason ?? "", event, ctx));

  on(pi, "before_agent_start", async (_event, ctx) => {
    const waiting = brief;
    brief = Promise.resolve(undefined);
    return message(await waiting, ctx);
  });
  on(pi, "before_agent_start", async (event, ctx) => {
    const previous = turnBefore(ctx, event?.prompt);
    return message(await ask({ ...common("before_agent_start", ctx), prompt: event?.prompt, previous }), ctx);
  });

  on(pi, "session_shutdown", (event, ctx) => tell({ ...common("session_shutdown", ctx), reason: event?.reason ?? "quit" }));
}

/** Listen; an error of ours is never Pi's. */
function on(pi, name, handler) {
  const careful = async (event, ctx) => {
    try {
      return await handler(event, ctx);
    } catch {
      return undefined;
    }
  };
  try {
    pi.on(name, careful);
  } catch {
    // an event that this Pi does not have
  }
}

function common(name, ctx) {
  return {
    hook_event_name: name,
    session_id: sessionOf(ctx),
    session_file: get(() => ctx.sessionManager.getSessionFile()),
    cwd: ctx?.cwd ?? process.cwd(),
    interactive: ctx?.hasUI !== false,
  };
}

function sessionOf(ctx) {
  const file = get(() => ctx.sessionManager.getSessionFile());
  return get(() => ctx.sessionManager.getSessionId()) ?? (file ? idOf(file) : process.env.PI_SESSION_ID);
}

/** `<time>_<id>.jsonl` */
function idOf(file) {
  return basename(String(file)).replace(/\.jsonl$/, "").split("_").pop();
}

/** What the person said before this prompt, which may stand in the session already. */
function turnBefore(ctx, prompt) {
  const entries = get(() => ctx.sessionManager.getBranch()) ?? [];
  for (let i = entries.length - 1; i >= 0; i--) {
    const said = entries[i]?.type === "message" ? entries[i].message : undefined;
    if (said?.role !== "user") continue;
    const parts = Array.isArray(said.content) ? said.content : [{ text: said.content }];
    const text = parts.map((part) => part?.text).filter((part) => typeof part === "string").join("\n");
    if (text && text !== prompt) return text.slice(0, 2000);
  }
  return "";
}

function message(answer, ctx) {
  if (typeof answer?.content !== "string" || !answer.content.trim()) return undefined;
  if (answer.note && ctx?.hasUI) get(() => ctx.ui.notify(String(answer.note), "info"));
  return { message: { customType: "git-mem", content: answer.content, display: false } };
}

function get(value) {
  try {
    return value() ?? undefined;
  } catch {
    return undefined;
  }
}

/** Send an event, get the answer; nothing when there is none in time. */
function ask(event) {
  return new Promise((resolve) => {
    let child;
    let out = "";
    const timer = setTimeout(() => {
      child?.kill("SIGKILL");
      child?.stdout?.destroy();
      resolve(undefined);
    }, LIMIT_MS);
    const end = (answer) => {
      clearTimeout(timer);
      resolve(answer);
    };
    child = get(() => spawn(...COMMAND, { stdio: ["pipe", "pipe", "ignore"], windowsHide: true }));
    if (!child) return end(undefined);
    child.on("error", () => end(undefined));
    child.on("close", () => end(get(() => JSON.parse(out))));
    child.stdin.on("error", () => {});
    child.stdout.on("error", () => {});
    child.stdout.setEncoding("utf8");
    child.stdout.on("data", (text) => (out += text));
    child.stdin.end(JSON.stringify(event));
  });
}

/** Send an event and wait for no answer: Pi may be gone before it is heard. */
function tell(event) {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, LIMIT_MS);
    const end = () => {
      clearTimeout(timer);
      resolve();
    };
    const child = get(() => spawn(...COMMAND, { stdio: ["pipe", "ignore", "ignore"], detached: true, windowsHide: true }));
    if (!child) return end();
    child.on("error", end);
    child.stdin.on("error", end);
    child.stdin.end(JSON.stringify(event), end);
    child.unref();
  });
}
