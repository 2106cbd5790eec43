/**
 * The agent's table: a session at every host, in every client format, whole and streamed, through
 * one gateway.
 */
import { MODELS } from "../../../gateway/upstream/catalogue/models.ts";
import { hostOf } from "../../../gateway/upstream/hosts/hosts.ts";
import { startTestGateway } from "../test_gateway.ts";
import { tokenEndpoints } from "../upstreams/token_endpoints.ts";
import {
  STRICT_HOSTS,
  type StrictHost,
} from "../upstreams/strict_hosts/hosts.ts";
import { startStrictServer } from "../upstreams/strict_hosts/server.ts";
import { AGENT_CLIENTS } from "./agent_clients.ts";
import {
  agentSession,
  failingModel,
  type Session,
  type SessionPlace,
} from "./agent_session.ts";

/** A session and where it took place. */
export interface TableRow
  extends Pick<SessionPlace, "host" | "client" | "stream" | "other"> {
  readonly session: Session;
}

/** The hosts that sessions move to: one of each format, and of each way to prove reasoning. */
const OTHERS = [
  "vendora",
  "vendorb",
  "vendorc",
  "deepseek",
  "openrouter",
  "google",
] as const;

/** The format that a host is called in first. */
function familyOf({ rules }: StrictHost): string {
  return rules.responses !== undefined
    ? "responses"
    : Object.keys(rules)[0] ?? "chat";
}

/**
 * The host that a session moves to. Between chat hosts, a chat client's session takes along what the
 * other host proves its reasoning with.
 */
function otherHost(host: StrictHost, client: string, number: number): string {
  const family = familyOf(host);
  const others = OTHERS.filter((name) => {
    const other = STRICT_HOSTS[name];
    return other !== undefined && other !== host &&
      (family === "chat" && client === "chat_completions"
        ? /details|signatures/.test(`${other.reasoning}`)
        : family === "chat" || familyOf(other) !== family);
  });
  return others[number % others.length] ?? "vendora";
}

type Place = Omit<SessionPlace, "gateway" | "server">;

function placesAt(hosts: readonly string[]): readonly Place[] {
  let number = 0;
  return hosts.flatMap((name) => {
    const host = STRICT_HOSTS[name];
    if (host === undefined) throw new Error(`there is no host ${name}`);
    return AGENT_CLIENTS.flatMap((client) =>
      [false, true].map((stream) => ({
        host: name,
        client,
        stream,
        other: otherHost(host, client.name, number),
        number: number++,
      }))
    );
  });
}

/** The name of a vendor's row; with a status, of one that fails with it. */
function vendorName(host: string, status?: number): string {
  return `at-${host}${status === undefined ? "" : `-${status}`}`;
}

/** The settings of a vendor at a path of the server. */
function vendorAt(url: string, name: string, host: StrictHost, end = "") {
  const takesKey =
    hostOf(host.kind)?.dialects.some(({ auth }) =>
      auth.schemes.includes("bearer") || auth.schemes.includes("header")
    ) === true;
  return {
    kind: host.kind,
    ...(host.preset === undefined ? {} : { preset: host.preset }),
    ...host.settings,
    base_url: `${url}/${name}${end}`,
    ...(host.token === true
      ? { auth: { google: "metadata" } }
      : takesKey
      ? { api_key_env: "HOST_KEY" }
      : {}),
  };
}

function candidateAt(name: string, host: StrictHost) {
  const like = MODELS.find(({ id }) => id === host.like);
  return {
    vendor: vendorName(name),
    upstream_model: host.model,
    ...(like === undefined ? {} : { capabilities: like.capabilities }),
  };
}

/** The status of a host that fails: some fail in one way, some in another. */
const downStatus = ({ stream }: Place): number => stream ? 503 : 429;

function configuration(url: string, places: readonly Place[]): string {
  const used = new Set(places.flatMap(({ host, other }) => [host, other]));
  const hosts = Object.entries(STRICT_HOSTS).filter(([name]) => used.has(name));
  return JSON.stringify({
    vendors: Object.fromEntries(hosts.flatMap(([name, host]) => [
      [vendorName(name), vendorAt(url, name, host)],
      ...[503, 429].map((status) => [
        vendorName(name, status),
        vendorAt(url, name, host, `.${status}`),
      ]),
    ])),
    models: Object.fromEntries([
      ...hosts.map(([name, host]) => [name, {
        price: "free",
        candidates: [candidateAt(name, host)],
      }]),
      ...places.map((place) => {
        const first = STRICT_HOSTS[place.host];
        const second = STRICT_HOSTS[place.other];
        return [failingModel(place as SessionPlace), {
          price: "free",
          candidates: first === undefined || second === undefined ? [] : [
            {
              ...candidateAt(place.host, first),
              vendor: vendorName(place.host, downStatus(place)),
              // A breaker of its own for each session.
              upstream_model: `${first.model}-${place.number}`,
            },
            { ...candidateAt(place.other, second), priority: 2 },
          ],
        }];
      }),
    ]),
  });
}

/** Runs the sessions at these hosts; absent: at all. */
export async function agentTable(
  hosts: readonly string[] = Object.keys(STRICT_HOSTS),
): Promise<readonly TableRow[]> {
  const places = placesAt(hosts);
  await using server = startStrictServer();
  await using tokens = tokenEndpoints(() =>
    Response.json({
      access_token: "token",
      expires_in: 3_600,
      token_type: "Bearer",
    })
  );
  await using gateway = await startTestGateway({
    realVendors: true,
    env: { HOST_KEY: "host-key", GCE_METADATA_HOST: new URL(tokens.url).host },
    configFile: configuration(server.url, places),
  });
  const rows: TableRow[] = [];
  const run = async (place: Place): Promise<void> => {
    const session = await agentSession({ ...place, gateway, server });
    rows[place.number] = { ...place, session };
  };
  // Tokens are fetched by the first session of a host, while little else runs.
  for (const place of places.filter(isFirst)) await run(place);
  for (let start = 0; start < places.length; start += AT_ONCE) {
    const some = places.slice(start, start + AT_ONCE);
    await Promise.all(some.filter((place) => !isFirst(place)).map(run));
  }
  return rows;
}

/** Sessions that run at the same time. */
const AT_ONCE = 32;

/** Whether it is the first session of its host. */
function isFirst({ client, stream }: Place): boolean {
  return client === AGENT_CLIENTS[0] && !stream;
}
