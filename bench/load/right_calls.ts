/**
 * Correct calls at a fixed rate, to measure beside other load. They and their upstream have a
 * process of their own, so that the processor time of other callers in the benchmark's process
 * delays none of them.
 */
import { receiveMessages, sendMessage } from "./child.ts";
import { behaviourTag, startSoakUpstream } from "../soak/soak_upstream.ts";

/** The message that starts the calls. */
export interface RightCalls {
  /** Address of the gateway. */
  readonly url: string;
  readonly key: string;
  readonly seconds: number;
  /** Time between the starts of two calls. */
  readonly everyMs: number;
  /**
   * Whether to ask for streams. Only those show that a socket holds back a small piece until the
   * client has confirmed the one before, which takes up to 40 ms.
   */
  readonly stream: boolean;
}

/** What became of a call, and when. */
export interface RightCall {
  /** Its beginning, in milliseconds since 1970. */
  readonly atMs: number;
  readonly tookMs: number;
  /** `200`, `200, error: MESSAGE`, `200, no end`, another status, or what was thrown. */
  readonly outcome: string;
}

const bodyOf = (stream: boolean): string =>
  JSON.stringify({
    model: "vendord-m3",
    max_tokens: 10,
    stream,
    messages: [{ role: "user", content: behaviourTag("good", "beside") }],
  });

async function call({ url, key, stream }: RightCalls): Promise<RightCall> {
  const atMs = Date.now();
  const startedMs = performance.now();
  const done = (outcome: string): RightCall => ({
    atMs,
    tookMs: Math.round((performance.now() - startedMs) * 100) / 100,
    outcome,
  });
  try {
    const response = await fetch(`${url}/v1/messages`, {
      method: "POST",
      headers: { "x-api-key": key, "content-type": "application/json" },
      body: bodyOf(stream),
    });
    const text = await response.text();
    if (response.status !== 200) return done(String(response.status));
    // The status is sent with the first ping, so a later refusal stands in the stream.
    if (text.includes("event: error")) {
      const message = /"message":"([^"]*)"/.exec(
        text.slice(text.indexOf("event: error")),
      )?.[1];
      return done(`200, error: ${message}`);
    }
    return done(
      /message_stop|"stop_reason":"/.test(text) ? "200" : "200, no end",
    );
  } catch (error) {
    return done(String(error));
  }
}

if (import.meta.main) {
  const upstream = await startSoakUpstream();
  sendMessage({ port: upstream.port });
  for await (const message of receiveMessages(Deno.stdin.readable)) {
    // Its shape is {@linkcode RightCalls}.
    const job = message as RightCalls;
    const calls: Promise<RightCall>[] = [];
    const endMs = performance.now() + job.seconds * 1000;
    while (performance.now() < endMs) {
      calls.push(call(job));
      await new Promise((resolve) => void setTimeout(resolve, job.everyMs));
    }
    sendMessage(await Promise.all(calls));
  }
  Deno.exit(0);
}
