/** The store's files belong to the gateway's own user alone, whatever the umask is. */
import assert from "node:assert/strict";
import { startProgram } from "../support/programs/program.ts";
import { withTimeout } from "../support/with_timeout.ts";
import { TEST_KEY } from "../support/test_gateway.ts";
import { temporaryFolder } from "../support/temporary_folder.ts";

const ENV = { GATEWAY_KEY: TEST_KEY, GATEWAY_UPSTREAM: "replay" };

async function modes(folder: string): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  const modeOf = async (path: string): Promise<string> =>
    (((await Deno.stat(path)).mode ?? 0) & 0o777).toString(8);
  found.set("data", await modeOf(`${folder}/data`));
  for await (const { name } of Deno.readDir(`${folder}/data`)) {
    found.set(name, await modeOf(`${folder}/data/${name}`));
  }
  return found;
}

Deno.test({
  name:
    "the store's folder and files are for their owner alone; a start warns of files that others can reach",
  ignore: Deno.build.os === "windows",
  async fn() {
    await using folder = await temporaryFolder();
    const starter = ["/bin/sh", "-c", 'umask 022; exec "$@"', "sh"];
    {
      await using program = await startProgram({
        folder: folder.path,
        env: ENV,
        starter,
      });
      const response = await program.call(TEST_KEY);
      await response.text();
      const found = await modes(folder.path);
      assert.ok(found.has("gateway.sqlite3-wal"));
      for (const [name, mode] of found) {
        assert.equal(mode, name === "data" ? "700" : "600", name);
      }
      program.signal("SIGTERM");
      await withTimeout(program.ended, "the end of the process");
      assert.doesNotMatch(program.output(), /store_readable_by_others/);
    }
    await Deno.chmod(`${folder.path}/data`, 0o755);
    await Deno.chmod(`${folder.path}/data/gateway.sqlite3`, 0o644);
    await using program = await startProgram({
      folder: folder.path,
      env: ENV,
      starter,
    });
    await withTimeout(
      program.printed(
        /"type":"store_readable_by_others","files":\["[^"]*gateway\.sqlite3"/,
      ),
      "the warning",
    );
  },
});
