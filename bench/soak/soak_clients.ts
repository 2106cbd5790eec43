/**
 * The clients of the soak test: most behave well, the others disconnect, read slowly or send
 * invalid requests.
 */
import { compact } from "../../replay/compact.ts";
import {
  behaviourTag,
  type SoakUpstream,
  UPSTREAM_BEHAVIOURS,
  type UpstreamBehaviour,
} from "./soak_upstream.ts";

/** Share of calls with a fault of the client or the upstream. */
const FAULT_SHARE = 1 / 3;

const CLIENT_BEHAVIOURS = [
  "leaves-before",
  "leaves-inside",
  "reads-slowly",
  "bad-json",
  "bad-model",
  "bad-key",
] as const;

/** Every fault of a call, on either side. */
export const FAULTS: readonly string[] = [
  ...CLIENT_BEHAVIOURS,
  ...UPSTREAM_BEHAVIOURS.filter((behaviour) =>
    behaviour !== "good" && behaviour !== "hold" && behaviour !== "lies"
  ),
];

const MODELS = ["vendora-opus-4-8", "vendorb-5", "vendorc-3-flash"] as const;
const PATHS = ["/v1/messages", "/v1/chat/completions"] as const;

/** The gateway and the credentials of the calls. */
export interface SoakTarget {
  /** Base URL of the gateway. */
  readonly url: string;
  /** Keys of accounts with enough balance, with a low balance, and with low rate limits. */
  readonly keys: readonly string[];
  /** The upstream, which reports the calls that reach it. */
  readonly upstream: SoakUpstream;
  /** Holds the connections to the gateway; absent: the process's own. */
  readonly client?: Deno.HttpClient;
}

/** The behaviour of one call of the mixture. */
function mixedBehaviour(): string {
  return Math.random() < FAULT_SHARE
    ? FAULTS[Math.floor(Math.random() * FAULTS.length)] ?? "good"
    : "good";
}

/** Results of the calls so far. */
export interface SoakTally {
  /** Number of calls; each must have a line in the gateway's log. */
  calls: number;
  /** Number of calls by behaviour and outcome: `good 200`, `html 502`, `leaves-inside left`. */
  readonly outcomes: Map<string, number>;
  /** Findings: broken connections, unexpected statuses, truncated replies that look complete. */
  readonly wrong: string[];
}

/** Makes one call after another until `isOver` returns true. */
export async function runClient(
  address: SoakTarget,
  tally: SoakTally,
  isOver: () => boolean,
  nextBehaviour: () => string = mixedBehaviour,
): Promise<void> {
  while (!isOver()) {
    const behaviour = nextBehaviour();
    let outcome: string;
    try {
      outcome = await call(address, behaviour, tally.calls++);
    } catch (error) {
      outcome = "broke";
      tally.wrong.push(`${behaviour}: ${error}`);
    }
    if (outcome === "500" && behaviour !== "error-500") {
      tally.wrong.push(`${behaviour}: 500`);
    }
    if (outcome === "half") tally.wrong.push(`${behaviour}: truncated reply`);
    const key = `${behaviour} ${outcome}`;
    tally.outcomes.set(key, (tally.outcomes.get(key) ?? 0) + 1);
  }
}

async function call(
  { url, keys, upstream, client }: SoakTarget,
  behaviour: string,
  n: number,
): Promise<string> {
  const nonce = `n-${n}`;
  const stream = behaviour.startsWith("leaves") ||
    behaviour === "reads-slowly" ||
    n % 3 !== 0;
  const path = PATHS[n % PATHS.length] ?? PATHS[0];
  const upstreamBehaviour: UpstreamBehaviour =
    UPSTREAM_BEHAVIOURS.find((one) => one === behaviour) ??
      (behaviour === "leaves-before"
        ? "stall-before"
        : behaviour === "leaves-inside"
        ? "stall-inside"
        : "good");
  const body = JSON.stringify({
    model: behaviour === "bad-model" ? "unknown" : MODELS[n % MODELS.length],
    max_tokens: 100,
    stream,
    messages: [{
      role: "user",
      content: behaviourTag(upstreamBehaviour, nonce),
    }],
  });
  const controller = new AbortController();
  const key = keys[n % keys.length] ?? "";
  const asked = fetch(url + path, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      "x-api-key": behaviour === "bad-key" ? "sk-unknown-0123456789" : key,
    },
    body: behaviour === "bad-json" ? body.slice(0, -1) : body,
    signal: controller.signal,
    ...compact({ client }),
  });
  if (behaviour === "leaves-before") {
    // A call without balance, or above its rate limit, never reaches the upstream.
    const first = await Promise.race([
      upstream.arrived(nonce).then(() => undefined),
      asked,
    ]);
    if (first !== undefined) {
      await first.text();
      return String(first.status);
    }
    controller.abort();
    await asked.catch(() => {});
    return "left";
  }
  const response = await asked;
  if (behaviour === "leaves-inside" && response.status === 200) {
    const reader = response.body?.getReader();
    await reader?.read();
    controller.abort();
    await reader?.cancel().catch(() => {});
    return "left";
  }
  let text = "";
  for await (
    const piece of response.body?.pipeThrough(new TextDecoderStream()) ?? []
  ) {
    text += piece;
    if (behaviour === "reads-slowly") {
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
  if (response.status !== 200 || !stream) return String(response.status);
  const isWhole = /event: message_stop|data: \[DONE\]/.test(text);
  const isError = /"error":\{|event: error/.test(text);
  if (isWhole === isError) return "half";
  const isGood = ["good", "slow", "lies", "reads-slowly"].includes(behaviour);
  if (isGood && !isWhole) return "failed";
  return !isGood && isWhole ? "half" : isWhole ? "200" : "200, error";
}
