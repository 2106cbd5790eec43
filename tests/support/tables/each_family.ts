/**
 * Runs a test of a client library against the models of all families.
 */
import assert from "node:assert/strict";
import {
  FAMILIES,
  startTestGateway,
  type TestGateway,
} from "../test_gateway.ts";

export async function eachFamily(
  t: Deno.TestContext,
  run: (gateway: TestGateway, model: string) => Promise<void>,
  env: Readonly<Record<string, string>> = {},
): Promise<void> {
  await using gateway = await startTestGateway({ env });
  for (const model of FAMILIES) {
    await t.step(model, () => run(gateway, model));
  }
}

/** Starts a call with a client library. A streamed reply has a `controller`. */
type StartCall = (
  url: string,
  model: string,
  text: string,
  options: { readonly stream: boolean; readonly signal: AbortSignal },
) => Promise<object>;

/**
 * Aborts a whole call and a stream before the first byte, and a stream in the middle, and checks
 * that the gateway closes its connection to the upstream.
 */
export async function assertAbortReachesUpstream(
  { url, replay }: TestGateway,
  model: string,
  start: StartCall,
): Promise<void> {
  const phases = [
    ["hold", false],
    ["hold", true],
    ["hold-mid", true],
  ] as const;
  for (const [phase, stream] of phases) {
    const nonce = `${phase}-${stream}-${model}`;
    const controller = new AbortController();
    const { signal } = controller;
    const text = `[[fx:${phase}#${nonce}]]`;
    const outcome = start(url, model, text, { stream, signal })
      .then(async (reply) => {
        if (!("controller" in reply)) return;
        for await (const _ of reply as unknown as AsyncIterable<unknown>) {
          controller.abort();
        }
      }).catch(() => {});
    const entry = await replay.requestLog.waitForNonce(nonce);
    if (phase === "hold") controller.abort();
    assert.equal(await entry.ended, "caller-hung-up");
    await outcome;
  }
}
