/**
 * A process with accounts of its own, for tests that need several: does what lines on its input say, and answers in lines.
 *
 * @module
 */
import type { Caller } from "../accounts.ts";
import { openAccounts } from "../open_accounts.ts";
import { openStore } from "../open_store.ts";
import type { Order } from "./processes.ts";
import { MODELS, PRICE } from "./opened.ts";

const [url = "", leaseMs = "1500"] = Deno.args;
const { accounts } = await openAccounts({
  store: await openStore(url, { leaseMs: Number(leaseMs) }),
  price: (model) => MODELS.includes(model) ? PRICE : undefined,
  beatMs: 100,
});

const encoder = new TextEncoder();

/** A line leaves in one piece, before anything else happens: what is said was said, even if the process dies at once. */
function say(answer: unknown): void {
  Deno.stdout.writeSync(encoder.encode(`${JSON.stringify(answer)}\n`));
}

/** Serves one call: what it says is the reply that reaches the caller. Gives what it cost. */
async function serve(caller: Caller, says: boolean): Promise<number> {
  const requestId = crypto.randomUUID();
  const reservation = await accounts.reserve(caller, {
    requestId,
    model: "small",
    inputTokens: 10,
    maxOutputTokens: 20,
  });
  const output = requestId.charCodeAt(0) % 20;
  await reservation.written;
  if (says) say({ requestId, output });
  reservation.settle({
    usage: { input: 10, output },
    generatedChars: output * 4,
    ended: "complete",
  });
  return 10 + 2 * output;
}

async function isRefused(work: Promise<unknown>): Promise<boolean> {
  try {
    await work;
    return false;
  } catch {
    return true;
  }
}

async function obey(order: Order): Promise<void> {
  switch (order.do) {
    case "authenticate":
      say(!await isRefused(accounts.authenticate([order.key])));
      return;
    case "spend": {
      // Ten at a time, until nothing is left.
      const caller = await accounts.authenticate([order.key]);
      let spent = 0;
      const lane = async (): Promise<void> => {
        while (
          !await isRefused(serve(caller, false).then((cost) => spent += cost))
        );
      };
      await Promise.all(Array.from({ length: 10 }, lane));
      say(spent);
      return;
    }
    case "load": {
      const callers = await Promise.all(
        order.keys.map((key) => accounts.authenticate([key])),
      );
      for (const caller of callers) {
        for (let lanes = 0; lanes < 4; lanes++) {
          void (async () => {
            for (;;) await serve(caller, true);
          })();
        }
      }
      return;
    }
    case "end":
      await accounts.close();
      say("ended");
      return;
  }
}

say("ready");
let rest = "";
for await (
  const text of Deno.stdin.readable.pipeThrough(new TextDecoderStream())
) {
  const lines = (rest + text).split("\n");
  rest = lines.pop() ?? "";
  // What comes in is what processes.ts wrote.
  for (const line of lines) await obey(JSON.parse(line) as Order);
}
