/**
 * Emulated clouds on loopback: an endpoint that issues tokens or keys, and a host that accepts only
 * the one that is valid now. AWS's signatures are checked by `aws_emulator.ts`.
 */
import { awsEmulator, awsError, type AwsIdentity } from "./aws_emulator.ts";
import { type HostRequest, startHostUpstream } from "./host_upstream.ts";
import { tokenEndpoints } from "./token_endpoints.ts";
import { serveLoopback } from "../serve_loopback.ts";

/** Whose credentials and errors a host has. */
export type CloudName = "google" | "azure" | "aws";

export interface Cloud extends AsyncDisposable {
  readonly url: string;
  /** The `auth` of a vendor's row. */
  readonly auth: Readonly<Record<string, string>>;
  /** Variables that lead the gateway to the endpoint. */
  readonly env: Readonly<Record<string, string>>;
  /** Variables that a library reads from the process itself. */
  readonly processEnv: Readonly<Record<string, string>>;
  /** Requests with a valid credential, in order. */
  readonly accepted: readonly CloudRequest[];
  /** Requests with another one. */
  refused(): number;
  /** Tokens or keys that were issued. */
  issued(): number;
  /** The scopes or resources that tokens were requested for, where the endpoint takes one. */
  readonly asked: readonly string[];
  /** Ends the validity of what was issued; the next one is valid. */
  revoke(): void;
  /** Accepts nothing any more. */
  revokeAll(): void;
  /** Decides the answers to valid requests from now on. */
  answer(with_: (request: CloudRequest) => Response): void;
}

/** A request whose credential is valid. */
type CloudRequest = Pick<HostRequest, "path" | "headers" | "text">;

/** Starts one. `service` is the name in AWS's signatures. */
export function startCloud(name: CloudName, service: string): Cloud {
  return name === "aws" ? awsCloud(service) : tokenCloud(name);
}

/** Lifetime of tokens, far beyond a test's. */
const LIFE_SECONDS = 3_600;

function tokenCloud(name: "google" | "azure"): Cloud {
  const accepted: CloudRequest[] = [];
  const asked: string[] = [];
  let issued = 0;
  /** Tokens up to this one are not valid any more. */
  let revoked = 0;
  let refused = 0;
  let answer: (request: CloudRequest) => Response = () => new Response("{}");
  const issue: Issue = (url, headers) => {
    const wanted = name === "google"
      ? headers.get("metadata-flavor") === "Google"
      : headers.get("x-identity-header") === IDENTITY_HEADER;
    if (!wanted) return new Response("{}", { status: 400 });
    asked.push(new URL(url).searchParams.get("resource") ?? "");
    issued++;
    return Response.json({
      access_token: `${name}-token-${issued}`,
      expires_in: LIFE_SECONDS,
      expires_on: `${Math.floor(Date.now() / 1000) + LIFE_SECONDS}`,
      token_type: "Bearer",
    });
  };
  const tokens = name === "azure"
    ? undefined
    : tokenEndpoints(({ url, headers }) => issue(url, headers));
  const tokensUrl = tokens?.url ?? IDENTITY.url;
  if (name === "azure") IDENTITY.issue = issue;
  const host = startHostUpstream();
  host.answer((request) => {
    const sent = request.headers.get("authorization") ?? "";
    const [, number = "0"] =
      new RegExp(`^Bearer ${name}-token-(\\d+)$`).exec(sent) ?? [];
    if (Number(number) <= revoked) {
      refused++;
      return UNAUTHORIZED[name]();
    }
    accepted.push(request);
    return answer(request);
  });
  return {
    url: host.url,
    auth: name === "google"
      ? { google: "metadata" }
      : { entra: "managed_identity" },
    env: name === "google"
      ? { GCE_METADATA_HOST: new URL(tokensUrl).host }
      : identity(tokensUrl),
    processEnv: name === "google" ? {} : identity(tokensUrl),
    accepted,
    asked,
    refused: () => refused,
    issued: () => issued,
    revoke() {
      revoked = issued;
    },
    revokeAll() {
      revoked = Infinity;
    },
    answer(with_) {
      answer = with_;
    },
    async [Symbol.asyncDispose]() {
      await host.close();
      await tokens?.[Symbol.asyncDispose]();
    },
  };
}

type Issue = (url: string, headers: Headers) => Response;

/**
 * Azure's endpoint, one for all tests of a process and open until its end: the library keeps the
 * address that it read first.
 */
const IDENTITY = identityPage();

function identityPage(): { readonly url: string; issue: Issue } {
  const page: { url: string; issue: Issue } = {
    url: "",
    issue: () => new Response("{}", { status: 404 }),
  };
  const server = serveLoopback(({ url, headers }) => page.issue(url, headers));
  server.unref();
  page.url = `http://127.0.0.1:${server.addr.port}`;
  return page;
}

const IDENTITY_HEADER = "identity-header-text";

function identity(url: string): Readonly<Record<string, string>> {
  return { IDENTITY_ENDPOINT: `${url}/token`, IDENTITY_HEADER };
}

const UNAUTHORIZED: Readonly<Record<"google" | "azure", () => Response>> = {
  google: () =>
    Response.json({
      error: {
        code: 401,
        message: "Request had invalid authentication credentials.",
        status: "UNAUTHENTICATED",
      },
    }, { status: 401 }),
  azure: () =>
    Response.json({ error: { code: "401", message: "Access denied" } }, {
      status: 401,
    }),
};

function awsCloud(service: string): Cloud {
  const accepted: CloudRequest[] = [];
  let issued = 0;
  let isClosed = false;
  let answer: (request: CloudRequest) => Response = () => new Response("{}");
  const keys = tokenEndpoints(() => {
    const { sessionToken, ...one } = identityOf(++issued);
    if (!isClosed) settings.identity = identityOf(issued);
    return Response.json({
      AccessKeyId: one.accessKeyId,
      SecretAccessKey: one.secretAccessKey,
      Token: sessionToken,
      Expiration: new Date(Date.now() + LIFE_SECONDS * 1000).toISOString(),
    });
  });
  const settings = {
    identity: identityOf(1),
    service,
    region: "us-east-1",
    now: Date.now,
    reply(signed: { path: string; headers: Headers; body: Uint8Array }) {
      const request = {
        path: signed.path,
        headers: signed.headers,
        text: new TextDecoder().decode(signed.body),
      };
      accepted.push(request);
      return answer(request);
    },
  };
  const host = awsEmulator(settings);
  return {
    url: host.url,
    auth: { aws: "chain" },
    env: { AWS_CONTAINER_CREDENTIALS_FULL_URI: `${keys.url}/v1/credentials` },
    processEnv: {},
    accepted,
    asked: [],
    refused: () => host.refusals.length,
    issued: () => issued,
    revoke() {
      settings.identity = identityOf(issued + 1);
    },
    revokeAll() {
      isClosed = true;
      settings.identity = identityOf(0);
    },
    answer(with_) {
      answer = with_;
    },
    async [Symbol.asyncDispose]() {
      await host[Symbol.asyncDispose]();
      await keys[Symbol.asyncDispose]();
    },
  };
}

function identityOf(number: number): Required<AwsIdentity> {
  return {
    accessKeyId: `ASIAEXAMPLE${number}`,
    secretAccessKey: `aws-secret-${number}`,
    sessionToken: `aws-session-${number}`,
  };
}

/** An error in the form of a cloud. */
export function cloudError(
  cloud: CloudName,
  status: number,
  type: string,
  message: string,
): Response {
  switch (cloud) {
    case "aws":
      return awsError(status, type, Date.now(), message);
    case "azure":
      return Response.json({ error: { code: type, message } }, { status });
    case "google":
      return Response.json({ error: { code: status, message, status: type } }, {
        status,
      });
  }
}
