/**
 * The image: built twice from packages, judged by tools that did not build it, and run by an OCI
 * runtime. Takes about half a minute of processor time.
 */
import assert from "node:assert/strict";
import { Spec, Validation } from "cyclonedx";
import { join } from "node:path";
import {
  ENTRYPOINT,
  ENVIRONMENT,
  HEALTH_CHECK,
  PLACES,
  USER,
} from "../../deploy/image/places.ts";
import { run } from "../../deploy/image/run.ts";
import {
  POSTGRES_PROGRAMS,
  startPostgresServer,
} from "../../gateway/accounts/testing/postgres_server.ts";
import { collected } from "../support/programs/collected_program.ts";
import { freePort } from "../../gateway/accounts/testing/free_port.ts";
import { UnpackedImage, whyNoContainer } from "../support/deploy/container.ts";
import { smallBody } from "../support/small_body.ts";
import { temporaryFolder } from "../support/temporary_folder.ts";
import { bearer } from "../support/clients/bearer.ts";

const ROOT = new URL("../../", import.meta.url).pathname;
/** Most bytes of the unpacked file system. */
const MAX_BYTES = 220e6;

const NGINX = "/usr/sbin/nginx";
const hasNginx = await run(NGINX, ["-v"]).then(() => true, () => false);

const why = await whyNoContainer();
if (why !== undefined) {
  // deno-lint-ignore no-console
  console.log(`No container runs here, so the image is not tested: ${why}`);
}

Deno.test({
  name:
    "the image is reproducible, small and complete, and its container writes only to its volume and survives kill -9 (skipped where no container runs)",
  ignore: why !== undefined,
  async fn(t) {
    await using folder = await temporaryFolder();
    // For the image's user, who is not the test's.
    await Deno.chmod(folder.path, 0o755);
    const [archive, other] = await Promise.all(
      ["one", "two"].map((name) => build(join(folder.path, name))),
    );
    assert.ok(archive !== undefined && other !== undefined);
    await t.step("two builds are equal byte for byte", async () => {
      await run("cmp", [archive, other]);
    });
    const image = await UnpackedImage.unpack(archive, folder.path);
    await t.step("it is small", async () => {
      const bytes = Number(
        (await run("du", ["-sb", image.root])).split("\t")[0],
      );
      assert.ok(bytes > 100e6 && bytes <= MAX_BYTES, `${bytes} bytes`);
    });
    await t.step("it has neither a shell nor anything of tests", () => {
      const files = [...filesIn(image.root)];
      assert.ok(files.includes("app/main.ts"), "hardly any file was found");
      assert.deepEqual(
        files.filter((path) =>
          /(^|\/)(sh|bash|dash|busybox)$|^app\/.*(_test\.|\/testing\/)|^app\/(tests|conformance|bench)\//
            .test(path)
        ),
        [],
      );
      for (const name of ["openai", "playwright-core", "typescript"]) {
        assert.ok(!files.some((path) => path.includes(`/${name}/`)), name);
      }
    });
    await t.step(
      "its bill of materials is complete and valid",
      () => assertBill(image.root),
    );
    await t.step(
      "its container keeps what it stored through kill -9",
      () => runAndKill(image),
    );
    await t.step(
      "its container writes to its volume alone",
      () => assertReadOnly(image),
    );
    await t.step({
      name:
        "two containers on Postgres behind the nginx of compose.yaml lose no call when one is killed (skipped without either)",
      ignore: POSTGRES_PROGRAMS === undefined || !hasNginx,
      fn: () => runTwo(image, folder.path),
    });
  },
});

Deno.test("the image's command has the permissions of task start", async () => {
  const { tasks } = JSON.parse(await Deno.readTextFile(`${ROOT}deno.json`));
  const kinds = (words: readonly string[]): string[] =>
    words.flatMap((word) =>
      word.startsWith("--allow-") ? [word.replace(/(read|write)=.*/, "$1")] : []
    ).toSorted();
  assert.deepEqual(kinds(ENTRYPOINT), kinds(tasks.start.split(" ")));
});

Deno.test("the Containerfile makes an image of the same settings", async () => {
  const text = (await Deno.readTextFile(`${ROOT}deploy/Containerfile`))
    .replaceAll("\\\n", "");
  const value = (instruction: string): string =>
    new RegExp(`^${instruction}(?: --\\S+)*\\s+(.*)$`, "m").exec(
      text.slice(text.indexOf("FROM scratch")),
    )?.[1] ?? "";
  assert.deepEqual(JSON.parse(value("ENTRYPOINT")), ENTRYPOINT);
  assert.deepEqual(
    JSON.parse(value("HEALTHCHECK").replace("CMD ", "")),
    HEALTH_CHECK,
  );
  assert.deepEqual(
    Object.fromEntries(
      value("ENV").split(/\s+/).map((pair) => pair.split("=")),
    ),
    ENVIRONMENT,
  );
  assert.equal(value("USER"), `${USER}:${USER}`);
  assert.deepEqual(JSON.parse(value("VOLUME")), [`/${PLACES.data}`]);
  assert.equal(value("WORKDIR"), "/");
  assert.equal(value("STOPSIGNAL"), "SIGTERM");
});

async function build(to: string): Promise<string> {
  await run(Deno.execPath(), ["task", "image", `--to=${to}`], {
    cwd: ROOT,
    env: { SOURCE_DATE_EPOCH: "1764000000" },
  });
  return join(to, "model-gateway.oci.tar");
}

function* filesIn(folder: string, below = ""): Generator<string> {
  for (const { name, isDirectory } of Deno.readDirSync(join(folder, below))) {
    const path = join(below, name);
    if (isDirectory) yield* filesIn(folder, path);
    else yield path;
  }
}

interface Bill {
  metadata: { component: { "bom-ref": string } };
  dependencies: { ref: string; dependsOn: string[] }[];
  components: {
    name: string;
    version: string;
    purl: string;
    hashes?: { content: string }[];
    licenses: object[];
  }[];
}

async function assertBill(root: string): Promise<void> {
  const text = await Deno.readTextFile(join(root, PLACES.sbom));
  const validator = new Validation.JsonStrictValidator(Spec.Version.v1dot6);
  assert.equal(await validator.validate(text), null);
  const { components, dependencies, metadata }: Bill = JSON.parse(text);
  const graph = new Map(
    dependencies.map(({ ref, dependsOn }) => [ref, dependsOn]),
  );
  const reached = new Set<string>();
  const reach = (ref: string): void => {
    if (reached.has(ref)) return;
    reached.add(ref);
    graph.get(ref)?.forEach(reach);
  };
  reach(metadata.component["bom-ref"]);
  assert.deepEqual(
    components.map(({ purl }) => purl).filter((purl) => !reached.has(purl)),
    [],
    "nothing brings them in",
  );
  assert.equal(reached.size, components.length + 1);
  const npm = new Map(
    components.filter(({ purl }) => purl.startsWith("pkg:npm/")).map((one) => [
      `${one.name}@${one.version}`,
      one,
    ]),
  );
  const cache = join(root, PLACES.packages, "npm/registry.npmjs.org");
  const found = [...filesIn(cache)].flatMap((path) =>
    /^((?:@[^/]+\/)?[^/]+)\/([^/]+)\/package\.json$/.exec(path)?.slice(1)
      .join("@") ?? []
  );
  assert.ok(found.length > 50, "hardly any package was found");
  for (const name of found) assert.ok(npm.has(name), `${name} is not listed`);
  // With the runtime.
  assert.equal(npm.size, found.length + 1);
  const lock: { npm: Record<string, { integrity: string }> } = JSON.parse(
    await Deno.readTextFile(`${ROOT}deno.lock`),
  );
  const locked = new Map(
    Object.entries(lock.npm).map(([key, { integrity }]) => [
      /^@?[^@]+@[^_]+/.exec(key)?.[0],
      integrity,
    ]),
  );
  for (const name of found) {
    const hash = npm.get(name)?.hashes?.[0]?.content ?? "";
    assert.equal(
      `sha512-${Uint8Array.fromHex(hash).toBase64()}`,
      locked.get(name),
    );
  }
  const debian = await Array.fromAsync(
    Deno.readDir(join(root, "var/lib/dpkg/status.d")),
  );
  assert.equal(components.length, npm.size + debian.length);
  const licences = await Deno.readTextFile(join(root, PLACES.licences));
  for (const { name, version, licenses } of components) {
    assert.ok(licenses.length > 0, name);
    assert.match(
      licences,
      new RegExp(`^${name}  ${RegExp.escape(version)}  .`, "m"),
    );
  }
}

const OWN_KEY = "sk-0123456789abcdefghij";
const STARTED = /^Model gateway at (\S+)$/m;

/** What a streamed call ends with: `ok`, or the status of a reply that is not complete. */
async function streamed(url: string): Promise<number | "ok"> {
  const response = await fetch(`${url}/v1/messages`, {
    method: "POST",
    headers: { "x-api-key": OWN_KEY, "content-type": "application/json" },
    body: JSON.stringify(smallBody({ stream: true })),
  });
  const text = await response.text();
  return text.includes("event: message_stop") ? "ok" : response.status;
}

async function runTwo(image: UnpackedImage, folder: string): Promise<void> {
  await using postgres = await startPostgresServer();
  const secret = (name: string, text: string): string => {
    Deno.writeTextFileSync(join(image.volume, name), text);
    return `/${PLACES.data}/${name}`;
  };
  const env = {
    HOST: "127.0.0.1",
    GATEWAY_UPSTREAM: "replay",
    DATABASE_URL_FILE: secret("database_url", `${postgres.url}\n`),
    GATEWAY_STORE_KEY_FILE: secret("store_key", "0".repeat(32)),
    GATEWAY_KEY_FILE: secret("key", OWN_KEY),
  };
  const [port = "", otherPort = "", proxyPort = ""] = [0, 1, 2].map(freePort);
  await using first = image.start({ ...env, PORT: port });
  await using second = image.start({ ...env, PORT: otherPort });
  await Promise.all([first.printed(STARTED), second.printed(STARTED)]);
  const conf = join(folder, "nginx.conf");
  await Deno.mkdir(join(folder, "nginx"));
  await Deno.writeTextFile(
    conf,
    (await Deno.readTextFile(`${ROOT}deploy/nginx/nginx.conf`))
      .replace("gateway-1:8787", `127.0.0.1:${port}`)
      .replace("gateway-2:8787", `127.0.0.1:${otherPort}`)
      .replace("listen 8080;", `listen 127.0.0.1:${proxyPort};`)
      .replaceAll("/tmp/", `${folder}/nginx/`),
  );
  await using nginx = collected(
    new Deno.Command(NGINX, {
      args: [
        ...["-c", conf, "-e", "stderr"],
        ...["-g", "daemon off; error_log stderr notice;"],
      ],
      stdin: "null",
      stdout: "piped",
      stderr: "piped",
    }).spawn(),
  );
  await nginx.printed(/start worker process \d/);
  const url = `http://127.0.0.1:${proxyPort}`;
  const assertServes = async (): Promise<void> => {
    for (let call = 0; call < 10; call++) {
      assert.equal(await streamed(url), "ok", nginx.output());
    }
  };
  await assertServes();
  for (const path of ["/metrics", "/admin/v1/accounts", "/console/operator"]) {
    const hidden = await fetch(url + path);
    assert.equal(hidden.status, 404, path);
    await hidden.body?.cancel();
  }
  Deno.kill(first.pid, "SIGKILL");
  await first.ended;
  await assertServes();
  nginx.signal("SIGQUIT");
  await nginx.ended;
}

async function runAndKill(image: UnpackedImage): Promise<void> {
  const env = {
    HOST: "127.0.0.1",
    PORT: freePort(),
    GATEWAY_UPSTREAM: "replay",
  };
  const url = `http://127.0.0.1:${env.PORT}`;
  const call = async (key: string): Promise<void> => {
    const response = await fetch(
      `${url}/v1/chat/completions`,
      bearer(key, {
        model: "vendorb-5",
        messages: [{ role: "user", content: "Hi" }],
      }),
    );
    assert.equal(response.status, 200, await response.text());
  };
  let key: string;
  {
    await using container = image.start(env);
    await container.printed(STARTED);
    key = /^Key, shown this once: (\S+)$/m.exec(container.output)?.[1] ?? "";
    await call(key);
    const status = await Deno.readTextFile(`/proc/${container.pid}/status`);
    for (
      const line of [
        `Uid:\t${Array(4).fill(USER).join("\t")}`,
        `Gid:\t${Array(4).fill(USER).join("\t")}`,
        ...["Prm", "Eff", "Bnd", "Amb"].map((set) =>
          `Cap${set}:\t0000000000000000`
        ),
        "NoNewPrivs:\t1",
      ]
    ) assert.ok(status.includes(`${line}\n`), `${line} is not in:\n${status}`);
    await using check = image.start(env, HEALTH_CHECK);
    assert.equal(await check.ended, 0, check.output);
    // Disposed of: killed.
  }
  await using check = image.start(env, HEALTH_CHECK);
  assert.notEqual(await check.ended, 0, "nothing listens any more");
  await using again = image.start(env);
  await again.printed(STARTED);
  await call(key);
  await using audit = image.start({}, [
    `/${PLACES.deno}`,
    "task",
    "admin",
    "ledger",
    "audit",
  ]);
  assert.equal(await audit.ended, 0, audit.output);
  assert.match(audit.output, /The books balance/);
  Deno.kill(again.pid, "SIGTERM");
  assert.equal(await again.ended, 0, again.output);
}

/** Tries to write everywhere, with every permission that Deno can give. */
const WRITER = `
  const written = [];
  for (const folder of ["/", "/app", "/data", "/dev", "/etc", "/run", "/tmp", "/usr", "/usr/bin", "/var", "/var/cache/deno"]) {
    try {
      Deno.writeTextFileSync(folder + "/written", "");
      written.push(folder);
    } catch (error) {
      if (!/os error (30|13)/.test(error.message)) throw error;
    }
  }
  console.log("written: " + written.join());
`;

async function assertReadOnly(image: UnpackedImage): Promise<void> {
  await using container = image.start({}, [
    `/${PLACES.deno}`,
    "eval",
    "--no-config",
    WRITER,
  ]);
  assert.equal(await container.ended, 0, container.output);
  assert.match(container.output, /^written: \/data$/m);
}
