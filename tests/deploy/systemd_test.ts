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

Deno.test("a process that cannot start is started again for ever", async () => {
  assert.deepEqual(values(await unitText(), "StartLimitIntervalSec"), ["0"]);
});

/** `model-gateway-admin` as installed, with the places of the unit in a folder. */
async function installAdmin(folder: string): Promise<string> {
  const root = new URL("../..", import.meta.url).pathname;
  const tree = join(folder, "tree");
  for (
    const path of [
      "tree/usr/bin",
      "tree/var/cache",
      "settings",
      "state/data",
      "here",
    ]
  ) {
    await Deno.mkdir(join(folder, path), { recursive: true });
  }
  await Deno.symlink(Deno.execPath(), join(tree, "usr/bin/deno"));
  await Deno.symlink(root, join(tree, "app"));
  const { denoDir } = JSON.parse(
    await run(Deno.execPath(), ["info", "--json"]),
  );
  await Deno.symlink(denoDir, join(tree, "var/cache/deno"));
  const script = join(folder, "model-gateway-admin");
  const text = await Deno.readTextFile(join(FOLDER, "model-gateway-admin"));
  await Deno.writeTextFile(
    script,
    text.replaceAll(TREE, tree)
      .replaceAll("/etc/model-gateway", join(folder, "settings"))
      .replaceAll("/var/lib/model-gateway", join(folder, "state")),
    { mode: 0o755 },
  );
  return script;
}

Deno.test("model-gateway-admin works on the units' store with their secrets and settings, from any folder", async () => {
  await using folder = await temporaryFolder();
  const script = await installAdmin(folder.path);
  const here = { cwd: join(folder.path, "here") };
  const settings = join(folder.path, "settings");
  await Deno.writeTextFile(
    join(settings, "admin_token"),
    "an-admin-token-of-this-test",
  );
  await Deno.writeTextFile(
    join(settings, "store_key"),
    "a-key-of-this-test-of-32-chars--",
  );
  await run(script, ["plans", "create", "--id", "team"], here);
  await Deno.stat(join(folder.path, "state/data/gateway.sqlite3"));
  // A file of the present folder.
  await Deno.writeTextFile(
    join(here.cwd, "teams.csv"),
    "account,plan\na-team,team\n",
  );
  await run(script, ["accounts", "import", "teams.csv", "--apply"], here);
  assert.match(await run(script, ["accounts", "list"], here), /a-team/);
  // The address is a secret of its own, and a setting is read.
  await Deno.writeTextFile(
    join(settings, "database_url"),
    `sqlite:${folder.path}/state/other.sqlite3`,
  );
  await Deno.writeTextFile(
    join(settings, "settings.env"),
    "GATEWAY_CALLS_DAYS=no\n",
  );
  await assert.rejects(
    run(script, ["plans", "list"], here),
    /GATEWAY_CALLS_DAYS/,
  );
  await Deno.writeTextFile(
    join(settings, "settings.env"),
    "GATEWAY_CALLS_DAYS=3\n",
  );
  assert.doesNotMatch(await run(script, ["accounts", "list"], here), /a-team/);
});
