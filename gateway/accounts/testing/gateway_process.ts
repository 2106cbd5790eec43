/**
 * A process with its own account service, for tests that need several. Reads commands from
 * its input as lines of JSON and writes results as lines of JSON.
 */
import type { Caller } from "../accounts.ts";
import { openAccountService } from "../service.ts";
import { openStore } from "../store/open_store.ts";
import type { ProcessCommand } from "./processes.ts";
import { MODELS, PRICE, settleWhole } from "./open_test_accounts.ts";

const [url = "", leaseMs = "1500"] = Deno.args;
const { accounts, flush } = await openAccountService({
  store: await openStore(url, { leaseMs: Number(leaseMs) }),
  price: (model) => MODELS.includes(model) ? PRICE : undefined,
  heartbeatMs: 100,
});

const LANES = 8;
/** Before a refused call is made again. */
const PAUSE_MS = 20;
const encoder = new TextEncoder();

function delay(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/**
 * Written synchronously in one piece: a line that was written stays written even if the
 * process is killed at once.
 */
function print(answer: unknown): void {
  Deno.stdout.writeSync(encoder.encode(`${JSON.stringify(answer)}\n`));
}

/**
 * Serves one call. With `prints` it prints the call, as if its reply had reached the client.
 * Returns the cost.
 */
async function serve(
  caller: Caller,
  prints: boolean,
  lastsMs = 0,
): Promise<number> {
  const requestId = crypto.randomUUID();
  const reservation = await accounts.reserve(caller, {
    requestId,
    model: "small",
    inputTokens: 10,
    maxOutputTokens: 20,
  });
  const output = requestId.charCodeAt(0) % 20;
  await reservation.durable();
  if (lastsMs > 0) await delay(lastsMs);
  if (prints) print({ requestId, output });
  settleWhole(reservation, 10, output);
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

async function execute(command: ProcessCommand): Promise<void> {
  switch (command.do) {
    case "authenticate":
      print(!await isRefused(accounts.authenticate([command.key])));
      return;
    case "spend": {
      // Ten calls at a time, until the balance is spent.
      const caller = await accounts.authenticate([command.key]);
      let spent = 0;
      const lane = async (): Promise<void> => {
        while (
          !await isRefused(serve(caller, false).then((cost) => spent += cost))
        );
      };
      await Promise.all(Array.from({ length: 10 }, lane));
      print(spent);
      return;
    }
    case "load": {
      const callers = await Promise.all(
        command.keys.map((key) => accounts.authenticate([key])),
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
    case "serve": {
      const callers = await Promise.all(
        command.keys.map((key) => accounts.authenticate([key])),
      );
      for (let lane = 0; lane < LANES; lane++) {
        void (async () => {
          for (let at = lane;; at++) {
            const caller = callers[at % callers.length];
            if (caller === undefined) return;
            // Refused while the store cannot be reached.
            if (await isRefused(serve(caller, true, 1 + 20 * (at % LANES)))) {
              await delay(PAUSE_MS);
            }
          }
        })();
      }
      return;
    }
    case "flush":
      print("flushing");
      await flush();
      print("flushed");
      return;
    case "end":
      await accounts.close();
      print("ended");
      return;
  }
}

print("ready");
let rest = "";
for await (
  const text of Deno.stdin.readable.pipeThrough(new TextDecoderStream())
) {
  const lines = (rest + text).split("\n");
  rest = lines.pop() ?? "";
  // The input was written by processes.ts.
  for (const line of lines) await execute(JSON.parse(line) as ProcessCommand);
}
