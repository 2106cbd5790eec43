/**
 * The callers of the soak: most of them honest, the others leave, read slowly or send what they should not.
 *
 * @module
 */
import {
  marked,
  type SoakUpstream,
  UPSTREAM_FATES,
  type UpstreamFate,
} from "./soak_upstream.ts";

/** Share of calls with something wrong about them. */
export const FAULT_SHARE = 0.3;

const CALLER_FATES = [
  "leaves-before",
  "leaves-inside",
  "reads-slowly",
  "bad-json",
  "bad-model",
  "bad-key",
] as const;

const FAULTS: readonly string[] = [
  ...CALLER_FATES,
  ...UPSTREAM_FATES.filter((fate) => fate !== "good" && fate !== "hold"),
];

const MODELS = ["vendora-opus-4-8", "vendorb-5", "vendorc-3-flash"] as const;
const PATHS = ["/v1/messages", "/v1/chat/completions"] as const;

/** Whom to call, and as whom. */
export interface SoakAddress {
  /** Of the gateway. */
  readonly url: string;
  /** Keys of accounts with money, with little of it, and with a tight limit. */
  readonly keys: readonly string[];
  /** Tells which calls have arrived there. */
  readonly upstream: SoakUpstream;
}

/** What came of the calls so far. */
export interface SoakTally {
  /** Calls that reached the gateway; each must have its line in the log. */
  calls: number;
  /** By what was done to them and what came back: `good 200`, `html 502`, `leaves-inside left`. */
  readonly outcomes: Map<string, number>;
  /** Answers that should not be: connections that broke, a status that nobody expects, half answers that look whole. */
  readonly wrong: string[];
}

/** Calls one after another until the time is over. */
export async function lane(
  address: SoakAddress,
  tally: SoakTally,
  isOver: () => boolean,
): Promise<void> {
  while (!isOver()) {
    const fate = Math.random() < FAULT_SHARE
      ? FAULTS[Math.floor(Math.random() * FAULTS.length)] ?? "good"
      : "good";
    let outcome: string;
    try {
      outcome = await call(address, fate, tally.calls++);
    } catch (error) {
      outcome = "broke";
      tally.wrong.push(`${fate}: ${error}`);
    }
    if (outcome === "500" && fate !== "error-500") {
      tally.wrong.push(`${fate}: 500`);
    }
    if (outcome === "half") tally.wrong.push(`${fate}: half an answer`);
    const key = `${fate} ${outcome}`;
    tally.outcomes.set(key, (tally.outcomes.get(key) ?? 0) + 1);
  }
}

async function call(
  { url, keys, upstream }: SoakAddress,
  fate: string,
  n: number,
): Promise<string> {
  const nonce = `n-${n}`;
  const stream = fate.startsWith("leaves") || fate === "reads-slowly" ||
    n % 3 !== 0;
  const path = PATHS[n % PATHS.length] ?? PATHS[0];
  const toDo: UpstreamFate = UPSTREAM_FATES.find((one) => one === fate) ??
    (fate === "leaves-before"
      ? "stall-before"
      : fate === "leaves-inside"
      ? "stall-inside"
      : "good");
  const body = JSON.stringify({
    model: fate === "bad-model" ? "nobody" : MODELS[n % MODELS.length],
    max_tokens: 100,
    stream,
    messages: [{ role: "user", content: marked(toDo, nonce) }],
  });
  const controller = new AbortController();
  const key = keys[n % keys.length] ?? "";
  const asked = fetch(url + path, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      "x-api-key": fate === "bad-key" ? "sk-nobody-0123456789" : key,
    },
    body: fate === "bad-json" ? body.slice(0, -1) : body,
    signal: controller.signal,
  });
  if (fate === "leaves-before") {
    // Without money or within its limit a call never gets there.
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
  if (fate === "leaves-inside" && response.status === 200) {
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
    if (fate === "reads-slowly") {
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
  if (response.status !== 200 || !stream) return String(response.status);
  const isWhole = /event: message_stop|data: \[DONE\]/.test(text);
  const isError = /"error":\{|event: error/.test(text);
  if (isWhole === isError) return "half";
  const isGood = ["good", "slow", "reads-slowly"].includes(fate);
  if (isGood && !isWhole) return "failed";
  return !isGood && isWhole ? "half" : isWhole ? "200" : "200, told";
}
