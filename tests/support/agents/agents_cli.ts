/**
 * `deno task agents`: the agent's table, a line for each step of each session. With names of hosts
 * (`tests/support/upstreams/strict_hosts/hosts.ts`), theirs alone; with `--write`, the table of
 * `docs/agents.md` is made from all. Exits with 1 where a step is wrong.
 */
import { STRICT_HOSTS } from "../upstreams/strict_hosts/hosts.ts";
import { AGENT_PAGE, hostTable, pageWith, tableText } from "./agent_page.ts";
import { agentTable } from "./agent_table.ts";

const isWritten = Deno.args.includes("--write");
const named = Deno.args.filter((one) => one !== "--write");
const unknown = named.filter((one) => STRICT_HOSTS[one] === undefined);
if (unknown.length > 0 || (isWritten && named.length > 0)) {
  // deno-lint-ignore no-console
  console.info("deno task agents [--write | HOST…]");
  Deno.exit(named.includes("--help") ? 0 : 2);
}
const rows = await agentTable(named.length === 0 ? undefined : named);
// deno-lint-ignore no-console
console.info(tableText(rows));
if (isWritten) {
  const page = await Deno.readTextFile(AGENT_PAGE);
  await Deno.writeTextFile(AGENT_PAGE, pageWith(page, hostTable(rows)));
}
const isRight = rows.every(({ session }) =>
  Object.values(session).every(({ faults }) => faults.length === 0)
);
Deno.exit(isRight ? 0 : 1);
