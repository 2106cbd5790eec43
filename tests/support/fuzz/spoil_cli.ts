/**
 * `deno task fuzz KIND COUNT SEED`: tries COUNT spoiled inputs of a kind (`requests`, `replies`,
 * `embeddings`, `admin`, `forms`, `invoices` or `replay`), prints each distinct defect once with
 * its body, and exits with 1 if there are any.
 */
import { trySpoiledAdmin } from "./spoiled_admin.ts";
import { trySpoiledEmbeddings } from "./spoiled_embeddings.ts";
import { trySpoiledForms } from "./spoiled_forms.ts";
import { trySpoiledInvoices } from "./spoiled_invoices.ts";
import { trySpoiledReplay } from "./spoiled_replay.ts";
import { trySpoiledReplies } from "./spoiled_replies.ts";
import { type Defect, trySpoiledRequests } from "./spoiled_requests.ts";

const [kind = "requests", count = "20000", seed = "1"] = Deno.args;
const TRIES: Readonly<
  Record<
    string,
    (count: number, seed: number, found: (defect: Defect) => void) => unknown
  >
> = {
  requests: trySpoiledRequests,
  replies: trySpoiledReplies,
  embeddings: trySpoiledEmbeddings,
  admin: trySpoiledAdmin,
  forms: trySpoiledForms,
  invoices: trySpoiledInvoices,
  replay: trySpoiledReplay,
};

// deno-lint-ignore no-console
const print = console.log;
const seen = new Map<string, number>();
const run = TRIES[kind];
if (run === undefined || !/^\d+$/.test(count) || !/^\d+$/.test(seed)) {
  print(`deno task fuzz [KIND] [COUNT] [SEED]; KIND: ${Object.keys(TRIES)}`);
  Deno.exit(kind === "--help" ? 0 : 2);
}
const tally = await run(Number(count), Number(seed), (defect) => {
  const { error } = defect;
  const trace = error instanceof Error
    ? error.stack?.split("\n").slice(0, 3).join("\n").slice(0, 1_000) ??
      error.message
    : String(error);
  const times = seen.get(trace) ?? 0;
  seen.set(trace, times + 1);
  if (times === 0) {
    print(`${defect.where}\n${trace}\n${defect.body.slice(0, 5_000)}\n`);
  }
});
print(tally, `${seen.size} distinct defects`);
if (seen.size > 0) Deno.exit(1);
