/** Hosts over https, called by the gateway as a process with the permissions of its start task. */
import assert from "node:assert/strict";
import { awsEmulator } from "../support/upstreams/aws_emulator.ts";
import {
  AUTHORITY_FILE,
  certificate,
} from "../support/upstreams/fault_upstream.ts";
import {
  COMPLETION,
  MESSAGE,
  startHostUpstream,
} from "../support/upstreams/host_upstream.ts";
import { temporaryFolder } from "../support/temporary_folder.ts";
import { startProgram } from "../support/programs/program.ts";
import { tokenEndpoints } from "../support/upstreams/token_endpoints.ts";
import config from "../../deno.json" with { type: "json" };

const KEY = "sk-test-0123456789abcdef";
const KEYS = { accessKeyId: "AKIDEXAMPLE", secretAccessKey: "secret-of-aws" };
const PERMISSIONS = config.tasks.start.split(" ").filter((word) =>
  word.startsWith("--allow-")
);

Deno.test("signed calls, tokens and keys reach hosts over https; a certificate for another name is refused, and the metrics have the end of each", async () => {
  const right = certificate("right");
  await using aws = awsEmulator({
    identity: KEYS,
    service: "bedrock",
    region: "us-east-1",
    now: Date.now,
    tls: right,
    reply: () => Response.json(MESSAGE),
  });
  await using google = startHostUpstream(right);
  await using azure = startHostUpstream(right);
  azure.answer(() => Response.json(COMPLETION));
  await using expired = startHostUpstream(certificate("expired"));
  await using wrong = startHostUpstream(certificate("wrong_name"));
  await using metadata = tokenEndpoints(() =>
    Response.json({ access_token: "vertex-token-text", expires_in: 3600 })
  );
  await using folder = await temporaryFolder();
  const model = (vendor: string, price: unknown = "free") => ({
    price,
    candidates: [{ vendor, upstream_model: "host-model" }],
  });
  await Deno.writeTextFile(
    `${folder.path}/gateway.json`,
    JSON.stringify({
      vendors: {
        aws: {
          kind: "bedrock_invoke",
          region: "us-east-1",
          base_url: aws.url,
          auth: { aws: "keys" },
        },
        google: {
          kind: "vertex_claude",
          project: "contoso-ml",
          location: "global",
          base_url: google.url,
          auth: { google: "metadata" },
        },
        azure: {
          kind: "azure_openai",
          base_url: azure.url,
          api_key_env: "AZURE_KEY",
        },
        expired: {
          kind: "azure_openai",
          base_url: expired.url,
          api_key_env: "AZURE_KEY",
        },
        wrong: {
          kind: "azure_openai",
          base_url: wrong.url,
          api_key_env: "AZURE_KEY",
        },
      },
      models: {
        aws: model("aws"),
        google: model("google"),
        azure: model("azure"),
        wrong: model("wrong"),
        expired: model("expired"),
      },
    }),
  );
  await using program = await startProgram({
    folder: folder.path,
    permissions: [...PERMISSIONS, `--cert=${AUTHORITY_FILE}`],
    env: {
      GATEWAY_CONFIG: "gateway.json",
      GATEWAY_KEY: KEY,
      AZURE_KEY: "azure-key-text",
      AWS_ACCESS_KEY_ID: KEYS.accessKeyId,
      AWS_SECRET_ACCESS_KEY: KEYS.secretAccessKey,
      GCE_METADATA_HOST: new URL(metadata.url).host,
    },
  });
  const ask = async (id: string): Promise<readonly [number, string]> => {
    const response = await program.call(KEY, { model: id });
    return [response.status, await response.text()];
  };
  for (const id of ["aws", "google", "azure"]) {
    const [status, text] = await ask(id);
    assert.equal(status, 200, text);
    assert.match(text, /Hello/);
  }
  assert.deepEqual(aws.refusals, []);
  assert.equal(aws.accepted.length, 1);
  assert.equal(
    google.requests[0]?.headers.get("authorization"),
    "Bearer vertex-token-text",
  );
  assert.equal(
    azure.requests[0]?.headers.get("api-key"),
    "azure-key-text",
  );
  const [status, text] = await ask("wrong");
  assert.equal(status, 502, text);
  assert.match(text, /could not reach the upstream/);
  assert.equal(wrong.requests.length, 0);
  assert.equal((await ask("expired"))[0], 502);
  const metrics = await (await fetch(`${program.url}/metrics`)).text();
  for (
    const [{ url }, day] of [
      [azure, "2125-12-31"],
      [expired, "2021-01-01"],
    ] as const
  ) {
    assert.match(
      metrics,
      new RegExp(
        `^gateway_certificate_end_timestamp_seconds{peer="upstream",server="${
          new URL(url).host
        }"} ${Date.parse(day) / 1000}$`,
        "m",
      ),
    );
  }
  assert.doesNotMatch(
    program.output(),
    /vertex-token-text|azure-key-text|secret-of-aws/,
  );
});
