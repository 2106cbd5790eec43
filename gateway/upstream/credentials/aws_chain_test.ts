import assert from "node:assert/strict";
import { silentServer } from "../../../tests/support/upstreams/silent_server.ts";
import { chainKeys } from "./aws_chain.ts";
import { CredentialError } from "./credential.ts";
import { SYSTEM_FILES } from "./open_credential.ts";
import { serveLoopback } from "../../../tests/support/serve_loopback.ts";
import { temporaryFolder } from "../../../tests/support/temporary_folder.ts";

const EXPIRATION = "2027-01-15T09:00:00Z";

interface Seen {
  readonly method: string;
  readonly path: string;
  readonly headers: Headers;
  readonly body: string;
}

/** A loopback server with the pages of one source. */
function source(reply: (seen: Seen, count: number) => Response) {
  const seen: Seen[] = [];
  const server = serveLoopback(async (request) => {
    const one = {
      method: request.method,
      path: new URL(request.url).pathname,
      headers: request.headers,
      body: await request.text(),
    };
    seen.push(one);
    return reply(one, seen.length);
  });
  return {
    seen,
    url: `http://127.0.0.1:${server.addr.port}`,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

const forbidden: typeof fetch = () =>
  Promise.reject(new Error("no token service is called"));

const ask = (env: Readonly<Record<string, string>>, by = fetch) =>
  chainKeys(env, { files: SYSTEM_FILES, fetch: by, machineFetch: fetch });

/** What the source of these keys gives. */
function tokenOf(id: string, name: string) {
  const keys = {
    accessKeyId: id,
    secretAccessKey: `${name}-secret`,
    sessionToken: `${name}-session`,
  };
  return { id, keys, expiresAtMs: Date.parse(EXPIRATION) };
}

Deno.test("chainKeys() takes the variables first", async () => {
  const token = await ask({
    AWS_ACCESS_KEY_ID: "AKID",
    AWS_SECRET_ACCESS_KEY: "own-secret",
    AWS_SESSION_TOKEN: "own-session",
    AWS_CONTAINER_CREDENTIALS_FULL_URI: "http://127.0.0.1:1/none",
  }, forbidden);
  const expected = { ...tokenOf("AKID", "own"), expiresAtMs: Infinity };
  assert.deepEqual(token, expected);
});

const CONTAINER_KEYS = {
  AccessKeyId: "ASIACONTAINER",
  SecretAccessKey: "container-secret",
  Token: "container-session",
  Expiration: EXPIRATION,
};

Deno.test("chainKeys() asks the container endpoint with the token of its file, read each time", async () => {
  await using page = source(() => Response.json(CONTAINER_KEYS));
  await using folder = await temporaryFolder();
  const file = `${folder.path}/token`;
  const env = {
    AWS_CONTAINER_CREDENTIALS_FULL_URI: `${page.url}/v1/credentials`,
    AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE: file,
  };
  await Deno.writeTextFile(file, "pod-token-1");
  const token = await ask(env);
  assert.deepEqual(token, tokenOf("ASIACONTAINER", "container"));
  await Deno.writeTextFile(file, "pod-token-2");
  await ask(env);
  assert.deepEqual(
    page.seen.map((one) => [one.path, one.headers.get("authorization")]),
    [
      ["/v1/credentials", "pod-token-1"],
      ["/v1/credentials", "pod-token-2"],
    ],
  );
});

const STS_REPLY =
  `<AssumeRoleWithWebIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/">
  <AssumeRoleWithWebIdentityResult>
    <SubjectFromWebIdentityToken>system:serviceaccount:gateway</SubjectFromWebIdentityToken>
    <AssumedRoleUser><Arn>arn:aws:sts::123456789012:assumed-role/gateway/s</Arn><AssumedRoleId>A:s</AssumedRoleId></AssumedRoleUser>
    <Credentials><SessionToken>sts-session</SessionToken><SecretAccessKey>sts-secret</SecretAccessKey>
    <Expiration>${EXPIRATION}</Expiration><AccessKeyId>ASIASTS</AccessKeyId></Credentials>
  </AssumeRoleWithWebIdentityResult>
  <ResponseMetadata><RequestId>c6104cbe-af31-11e0-8154-cbc7ccf896c7</RequestId></ResponseMetadata>
</AssumeRoleWithWebIdentityResponse>`;

const webIdentity = (file: string, url: string) => ({
  AWS_WEB_IDENTITY_TOKEN_FILE: file,
  AWS_ROLE_ARN: "arn:aws:iam::123456789012:role/gateway",
  AWS_REGION: "eu-central-1",
  AWS_ENDPOINT_URL_STS: url,
});

Deno.test("chainKeys() exchanges a web identity, unsigned, with the token of its file, read each time", async () => {
  await using page = source(() =>
    new Response(STS_REPLY, { headers: { "content-type": "text/xml" } })
  );
  await using folder = await temporaryFolder();
  const file = `${folder.path}/token`;
  const env = webIdentity(file, page.url);
  await Deno.writeTextFile(file, "projected-1");
  const token = await ask(env);
  assert.deepEqual(token, tokenOf("ASIASTS", "sts"));
  await Deno.writeTextFile(file, "projected-2");
  await ask(env);
  const forms = page.seen.map(({ body }) => new URLSearchParams(body));
  assert.deepEqual(forms.map((form) => form.get("WebIdentityToken")), [
    "projected-1",
    "projected-2",
  ]);
  assert.equal(forms[0]?.get("Action"), "AssumeRoleWithWebIdentity");
  assert.equal(forms[0]?.get("RoleArn"), env.AWS_ROLE_ARN);
  assert.equal(page.seen[0]?.headers.get("authorization"), null);
});

Deno.test("chainKeys() reports a refused web identity by name, without the token", async () => {
  await using page = source(() =>
    new Response(
      `<ErrorResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><Error><Type>Sender</Type>
      <Code>InvalidIdentityToken</Code><Message>projected-secret is not valid</Message></Error></ErrorResponse>`,
      { status: 400, headers: { "content-type": "text/xml" } },
    )
  );
  await using folder = await temporaryFolder();
  const file = `${folder.path}/token`;
  await Deno.writeTextFile(file, "projected-secret");
  const env = webIdentity(file, page.url);
  await assert.rejects(ask(env), (error) => {
    assert.ok(error instanceof CredentialError);
    assert.match(
      error.message,
      /^AWS web identity: InvalidIdentityTokenException$/,
    );
    assert.doesNotMatch(error.message, /projected-secret/);
    return true;
  });
});

const INSTANCE_KEYS = {
  Code: "Success",
  Type: "AWS-HMAC",
  LastUpdated: "2026-11-22T19:00:00Z",
  AccessKeyId: "ASIAINSTANCE",
  SecretAccessKey: "instance-secret",
  Token: "instance-session",
  Expiration: EXPIRATION,
};

Deno.test("chainKeys() asks the instance's metadata with a token of version 2", async () => {
  await using page = source(({ method, path, headers }) =>
    method === "PUT" && path === "/latest/api/token"
      ? new Response("metadata-token")
      : headers.get("x-aws-ec2-metadata-token") !== "metadata-token"
      ? new Response("", { status: 401 })
      : path === "/latest/meta-data/iam/security-credentials/"
      ? new Response("gateway-role")
      : path === "/latest/meta-data/iam/security-credentials/gateway-role"
      ? Response.json(INSTANCE_KEYS)
      : new Response("", { status: 404 })
  );
  const token = await ask({ AWS_EC2_METADATA_SERVICE_ENDPOINT: page.url });
  assert.equal(token.id, "ASIAINSTANCE");
  assert.equal(token.keys.sessionToken, "instance-session");
  assert.equal(token.expiresAtMs, Date.parse(EXPIRATION));
  assert.equal(page.seen.map(({ method }) => method).join(), "PUT,GET,GET");
});

Deno.test("chainKeys() does not use version 1 of the instance's metadata", async () => {
  await using page = source(({ method }) =>
    method === "PUT"
      ? new Response("", { status: 403 })
      : Response.json(INSTANCE_KEYS)
  );
  await assert.rejects(
    ask({ AWS_EC2_METADATA_SERVICE_ENDPOINT: page.url }),
    /^CredentialError: AWS instance metadata: /,
  );
  assert.deepEqual(page.seen.map(({ method }) => method), ["PUT"]);
});

Deno.test("chainKeys() waits for a silent metadata server for about a second", async () => {
  await using server = silentServer();
  await assert.rejects(
    ask({ AWS_EC2_METADATA_SERVICE_ENDPOINT: `http://${server.host}` }),
    /^CredentialError: AWS instance metadata: /,
  );
  assert.equal(server.connections(), 1, "asked once");
});

Deno.test("chainKeys() without a source, and with the metadata switched off, fails at once", () =>
  assert.rejects(
    ask({ AWS_EC2_METADATA_DISABLED: "true" }, forbidden),
    /AWS: no source is configured/,
  ));

Deno.test("chainKeys() sends the container's token to no other machine", async () => {
  const wrong = [
    "http://models.example/keys",
    "http://169.254.170.2.evil/",
    "",
  ];
  for (const url of wrong) {
    await assert.rejects(
      ask({ AWS_CONTAINER_CREDENTIALS_FULL_URI: url }, forbidden),
      /AWS container endpoint: its address must be https, or this machine's/,
      url,
    );
  }
});

Deno.test("chainKeys() reports a token file that cannot be read, and a reply without keys", async () => {
  await using page = source(() =>
    Response.json({ Code: "AssumeRoleUnauthorizedAccess" })
  );
  const env = { AWS_CONTAINER_CREDENTIALS_FULL_URI: page.url };
  await assert.rejects(
    ask(
      { ...env, AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE: "no/such/file" },
      forbidden,
    ),
    /could not read the file of AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE; it must be in --allow-read/,
  );
  await assert.rejects(
    ask(env),
    /AWS container endpoint: a reply without keys/,
  );
  await assert.rejects(
    ask(
      { AWS_WEB_IDENTITY_TOKEN_FILE: "no/such/file", AWS_ROLE_ARN: "arn" },
      forbidden,
    ),
    /could not read the file of AWS_WEB_IDENTITY_TOKEN_FILE/,
  );
});

Deno.test("chainKeys() stops reading a reply of the machine that does not end", async () => {
  const cancelled = Promise.withResolvers<void>();
  const body = () =>
    new ReadableStream({
      pull: (controller) => controller.enqueue(new Uint8Array(16 * 1024)),
      cancel: () => cancelled.resolve(),
    });
  await using endless = source(() => new Response(body()));
  await assert.rejects(
    ask({ AWS_CONTAINER_CREDENTIALS_FULL_URI: `${endless.url}/keys` }),
    /^CredentialError: AWS container endpoint: a reply of more than 64 KB$/,
  );
  await cancelled.promise;
});
