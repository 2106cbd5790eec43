/** A rewritten record is what the mutant sends. */
import assert from "node:assert/strict";
import { startReplay } from "@model-gateway/replay";
import { SCENARIOS } from "../areas/scenarios.ts";
import type { Exchange } from "../evidence/exchange.ts";
import { Redaction } from "../evidence/redaction.ts";
import type { Hooks } from "../reference_gateway/hooks.ts";
import type { ScenarioRecord } from "../suite/evidence.ts";
import { playOnReference } from "./on_reference.ts";
import { changesOnlyReplies, rewriteRecord } from "./rewrite_record.ts";

const PLAYED = ["text", "responses-replies", "limits"];

const WANTED = SCENARIOS.filter(({ name }) => PLAYED.includes(name));

async function recordsOf(
  hooks: Hooks,
): Promise<ReadonlyMap<string, ScenarioRecord>> {
  await using replay = await startReplay({ keepEntries: 5000 });
  const { records } = await playOnReference(
    replay,
    "replay",
    hooks,
    WANTED,
  );
  return records;
}

/** What a check sees of the replies, without ids, times, and estimates of the request, by label. */
function seen({ exchanges }: ScenarioRecord): unknown {
  const same = (text: string): string =>
    text.replaceAll(/[0-9a-f]{24,32}/g, "ID")
      .replaceAll(/(input_tokens)":\d+/g, '$1":0')
      .replaceAll(/(created(?:_at)?|completed_at)":\d+/g, '$1":0')
      .replaceAll(/#[0-9a-z]+-[0-9a-z]+\]\]/g, "]]");
  return exchanges.map((x: Exchange) => ({
    label: x.label,
    status: x.head?.status,
    headers: x.head?.headers.filter(([name]) => name !== "content-length")
      .map(([name, value]) => `${name}: ${same(value)}`).toSorted(),
    text: same(x.text),
    frames: x.frames.map(({ event, data }) => [event, same(data)]),
    witness: x.witness.length,
    ending: x.ending,
  })).toSorted((a, b) => a.label.localeCompare(b.label));
}

const MUTANTS: Readonly<Record<string, Hooks>> = {
  "changes nothing": { reply: (reply) => reply, frame: (frame) => [frame] },
  "changes bodies and headers": {
    reply: (reply) => ({
      ...reply,
      headers: { ...reply.headers, "x-more": "1" },
      body: { ...reply.body, more: "é" },
    }),
    streamHeaders: (headers) => ({ ...headers, "content-type": "text/plain" }),
  },
  "changes statuses": {
    reply: (reply) => ({ ...reply, status: reply.status === 200 ? 500 : 200 }),
  },
  "changes frames": {
    frame: (frame, { state }) => {
      const count = Number(state.get("count") ?? 0);
      state.set("count", count + 1);
      return count === 1 ? [] : count === 2 ? [frame, frame] : [frame];
    },
  },
  "changes the text of frames": { wire: (text) => text.slice(0, -1) },
};

for (const [name, hooks] of Object.entries(MUTANTS)) {
  Deno.test(`a rewritten record is what a mutant sends that ${name}`, async () => {
    assert.ok(changesOnlyReplies(hooks));
    const [golden, asked] = [await recordsOf({}), await recordsOf(hooks)];
    for (const [scenario, record] of golden) {
      const rewritten = rewriteRecord(record, hooks, new Redaction());
      assert.ok(rewritten !== undefined, scenario);
      const other = asked.get(scenario);
      assert.ok(other !== undefined && record.exchanges.length > 0, scenario);
      assert.deepEqual(seen(rewritten), seen(other));
    }
  });
}

Deno.test("a mutant is asked where its fault is not in a reply, or a request follows from one", () => {
  const redaction = new Redaction();
  assert.equal(changesOnlyReplies({ key: () => "any" }), false);
  const record = {
    scenario: "s",
    exchanges: [],
    notes: {},
    followsReplies: true,
  };
  assert.equal(rewriteRecord(record, {}, redaction), undefined);
});
