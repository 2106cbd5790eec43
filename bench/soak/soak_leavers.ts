/**
 * Clients that leave before the upstream reports what it generated, beside some that stay. What
 * their account is charged has to agree with what the upstream counted itself.
 */
import { behaviourTag, type SoakUpstream } from "./soak_upstream.ts";

interface Leavers {
  readonly url: string;
  /** A key whose account makes no other calls. */
  readonly key: string;
  readonly upstream: Pick<SoakUpstream, "generatedTokens">;
  readonly seconds: number;
}

interface LeaversResult {
  /** Calls that have a line in the log. */
  readonly calls: number;
  readonly lines: readonly string[];
  readonly findings: readonly string[];
}

const LANES = 8;
/** One client in so many stays: the gateway measures the upstream's speed by it. */
const STAYING = 4;
/** What estimates may differ from the upstream's own sum. */
const TOLERANCE = 0.3;
/** Longer than the gateway reads on, and writes its charges. */
const SETTLED_MS = 5_000;

/** Makes calls until the time is over, and compares the sums. */
export async function runLeavers(
  { url, key, upstream, seconds }: Leavers,
): Promise<LeaversResult> {
  const endMs = performance.now() + seconds * 1000;
  let calls = 0;
  const outcomes = new Map<string, number>();
  const call = async (n: number): Promise<void> => {
    const stays = n % STAYING === 0;
    const leaving = new AbortController();
    const behaviour = stays || n % 2 === 0 ? "silent" : "silent-endless";
    calls++;
    const response = await fetch(`${url}/v1/chat/completions`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${key}`,
        "content-type": "application/json",
      },
      body: JSON.stringify({
        model: "vendorb-5",
        stream: true,
        messages: [{ role: "user", content: behaviourTag(behaviour, `l${n}`) }],
      }),
      signal: leaving.signal,
    });
    const outcome = response.status !== 200
      ? String(response.status)
      : stays
      ? "stayed"
      : "left";
    outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
    if (stays || response.status !== 200) return void await response.text();
    const reader = response.body?.pipeThrough(new TextDecoderStream())
      .getReader();
    for (let text = ""; !text.includes("soak");) {
      const { done, value } = await reader?.read() ?? { done: true };
      if (done) break;
      text += value;
    }
    leaving.abort();
  };
  await Promise.all(Array.from({ length: LANES }, async (_, lane) => {
    for (let n = lane; performance.now() < endMs; n += LANES) {
      await call(n).catch(() => {});
    }
  }));
  await new Promise((resolve) => setTimeout(resolve, SETTLED_MS));
  const report = await fetch(`${url}/v1/usage`, {
    headers: { authorization: `Bearer ${key}` },
  });
  const { totals }: { totals: { output_tokens: number } } = await report.json();
  const generated = upstream.generatedTokens();
  const share = totals.output_tokens / generated;
  return {
    calls,
    lines: [
      ...[...outcomes].map(([what, count]) =>
        `${`leavers ${what}`.padEnd(18)} ${count}`
      ),
      `leavers: ${generated} tokens generated, ${totals.output_tokens} charged`,
    ],
    findings: Math.abs(share - 1) > TOLERANCE
      ? [
        `leavers were charged ${totals.output_tokens} of ${generated} generated tokens`,
      ]
      : [],
  };
}
