/**
 * An upstream of every format that plays a script to a coding agent: one reply for each request.
 */
import {
  type NeutralBlock,
  type NeutralReply,
  replyScript,
} from "../../../replay/mod.ts";
import { serveLoopback } from "../serve_loopback.ts";

export interface AgentUpstream extends AsyncDisposable {
  readonly url: string;
  readonly bodies: readonly string[];
  close(): Promise<void>;
}

/** A step of a task: calls of tools; absent: the task is done. */
export function agentReply(
  blocks: readonly NeutralBlock[] | undefined,
  usage: Partial<NeutralReply["usage"]> = {},
): NeutralReply {
  return {
    blocks: blocks ?? [{ kind: "text", pieces: ["All do", "ne: ü."] }],
    stop: blocks === undefined ? "end" : "tool_use",
    stopSequence: null,
    usage: {
      input: 100,
      cacheRead: 0,
      cacheWrite: 0,
      output: 20,
      reasoning: 0,
      ...usage,
    },
  };
}

/** Starts an upstream that sends `replyTo` the body of the request and its index, from 0. */
export function startAgentUpstream(
  replyTo: (body: string, index: number) => NeutralReply,
): AgentUpstream {
  const bodies: string[] = [];
  const server = serveLoopback(async (request) => {
    const body = await request.text();
    const reply = replyTo(body, bodies.length);
    bodies.push(body);
    const { pathname, search } = new URL(request.url);
    const { status, headers, steps } = replyScript({
      method: request.method,
      path: `${pathname}${search}`,
      headers: Object.fromEntries(request.headers),
      body,
    }, reply);
    const pieces = steps.flatMap((one) =>
      one.step === "bytes" ? [new Uint8Array(one.bytes)] : []
    );
    return new Response(new Blob(pieces), { status, headers });
  });
  return {
    url: `http://127.0.0.1:${server.addr.port}`,
    bodies,
    close: () => server.shutdown(),
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}
