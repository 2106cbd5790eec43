/**
 * An agent's session at every host: each preset, each kind of host, each client format, whole and
 * streamed, against hosts that refuse what the real ones refuse.
 */
import assert from "node:assert/strict";
import { HOST_KINDS } from "../../gateway/upstream/hosts/hosts.ts";
import { PRESETS } from "../../gateway/upstream/hosts/presets.ts";
import {
  AGENT_PAGE,
  hostTable,
  pageWith,
  unknownLosses,
  verdictText,
} from "../support/agents/agent_page.ts";
import { agentTable } from "../support/agents/agent_table.ts";
import { STRICT_HOSTS } from "../support/upstreams/strict_hosts/hosts.ts";

Deno.test("the table has every kind of host and every preset", () => {
  const hosts = Object.values(STRICT_HOSTS);
  assert.deepEqual(
    [...new Set(hosts.map(({ kind }) => kind))].toSorted(),
    [...HOST_KINDS].toSorted(),
  );
  assert.deepEqual(
    [...new Set(hosts.flatMap(({ preset }) => preset ?? []))].toSorted(),
    Object.keys(PRESETS).toSorted(),
  );
});

Deno.test("every rule of a strict host refuses its bad body, and has a source", () => {
  let read = 0;
  for (const [name, { rules }] of Object.entries(STRICT_HOSTS)) {
    for (const rule of Object.values(rules).flat()) {
      assert.ok(rule.refuses(rule.bad, name), `${name}: ${rule.words}`);
      assert.match(rule.source, /\S[./ ]\S/, rule.words);
      read++;
    }
  }
  assert.ok(read > 200, "hardly any rule was found");
});

Deno.test("an agent can work at every host, or is refused by what the host lacks", async () => {
  const rows = await agentTable();
  const wrong = rows.flatMap(({ host, client, stream, other, session }) =>
    Object.entries(session).filter(([, { faults }]) => faults.length > 0).map((
      [step, verdict],
    ) =>
      `${host}, ${client.name}, ${
        stream ? "streamed" : "whole"
      }, ${other}, ${step}: ${verdictText(verdict)}`
    )
  );
  assert.deepEqual(wrong, []);
  assert.deepEqual(unknownLosses(rows), []);
  const page = await Deno.readTextFile(AGENT_PAGE);
  assert.equal(
    page,
    pageWith(page, hostTable(rows)),
    "deno task agents --write",
  );
});
