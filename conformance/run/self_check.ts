/**
 * Verifies over a bare socket, before a run, that the replay server's faults arrive: splits as
 * separate reads, gates that hold, resets that reset, missing ends. A hostile fixture that arrives
 * harmless proves nothing.
 */
import { sendRaw } from "../clients/raw_client.ts";
import type { Received } from "../clients/transfer.ts";
import { RawClient } from "@model-gateway/replay/raw_client";
import type { ReplayServer } from "@model-gateway/replay";

/**
 * Share of the reads that must contain a single piece; the operating system may merge the others.
 */
const ALONE = 0.8;

/** The problems of the replay server; empty when it works. */
export async function checkReplay(replay: ReplayServer): Promise<string[]> {
  const problems: string[] = [];
  const demand = (holds: boolean, what: string): void => {
    if (!holds) problems.push(what);
  };
  demand(
    await splitsArrive(replay),
    "the pieces of a split stream arrive merged",
  );
  demand(await gateHolds(replay), "a gate does not hold the stream back");
  const whole = await receive(replay, "text");
  demand(whole.ending === "complete", `a proper stream ended ${whole.ending}`);
  for (const name of ["cut-chunk", "reset"]) {
    const { ending, body } = await receive(replay, name);
    demand(
      ending === "broken" && body.length > 0,
      `${name} ended ${ending} after ${body.length} bytes`,
    );
  }
  const cut = await receive(replay, "cut");
  const text = new TextDecoder().decode(cut.body);
  demand(
    cut.ending === "complete" && !text.includes("message_stop"),
    "cut does not end early and properly",
  );
  return problems;
}

function bodyFor(marker: string): string {
  return JSON.stringify({
    model: "m",
    max_tokens: 8,
    stream: true,
    messages: [{ role: "user", content: `[[fx:${marker}]]` }],
  });
}

async function receive(
  replay: ReplayServer,
  marker: string,
): Promise<Received> {
  const body = new TextEncoder().encode(bodyFor(marker));
  const head =
    `POST /v1/messages HTTP/1.1\r\nhost: replay\r\ncontent-length: ${body.length}\r\n\r\n`;
  return await sendRaw({
    origin: new URL(replay.url),
    head,
    body,
    timeoutMs: 5000,
  }).received;
}

function connect({ url, port }: ReplayServer): Promise<RawClient> {
  return RawClient.connect(port, new URL(url).hostname.replace(/^\[|\]$/g, ""));
}

async function splitsArrive(replay: ReplayServer): Promise<boolean> {
  using caller = await connect(replay);
  await caller.post(
    "/v1/messages",
    JSON.parse(bodyFor("text?split=7&frames=2&end=fin")),
  );
  const { reads } = await caller.readToEnd();
  const alone = reads.filter((read) => /^7\r\n.{7}\r\n$/s.test(read)).length;
  const bytes = reads.join("").length;
  return alone >= ALONE * Math.floor(bytes / 12 / 2);
}

async function gateHolds(replay: ReplayServer): Promise<boolean> {
  const gate = `self-check-${crypto.randomUUID()}`;
  using caller = await connect(replay);
  await caller.post(
    "/v1/messages",
    JSON.parse(bodyFor(`text?gate=${gate}&end=fin`)),
  );
  await replay.gateReached(gate);
  const before = await caller.readUntil("message_start");
  if (before.includes("message_stop")) return false;
  const next = caller.readUntil("message_stop");
  const { promise: quiet, resolve } = Promise.withResolvers<"quiet">();
  const timer = setTimeout(() => resolve("quiet"), 50);
  const held = await Promise.race([next, quiet]) === "quiet";
  clearTimeout(timer);
  replay.openGate(gate);
  await next;
  return held;
}
