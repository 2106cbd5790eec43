/** The suite runs without the rest of the repository: its folder and `replay/` are enough. */
import assert from "node:assert/strict";
import { startReplay } from "@model-gateway/replay";
import { startReferenceGateway } from "./reference_gateway/gateway.ts";

const KEY = "sk-alone-5d1c9f02";

async function copyFolder(from: URL, to: string): Promise<void> {
  await Deno.mkdir(to);
  for await (const { name, isDirectory } of Deno.readDir(from)) {
    const source = new URL(isDirectory ? `${name}/` : name, from);
    if (isDirectory) await copyFolder(source, `${to}/${name}`);
    else await Deno.copyFile(source, `${to}/${name}`);
  }
}

Deno.test("a copy of conformance/ and replay/ judges a running gateway", async () => {
  const folder = await Deno.makeTempDir({ prefix: "conformance-alone-" });
  const upstream = await startReplay();
  const gateway = await startReferenceGateway({
    key: KEY,
    upstreamUrl: upstream.url,
    hooks: {},
  });
  try {
    for (const part of ["conformance", "replay"]) {
      await copyFolder(
        new URL(`../${part}/`, import.meta.url),
        `${folder}/${part}`,
      );
    }
    await Deno.writeTextFile(
      `${folder}/deno.json`,
      JSON.stringify({ workspace: ["./conformance", "./replay"] }),
    );
    const run = async (...flags: string[]) => {
      const { code, stdout } = await new Deno.Command(Deno.execPath(), {
        args: ["run", "--cached-only", "--no-check", "-A", "cli.ts", ...flags],
        cwd: `${folder}/conformance`,
        env: { NO_COLOR: "1", CONFORMANCE_API_KEY: KEY },
      }).output();
      return { code, text: new TextDecoder().decode(stdout) };
    };
    const judged = await run(
      `--base-url=${gateway.url}`,
      "--filter=message_reply.id",
    );
    assert.match(judged.text, /^conformant: [12] passed/m);
    assert.equal(judged.code, 0);
    // There is no gateway to start in a copy.
    const unaimed = await run("--filter=message_reply.id");
    assert.match(unaimed.text, /--base-url is needed/);
    assert.equal(unaimed.code, 2);
  } finally {
    await gateway.close();
    await upstream.close();
    await Deno.remove(folder, { recursive: true });
  }
});
