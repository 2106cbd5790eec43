import assert from "node:assert/strict";
import { fakeClock } from "../../../tests/support/fake_clock.ts";
import { gatewayTimers } from "../../timers.ts";
import {
  awsEmulator,
  awsError,
  type AwsIdentity,
} from "../../../tests/support/upstreams/aws_emulator.ts";
import { upstreamClient } from "../http/http_client.ts";
import {
  awsCredential,
  type AwsToken,
  constantKeys,
} from "./aws_credential.ts";
import type { Credential, HostAuth } from "./credential.ts";
import { hostRegion } from "./sigv4.ts";

const KEYS = {
  accessKeyId: "AKIDEXAMPLE",
  secretAccessKey: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY",
};
const AUTH: HostAuth = {
  schemes: ["bearer", "sigv4"],
  service: "bedrock",
  region: "eu-central-1",
};
const TEXT = new TextEncoder();

const ok = () => Response.json({ ok: true });

/** An emulator with a clock of its own, and the gateway's HTTP client. */
function world(identity: AwsIdentity = KEYS, reply: () => Response = ok) {
  const clock = fakeClock();
  const service = { aheadMs: 0 };
  const options = {
    identity,
    service: "bedrock",
    region: "eu-central-1",
    now: () => clock.now() + service.aheadMs,
    reply,
  };
  const emulator = awsEmulator(options);
  const client = upstreamClient({
    connectTimeoutMs: 5_000,
    firstByteTimeoutMs: 5_000,
    idleTimeoutMs: 5_000,
  }, gatewayTimers());
  /** One call; other headers are added after signing, as the gateway does. */
  async function post(
    credential: Credential,
    path = "/v1/messages",
    body: Uint8Array = TEXT.encode("{}"),
    sent: Uint8Array = body,
  ) {
    const url = `${emulator.url}${path}`;
    const headers = await credential.headers({ url, body, auth: AUTH });
    const response = await client.call({
      url,
      headers: {
        "content-type": "application/json",
        accept: "application/json",
        ...headers,
        traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
      },
      body: sent,
      signal: new AbortController().signal,
    });
    while (await response.body.read() !== undefined);
    return { headers, response };
  }
  return {
    clock,
    emulator,
    options,
    service,
    post,
    async [Symbol.asyncDispose]() {
      await client.close();
      await emulator[Symbol.asyncDispose]();
    },
  };
}

const PATHS: readonly string[] = [
  "/anthropic/v1/messages",
  "/model/anthropic.claude-sonnet-4-5-20250929-v1%3A0/invoke",
  "/model/eu.anthropic.claude-opus-4-8/invoke-with-response-stream",
  `/model/${
    encodeURIComponent(
      "arn:aws:bedrock:eu-central-1:123456789012:application-inference-profile/abc",
    )
  }/invoke`,
  `/model/${encodeURIComponent("a model (with) odd'names*!~")}/converse`,
  `/model/${encodeURIComponent("modèle")}/invoke`,
  "/v1/messages?b=2&a=1%2F2&empty=",
];

for (const path of PATHS) {
  Deno.test(`awsCredential() signs ${path} as AWS verifies it`, async () => {
    await using at = world();
    const credential = awsCredential(constantKeys(KEYS), at.clock);
    const body = TEXT.encode('{"max_tokens":16}');
    const { response } = await at.post(credential, path, body);
    assert.deepEqual(at.emulator.refusals, []);
    assert.equal(response.status, 200);
    assert.equal(at.emulator.accepted[0]?.path, path);
  });
}

Deno.test("awsCredential() signs host, content-type and x-amz-* only", async () => {
  await using at = world();
  const credential = awsCredential(constantKeys(KEYS), at.clock);
  const { headers } = await at.post(credential);
  assert.deepEqual(at.emulator.accepted[0]?.signedNames, [
    "content-type",
    "host",
    "x-amz-content-sha256",
    "x-amz-date",
  ]);
  assert.ok(!("host" in headers), "the HTTP client sends it");
});

Deno.test("awsCredential() sends the session token of temporary keys, signed", async () => {
  const keys = { ...KEYS, sessionToken: "FwoGZXIvYXdzEExample==" };
  await using at = world(keys);
  const credential = awsCredential(constantKeys(keys), at.clock);
  await at.post(credential);
  assert.ok(
    at.emulator.accepted[0]?.signedNames.includes("x-amz-security-token"),
  );
  const secrets = [keys.secretAccessKey, keys.sessionToken];
  assert.deepEqual(credential.secrets(), secrets);
});

Deno.test("awsCredential() signs bodies of any size; a changed body is refused", async () => {
  await using at = world();
  const credential = awsCredential(constantKeys(KEYS), at.clock);
  for (const size of [0, 1, 1024 * 1024, 1024 * 1024 + 1]) {
    const body = new Uint8Array(size).fill(0x20);
    const { response } = await at.post(credential, "/v1/messages", body);
    assert.equal(response.status, 200, `${size}`);
  }
  const { response } = await at.post(
    credential,
    "/v1/messages",
    TEXT.encode('{"max_tokens":1}'),
    TEXT.encode('{"max_tokens":9}'),
  );
  assert.equal(response.status, 403);
  assert.deepEqual(at.emulator.refusals, ["InvalidSignatureException"]);
});

Deno.test("awsCredential() signs each attempt with the time of that attempt", async () => {
  await using at = world();
  const credential = awsCredential(constantKeys(KEYS), at.clock);
  for (let i = 0; i < 3; i++) {
    await at.post(credential);
    at.clock.advance(6 * 60_000);
  }
  assert.deepEqual(at.emulator.refusals, []);
});

for (const minutes of [-600, -10, 10, 600]) {
  Deno.test(`awsCredential() learns that the service's clock is ${minutes} minutes off, once`, async () => {
    await using at = world();
    at.service.aheadMs = minutes * 60_000;
    const credential = awsCredential(constantKeys(KEYS), at.clock);
    const sent = await Promise.all([at.post(credential), at.post(credential)]);
    for (const { headers, response } of sent) {
      assert.equal(response.status, 403);
      assert.equal(await credential.refused(headers, response), true);
    }
    for (let i = 0; i < 3; i++) {
      const { response } = await at.post(credential);
      assert.equal(response.status, 200);
    }
    assert.equal(at.emulator.refusals.length, 2);
    at.service.aheadMs = 0;
    const late = await at.post(credential);
    assert.equal(late.response.status, 403, "the machine's clock was set");
    assert.equal(await credential.refused(late.headers, late.response), true);
    const last = await at.post(credential);
    assert.equal(last.response.status, 200);
  });
}

Deno.test("awsCredential() replaces key, secret and session token together", async () => {
  let rotation = 0;
  const identity = (): AwsIdentity => ({
    accessKeyId: `ASIA${rotation}`,
    secretAccessKey: `secret-${rotation}`,
    sessionToken: `session-${rotation}`,
  });
  await using at = world(identity());
  const credential = awsCredential((): Promise<AwsToken> =>
    Promise.resolve({
      id: identity().accessKeyId,
      keys: identity(),
      expiresAtMs: at.clock.now() + 3_600_000,
    }), at.clock);
  await credential.start();
  await at.post(credential);
  rotation++;
  at.options.identity = identity();
  const { headers, response } = await at.post(credential);
  assert.equal(response.status, 403);
  assert.equal(await credential.refused(headers, response), true);
  await at.post(credential);
  assert.equal(at.emulator.accepted.length, 2);
  assert.deepEqual(at.emulator.refusals, ["UnrecognizedClientException"]);
  assert.deepEqual(credential.secrets(), [
    "secret-1",
    "session-1",
    "secret-0",
    "session-0",
  ]);
});

Deno.test("awsCredential() asks for no new keys when the identity lacks a permission", async () => {
  await using at = world(
    KEYS,
    () => awsError(403, "AccessDeniedException", at.clock.now()),
  );
  let fetches = 0;
  const credential = awsCredential((): Promise<AwsToken> => {
    fetches++;
    return constantKeys(KEYS)();
  }, at.clock);
  const { headers, response } = await at.post(credential);
  assert.equal(await credential.refused(headers, response), false);
  assert.equal(fetches, 1);
});

Deno.test("constantKeys() that are refused are not tried again", async () => {
  await using at = world({ ...KEYS, accessKeyId: "AKIDOTHER" });
  const credential = awsCredential(constantKeys(KEYS), at.clock);
  const { headers, response } = await at.post(credential);
  assert.equal(response.status, 403);
  assert.equal(await credential.refused(headers, response), false);
});

const HOSTS: readonly (readonly [string, string | undefined])[] = [
  ["bedrock-runtime.us-east-1.amazonaws.com", "us-east-1"],
  ["bedrock-runtime-fips.us-gov-west-1.amazonaws.com", "us-gov-west-1"],
  ["bedrock-runtime.cn-north-1.amazonaws.com.cn", "cn-north-1"],
  ["bedrock-mantle.ap-southeast-2.api.aws", "ap-southeast-2"],
  [
    "vpce-0a1b2c3d-4e5f.bedrock-runtime.eu-west-3.vpce.amazonaws.com",
    "eu-west-3",
  ],
  ["bedrock.internal.example", undefined],
  ["127.0.0.1", undefined],
];

for (const [hostname, region] of HOSTS) {
  Deno.test(`hostRegion() of ${hostname} is ${region}`, () => {
    assert.equal(hostRegion(hostname), region);
  });
}
