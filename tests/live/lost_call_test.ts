/** A call whose process was killed: how it ended and what was charged is found all the same. */
import assert from "node:assert/strict";
import {
  chunk,
  framesOf,
  STREAM_HEAD,
} from "../support/upstreams/upstream_bytes.ts";
import { ADMIN_TOKEN, visit } from "../support/console/visitor.ts";
import { startProgram } from "../support/programs/program.ts";
import { startRawUpstream } from "../support/upstreams/raw_upstream.ts";
import { until } from "../support/until.ts";
import { withTimeout } from "../support/with_timeout.ts";
import { temporaryFolder } from "../support/temporary_folder.ts";
import { bearer } from "../support/clients/bearer.ts";

const KEY = "sk-0123456789abcdefghij";

Deno.test("a call that was lost with its process is charged as estimated, and its page links to the line", async () => {
  await using folder = await temporaryFolder();
  await using upstream = await startRawUpstream();
  const { baseUrl } = upstream.vendors.vendora;
  const options = {
    folder: folder.path,
    env: {
      VENDORA_API_KEY: "a-vendor-key",
      VENDORA_BASE_URL: baseUrl,
      GATEWAY_KEY: KEY,
      GATEWAY_ADMIN_TOKEN: ADMIN_TOKEN,
    },
  };
  const killed = await startProgram(options);
  await using other = await startProgram(options);
  // The reply begins and never ends.
  upstream.answer(({ socket }) =>
    socket.send(
      STREAM_HEAD +
        framesOf("text", "messages").slice(0, 3).map(chunk).join(""),
    )
  );
  const reply = await killed.call(KEY, { stream: true });
  const id = reply.headers.get("request-id") ?? "";
  const reader = reply.body?.getReader();
  await reader?.read();
  // Its last report on the call, which others show, outlives the process.
  await withTimeout(
    until(async () =>
      (await (await fetch(
        `${other.url}/admin/v1/calls/under-way`,
        bearer(ADMIN_TOKEN),
      )).text()).includes(id)
    ),
    "the report",
  );
  killed.signal("SIGKILL");
  await killed.ended;
  await reader?.cancel().catch(() => {});

  await using program = await startProgram(options);
  const call = await (await fetch(
    `${program.url}/admin/v1/calls/${id}`,
    bearer(ADMIN_TOKEN),
  )).json();
  assert.equal(call.ended, "lost");
  assert.equal(call.estimated, true);
  assert.ok(call.micro_usd > 0);
  const ledger = await (await fetch(
    `${program.url}/admin/v1/ledger?request_id=${id}`,
    bearer(ADMIN_TOKEN),
  )).json();
  const [entry] = ledger.data;
  assert.equal(entry.micro_usd, 0 - call.micro_usd);
  assert.equal(entry.seq, call.ledger_seq);
  const operator = await visit(program.url, "operator", ADMIN_TOKEN);
  const html = await operator.read(`/console/operator/calls/${id}`);
  assert.match(html, /<span class="tag bad">lost/);
  assert.ok(html.includes(`<data value="${call.micro_usd}"`));
  assert.match(
    html,
    new RegExp(
      `Line #${entry.seq} of the ledger. <a href="/console/operator/ledger\\?request_id=${id}"`,
    ),
  );
  // Its attempts were lost with it.
  assert.doesNotMatch(html, /nothing was sent to a vendor/);
});
