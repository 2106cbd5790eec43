/** `deploy/compose.yaml`: valid by its schema, hardened, complete with `new_secrets.sh`'s files. */
import assert from "node:assert/strict";
import { Ajv, composeSchema } from "compose-spec";
import { join } from "node:path";
import { HEALTH_CHECK } from "../../deploy/image/places.ts";
import { run } from "../../deploy/image/run.ts";
import { assertSettings } from "../support/deploy/deployed.ts";
import { readDocuments } from "../support/deploy/kustomize.ts";
import { temporaryFolder } from "../support/temporary_folder.ts";

const DEPLOY = new URL("../../deploy/", import.meta.url).pathname;

interface Service {
  readonly image: string;
  readonly user: string;
  readonly read_only: boolean;
  readonly cap_drop: readonly string[];
  readonly security_opt: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly secrets?: readonly string[];
  readonly networks: readonly string[];
  readonly ports?: readonly string[];
  readonly healthcheck: { readonly test: readonly string[] };
  readonly stop_grace_period: string;
  readonly [name: string]: unknown;
}

const [document] = await readDocuments(`${DEPLOY}compose.yaml`);
const compose = document as unknown as {
  readonly services: Readonly<Record<string, Service>>;
  readonly secrets: Readonly<Record<string, { readonly file: string }>>;
  readonly networks: Readonly<Record<string, { readonly internal?: boolean }>>;
};
const services = Object.entries(compose.services);

Deno.test("compose.yaml is valid by the schema of the Compose specification", () => {
  // The schema has ids in the form of an early draft, which the validator refuses.
  const schema = JSON.parse(JSON.stringify(
    composeSchema,
    (name, value) =>
      typeof value === "string" && /^(\$schema|id)$/.test(name)
        ? undefined
        : value,
  ));
  const validate = new Ajv({ strict: false, validateFormats: false }).compile(
    schema,
  );
  // Newer than the published schema.
  const { name, ...rest } = document ?? {};
  assert.equal(name, "model-gateway");
  assert.ok(validate(rest), JSON.stringify(validate.errors));
  assert.ok(!validate({ ...rest, services: { a: { user: 7 } } }));
});

Deno.test("every service of compose.yaml is hardened, bounded and watched", () => {
  assert.deepEqual(services.map(([name]) => name), [
    "gateway-1",
    "gateway-2",
    "postgres",
    "nginx",
  ]);
  for (const [name, service] of services) {
    assert.equal(service.read_only, true, name);
    assert.deepEqual(service.cap_drop, ["ALL"], name);
    assert.deepEqual(service.security_opt, ["no-new-privileges:true"], name);
    assert.match(service.user, /^[1-9]\d*:[1-9]\d*$/, name);
    assert.match(service.image, /^model-gateway$|:[^:]*\d/, "of one version");
    for (
      const field of [
        "mem_limit",
        "cpus",
        "pids_limit",
        "healthcheck",
        "restart",
        "logging",
        "stop_grace_period",
      ]
    ) assert.ok(service[field] !== undefined, `${name} has no ${field}`);
    for (const port of service.ports ?? []) {
      assert.match(port, /^127\.0\.0\.1:/, "for this machine only");
    }
  }
  assert.deepEqual(compose.services["postgres"]?.networks, ["inside"]);
  assert.equal(compose.networks["inside"]?.internal, true);
});

Deno.test("the gateways of compose.yaml have settings, secrets as files, and time to end", () => {
  for (const [name, service] of services) {
    if (!name.startsWith("gateway")) continue;
    assertSettings(service.environment ?? {}, {
      readable: (service.secrets ?? []).map((one) => `/run/secrets/${one}`),
      graceSeconds: Number(/^(\d+)s$/.exec(service.stop_grace_period)?.[1]),
    });
    assert.deepEqual(service.healthcheck.test, ["CMD", ...HEALTH_CHECK]);
    assert.deepEqual(service["ulimits"], { nofile: 65536, core: 0 });
  }
});

Deno.test("new_secrets.sh makes every secret of compose.yaml once, with one password for both sides", async () => {
  await using folder = await temporaryFolder();
  const script = join(folder.path, "new_secrets.sh");
  await Deno.copyFile(`${DEPLOY}new_secrets.sh`, script);
  await run("sh", [script]);
  const texts = new Map<string, string>();
  for (const [name, { file }] of Object.entries(compose.secrets)) {
    const path = join(folder.path, file);
    // The users of the containers are not those of the machine.
    assert.equal((await Deno.stat(path)).mode, 0o100444);
    texts.set(name, await Deno.readTextFile(path));
  }
  assert.equal((await Deno.stat(join(folder.path, "secrets"))).mode, 0o40700);
  const url = new URL(texts.get("database_url") ?? "");
  const { POSTGRES_USER, POSTGRES_DB } =
    compose.services["postgres"]?.environment ?? {};
  assert.equal(url.password, texts.get("postgres_password"));
  assert.equal(url.username, POSTGRES_USER);
  assert.equal(url.pathname, `/${POSTGRES_DB}`);
  assert.ok(url.hostname in compose.services);
  assert.ok((texts.get("store_key") ?? "").length >= 32);
  assert.match(
    await Deno.readTextFile(join(folder.path, "gateway.env")),
    /^GATEWAY_UPSTREAM=replay$/m,
  );
  await assert.rejects(run("sh", [script]), /nothing is changed/);
  for (const [name, { file }] of Object.entries(compose.secrets)) {
    assert.equal(
      await Deno.readTextFile(join(folder.path, file)),
      texts.get(name),
    );
  }
});

/** The directives of the server and its upstream, one a line. */
function directives(text: string): string[] {
  return text.split("\n").map((line) => line.trim()).filter((line) =>
    line !== "" && !line.startsWith("#")
  );
}

Deno.test("nginx.conf is the documented block, without TLS and for two gateways", async () => {
  const page = await Deno.readTextFile(
    new URL("../../docs/operations.md", import.meta.url),
  );
  const block = /```nginx\n([^]*?)```/.exec(page)?.[1] ?? "";
  const conf = await Deno.readTextFile(`${DEPLOY}nginx/nginx.conf`);
  const own = directives(conf);
  const hosts = services.flatMap(([name]) =>
    name.startsWith("gateway") ? [`server ${name}:8787 max_fails=0;`] : []
  );
  for (const line of hosts) assert.ok(own.includes(line), line);
  for (const line of directives(block)) {
    if (/^(server 127|listen|ssl_|server_name)/.test(line)) continue;
    const wanted = line.replace("Host $host;", "Host $http_host;");
    assert.ok(own.includes(wanted), `${wanted} is not in nginx.conf`);
  }
});
