/** Secrets in files, as containers and services mount them, that change while the gateway runs. */
import assert from "node:assert/strict";
import { startHostUpstream } from "../support/upstreams/host_upstream.ts";
import { startProgram } from "../support/programs/program.ts";
import { temporaryFolder } from "../support/temporary_folder.ts";
import { bearer } from "../support/clients/bearer.ts";

const FIRST = {
  GATEWAY_KEY: "sk-canary-key-first-0123456789",
  GATEWAY_ADMIN_TOKEN: "canary-admin-first-0123456789",
  VENDORA_API_KEY: "canary-vendor-first-0123456789",
};
const SECOND = {
  GATEWAY_KEY: "sk-canary-key-second-0123456789",
  GATEWAY_ADMIN_TOKEN: "canary-admin-second-0123456789",
  VENDORA_API_KEY: "canary-vendor-second-0123456789",
};

Deno.test("changed files of secrets take effect without a restart, and the old secrets end", async () => {
  await using vendor = startHostUpstream();
  await using folder = await temporaryFolder();
  const write = async (secrets: typeof FIRST): Promise<void> => {
    for (const [name, text] of Object.entries(secrets)) {
      await Deno.writeTextFile(`${folder.path}/${name}`, `${text}\n`);
    }
  };
  await write(FIRST);
  await using program = await startProgram({
    folder: folder.path,
    env: {
      ...Object.fromEntries(
        Object.keys(FIRST).map((
          name,
        ) => [`${name}_FILE`, `${folder.path}/${name}`]),
      ),
      VENDORA_BASE_URL: vendor.url,
    },
  });
  const call = async (key: string): Promise<number> => {
    const response = await program.call(key);
    await response.body?.cancel();
    return response.status;
  };
  const administer = async (token: string): Promise<number> => {
    const response = await fetch(
      `${program.url}/admin/v1/settings`,
      bearer(token),
    );
    const text = await response.text();
    assert.doesNotMatch(text, /canary/);
    return response.status;
  };
  // Old and new are tried before as well: what is known of a key must not outlive its change.
  assert.equal(await call(FIRST.GATEWAY_KEY), 200);
  assert.equal(await call(SECOND.GATEWAY_KEY), 401);
  assert.equal(await administer(FIRST.GATEWAY_ADMIN_TOKEN), 200);
  assert.equal(await administer(SECOND.GATEWAY_ADMIN_TOKEN), 401);
  await write(SECOND);
  program.signal("SIGHUP");
  await program.printed(
    /"configuration_loaded".*"secrets":\["VENDORA_API_KEY","GATEWAY_KEY","GATEWAY_ADMIN_TOKEN"\]/,
  );
  assert.equal(await call(FIRST.GATEWAY_KEY), 401);
  assert.equal(await call(SECOND.GATEWAY_KEY), 200);
  assert.equal(await administer(FIRST.GATEWAY_ADMIN_TOKEN), 401);
  assert.equal(await administer(SECOND.GATEWAY_ADMIN_TOKEN), 200);
  assert.deepEqual(
    vendor.requests.map(({ headers }) => headers.get("x-api-key")),
    [FIRST.VENDORA_API_KEY, SECOND.VENDORA_API_KEY],
  );
  // Without a signal, by looking at the files: one that is gone is refused, and the old one stays.
  await Deno.remove(`${folder.path}/GATEWAY_ADMIN_TOKEN`);
  await program.printed(
    /"configuration_refused".*GATEWAY_ADMIN_TOKEN_FILE: there is no file/,
  );
  assert.equal(await administer(SECOND.GATEWAY_ADMIN_TOKEN), 200);
  const changes = await fetch(
    `${program.url}/admin/v1/changes?action=configuration.load&limit=1`,
    bearer(SECOND.GATEWAY_ADMIN_TOKEN),
  );
  const { data: [change] } = await changes.json();
  const { "key of vendora": mark, ...named } = change.after;
  assert.match(mark, /^set, mark \w{4}$/);
  assert.deepEqual(named, {
    VENDORA_API_KEY: "changed",
    GATEWAY_KEY: "changed",
    GATEWAY_ADMIN_TOKEN: "changed",
  });
  program.signal("SIGTERM");
  assert.equal(await program.ended, 0, program.output());
  assert.doesNotMatch(program.output(), /canary/);
});
