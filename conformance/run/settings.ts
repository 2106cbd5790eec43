/** The command line: every flag with its line of help, and the validation of values. */
import type { Header } from "../evidence/exchange.ts";
import type { Level } from "../suite/check.ts";
import { type Feature, OPTIONAL_ENDPOINTS } from "../suite/route.ts";

/** A wrong command line. */
export class UsageError extends Error {}

export interface Settings {
  /** Base address of the target; undefined starts this project's gateway. */
  readonly baseUrl: string | undefined;
  /** The valid key. */
  readonly apiKey: string | undefined;
  /** A second valid key of the same account; undefined leaves out what needs it. */
  readonly otherKey: string | undefined;
  /** The address at which the suite's replay server listens for the target. */
  readonly replay: { readonly host: string; readonly port: number } | undefined;
  readonly headers: readonly Header[];
  /** Only list the checks. */
  readonly list: boolean;
  /** Only show what would be sent. */
  readonly plan: boolean;
  readonly help: boolean;
  /** Parts of ids, `*` for anything; empty means all. */
  readonly filters: readonly string[];
  /** Comma-separated models for the message endpoint. */
  readonly model: string | undefined;
  /** Comma-separated models for the chat endpoint. */
  readonly chatModel: string | undefined;
  /** Comma-separated models that make embeddings. */
  readonly embeddingModel: string | undefined;
  /** The features of optional endpoints that are judged; undefined: those that the target has. */
  readonly endpoints: ReadonlySet<Feature> | undefined;
  readonly levels: ReadonlySet<Level>;
  /** The value of `--profile`; undefined when it is not given. */
  readonly profile: string | undefined;
  /** Report files, each with its kind. */
  readonly reports: readonly {
    readonly kind: ReportKind;
    readonly file: string;
  }[];
  /** File with the ids of checks that are known to fail. */
  readonly expectedFailures: string | undefined;
  /** Most requests; undefined, here and below, means the default of the mode. */
  readonly maxRequests: number | undefined;
  /** Most output tokens. */
  readonly maxOutputTokens: number | undefined;
  /** Most dollars. */
  readonly maxUsd: number | undefined;
  /** Time limit of a request, in milliseconds. */
  readonly timeoutMs: number | undefined;
  /** Silence after which the target sends a sign of life; undefined leaves out what needs it. */
  readonly keepAliveMs: number | undefined;
  /** Seed of nonces. */
  readonly seed: number;
}

type ReportKind = "json" | "junit" | "html";

const FLAGS: Readonly<Record<string, string>> = {
  "base-url":
    "=URL        the gateway to judge, without /v1; without it this project's gateway is started",
  "api-key":
    "=KEY         a valid key of it; better in the environment as CONFORMANCE_API_KEY",
  "other-key":
    "=KEY       a second valid key of the same account, for the checks of what one key hides from another; better in the environment as CONFORMANCE_OTHER_KEY",
  "replay":
    "=HOST:PORT    listen here as the upstream (0.0.0.0 for a target on another host), to which the target's upstream addresses point",
  "header":
    "=NAME:VALUE   adds a header to each request; repeatable; the value is kept out of all records",
  "list": "                list the checks and stop",
  "plan":
    "                show what would be sent and what it could cost, and stop",
  "filter":
    "=ID[,ID]      only the check with that id, or those whose id contains this (* for anything); removes requests, not output; repeatable",
  "model":
    "=ID[,ID]       model for the message endpoint, with --replay one for each dialect (and for the other one without --chat-model); %2C is a comma in an id",
  "chat-model": "=ID[,ID]  model for the chat endpoint",
  "embedding-model":
    "=ID[,ID] model for embeddings; without it those that the model list declares",
  "endpoints":
    "=LIST       what must be judged: messages,chat and any of responses, generate-content, counts, embeddings and web-socket; without it these are judged where the target offers them",
  "profile":
    "=LEVEL       documented, convention (that and documented; the default with --base-url) or contract (all)",
  "report": "=KIND:FILE    json, junit or html; several with commas",
  "expected-failures":
    "=FILE  ids of checks that are known to fail, one per line; one that passes is an error",
  "max-requests": "=N      most requests (live: 600)",
  "max-output-tokens": "=N most output tokens (live: 22000)",
  "max-usd":
    "=N           most dollars, at 15 per million input tokens and 75 per million output tokens (live: 3)",
  "timeout": "=SECONDS     time limit of a request (live: 60, replay: 10)",
  "keep-alive":
    "=SECONDS  silence in a stream after which the target sends a sign of life, for the checks of these",
  "seed": "=N              makes markers differ between runs",
  "help": "                this text",
};

const BARE = new Set(["list", "plan", "help"]);

/** Repeatable flags; their values are joined with commas. */
const REPEATED = new Set([
  "header",
  "filter",
  "model",
  "chat-model",
  "embedding-model",
  "report",
]);

export function helpText(): string {
  const lines = Object.entries(FLAGS).map(([name, about]) =>
    `  --${name}${about}`
  );
  return [
    "deno task conformance [flags]: judges a gateway by the specification, from outside.",
    "",
    "  no flags                        this project's gateway, with the suite's replay server as its upstream",
    "  --base-url=URL                  live: any deployment, real models; costs little and is capped",
    "  --base-url=URL --replay=H:P     replay: a deployment whose upstream addresses point at H:P",
    "",
    ...lines,
    "",
    "Exit codes: 0 conformant, 1 not, 2 wrong command line, 3 target unreachable or key refused,",
    "            4 the suite's own fault, 5 partial: a cap was reached, or the rate was limited throughout.",
  ].join("\n");
}

/**
 * Reads the arguments.
 * @throws {UsageError} when one is wrong
 */
export function readSettings(
  args: readonly string[],
  environmentKey: string | undefined,
  environmentOtherKey?: string,
): Settings {
  const given = new Map<string, string>();
  const headers: Header[] = [];
  for (const arg of args) {
    const [, name, value] = /^--([a-z-]+)(?:=(.*))?$/s.exec(arg) ?? [];
    if (name === undefined || FLAGS[name] === undefined) {
      throw new UsageError(`unknown flag ${arg}; see --help`);
    }
    if (BARE.has(name) !== (value === undefined) || value === "") {
      throw new UsageError(
        BARE.has(name)
          ? `--${name} takes no value`
          : `--${name} needs a value: --${name}=…`,
      );
    }
    if (name === "header") headers.push(headerOf(value ?? ""));
    const before = given.get(name);
    if (before !== undefined && !REPEATED.has(name)) {
      throw new UsageError(`--${name} is given twice`);
    }
    given.set(name, before === undefined ? value ?? "" : `${before},${value}`);
  }
  const baseUrl = given.get("base-url")?.replace(/\/+$/, "");
  if (
    baseUrl !== undefined && !/^https?:\/\/[^\s/?#]+[^\s?#]*$/.test(baseUrl)
  ) {
    throw new UsageError("--base-url must be an http:// or https:// address");
  }
  const replay = given.get("replay");
  if (replay !== undefined && baseUrl === undefined) {
    throw new UsageError(
      "--replay needs --base-url: the gateway that calls it",
    );
  }
  return {
    baseUrl,
    apiKey: given.get("api-key") ?? environmentKey,
    otherKey: given.get("other-key") ?? environmentOtherKey,
    replay: replay === undefined ? undefined : addressOf(replay),
    headers,
    list: given.has("list"),
    plan: given.has("plan"),
    help: given.has("help"),
    filters: (given.get("filter") ?? "").split(",").filter((id) => id !== ""),
    model: given.get("model"),
    chatModel: given.get("chat-model"),
    embeddingModel: given.get("embedding-model"),
    endpoints: endpointsIn(given.get("endpoints")),
    levels: levelsOf(given.get("profile"), baseUrl),
    profile: given.get("profile"),
    reports: (given.get("report")?.split(",") ?? []).map(reportOf),
    expectedFailures: given.get("expected-failures"),
    maxRequests: numberIn(given, "max-requests"),
    maxOutputTokens: numberIn(given, "max-output-tokens"),
    maxUsd: numberIn(given, "max-usd"),
    timeoutMs: secondsIn(given, "timeout"),
    keepAliveMs: secondsIn(given, "keep-alive"),
    seed: numberIn(given, "seed") ?? Date.now() % 1_000_000,
  };
}

function headerOf(text: string): Header {
  const [, name, value] = /^([\w.-]+): *(\S.*)$/s.exec(text) ?? [];
  if (name === undefined || value === undefined || /[\r\n]/.test(value)) {
    throw new UsageError("--header must be NAME:VALUE");
  }
  return [name.toLowerCase(), value];
}

function addressOf(text: string): { host: string; port: number } {
  const [, host, port] = /^([\w.:[\]-]+):(\d+)$/.exec(text) ?? [];
  if (host === undefined || port === undefined || Number(port) > 65535) {
    throw new UsageError("--replay must be HOST:PORT");
  }
  return { host, port: Number(port) };
}

/** The features of the optional endpoints in a list; undefined when there is no list. */
function endpointsIn(
  list: string | undefined,
): ReadonlySet<Feature> | undefined {
  if (list === undefined) return undefined;
  const names = new Set(list.split(","));
  const required = ["messages", "chat"].filter((name) => names.delete(name));
  const optional = [...names];
  if (
    required.length < 2 ||
    optional.some((name) => OPTIONAL_ENDPOINTS[name] === undefined)
  ) {
    throw new UsageError(
      `--endpoints must be messages,chat, which are required of every gateway, and any of ${
        Object.keys(OPTIONAL_ENDPOINTS).join(", ")
      }`,
    );
  }
  return new Set(optional.flatMap((name) => OPTIONAL_ENDPOINTS[name] ?? []));
}

const LEVELS: readonly Level[] = ["documented", "convention", "contract"];

function levelsOf(
  profile: string | undefined,
  baseUrl: string | undefined,
): ReadonlySet<Level> {
  const chosen = profile ?? (baseUrl === undefined ? "contract" : "convention");
  const at = LEVELS.findIndex((level) => level === chosen);
  if (at === -1) {
    throw new UsageError(
      "--profile must be documented, convention or contract",
    );
  }
  return new Set(LEVELS.slice(0, at + 1));
}

function reportOf(text: string): { kind: ReportKind; file: string } {
  const [, kind, file] = /^(json|junit|html):(.+)$/.exec(text) ?? [];
  if (
    file === undefined ||
    (kind !== "json" && kind !== "junit" && kind !== "html")
  ) throw new UsageError("--report must be json:FILE, junit:FILE or html:FILE");
  return { kind, file };
}

function numberIn(
  given: ReadonlyMap<string, string>,
  name: string,
): number | undefined {
  const text = given.get(name);
  if (text === undefined) return undefined;
  const value = Number(text);
  if (Number.isFinite(value) && value >= 0) return value;
  throw new UsageError(`--${name} must be a number`);
}

function secondsIn(
  given: ReadonlyMap<string, string>,
  name: string,
): number | undefined {
  const seconds = numberIn(given, name);
  return seconds === undefined ? undefined : seconds * 1000;
}
