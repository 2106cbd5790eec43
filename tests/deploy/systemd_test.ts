/**
 * `deploy/systemd/`: the unit is valid and hardened by systemd's judgement; it starts the program.
 */
import assert from "node:assert/strict";
import { basename, join } from "node:path";
import { ENTRYPOINT } from "../../deploy/image/places.ts";
import { run } from "../../deploy/image/run.ts";
import { assertSettings } from "../support/deploy/deployed.ts";
import { temporaryFolder } from "../support/temporary_folder.ts";

const FOLDER = new URL("../../deploy/systemd/", import.meta.url).pathname;
const UNIT = "model-gateway@.service";
const TREE = "/opt/model-gateway";
/** The exposure of the service, at most: 10 is a service without any protection. */
const MAX_EXPOSURE = 2.5;

const hasSystemd = await run("systemd-analyze", ["--version"]).then(
  () => true,
  () => false,
);

/** The values of an option of the unit and its addition for Postgres. */
function values(text: string, option: string): string[] {
  return [...text.matchAll(new RegExp(`^${option}=(.*)$`, "gm"))].map((
    [, value = ""],
  ) => value);
}

async function unitText(): Promise<string> {
  const texts = [UNIT, `${UNIT}.d/postgres.conf`].map((path) =>
    Deno.readTextFile(join(FOLDER, path))
  );
  return (await Promise.all(texts)).join("\n");
}

Deno.test({
  name:
    "the unit is valid and exposed by 2.5 of 10 at most, by systemd-analyze (skipped without it)",
  ignore: !hasSystemd,
  async fn() {
    await using folder = await temporaryFolder();
    // With the tree at a place that exists.
    const tree = join(folder.path, "tree");
    await Deno.mkdir(join(tree, "usr/bin"), { recursive: true });
    await Deno.symlink("/bin/true", join(tree, "usr/bin/deno"));
    const drop = join(folder.path, `${UNIT}.d`);
    await Deno.mkdir(drop);
    for (
      const [source, target] of [
        [UNIT, join(folder.path, UNIT)],
        [`${UNIT}.d/postgres.conf`, join(drop, "postgres.conf")],
      ] as const
    ) {
      const text = await Deno.readTextFile(join(FOLDER, source));
      await Deno.writeTextFile(target, text.replaceAll(TREE, tree));
    }
    await run("systemd-analyze", ["verify", join(folder.path, UNIT)]);
    const judged = await run("systemd-analyze", [
      "security",
      "--offline=yes",
      "--no-pager",
      join(folder.path, UNIT),
    ]);
    const exposure = Number(
      /Overall exposure level for .*: ([\d.]+) /.exec(judged)?.[1],
    );
    assert.ok(exposure > 0 && exposure <= MAX_EXPOSURE, judged);
  },
});

Deno.test("the unit runs the image's command with its state in one folder", async () => {
  const [command = ""] = values(await unitText(), "ExecStart");
  const flags = (words: readonly string[]) =>
    words.filter((word) => !/^--allow-(read|write)=/.test(word));
  assert.deepEqual(
    flags(command.replaceAll(TREE, "").split(" ")),
    flags(ENTRYPOINT),
  );
  assert.match(command, / --allow-write=%S\/model-gateway /);
  assert.match(
    command,
    / --allow-read=\/opt\/model-gateway\/app,%S\/model-gateway,\/etc\/model-gateway,%d /,
  );
});

Deno.test("the unit has settings, secrets as credentials, and time to end", async () => {
  const text = await unitText();
  assert.deepEqual(values(text, "LimitCORE"), ["0"]);
  assertSettings(
    Object.fromEntries(
      values(text, "Environment").map((pair) => pair.split("=", 2)),
    ),
    {
      readable: values(text, "LoadCredential").map((one) => {
        const [name = "", path = ""] = one.split(":");
        assert.equal(basename(path), name);
        return `%d/${name}`;
      }),
      graceSeconds: Number(values(text, "TimeoutStopSec")[0]),
    },
  );
});
