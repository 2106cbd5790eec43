/**
 * The command line of `deno task bench`.
 *
 * @module
 */
import { parseArgs } from "node:util";
import { chosenScenarios, type Scenario } from "./scenarios.ts";
import type { OtherTarget } from "./targets/other.ts";

/** What is to be measured, and for how long. */
export interface PipelineOptions {
  /** What is asked of the targets. */
  readonly scenarios: readonly Scenario[];
  /** Whether 1,000 streams are held open. */
  readonly memory: boolean;
  /** Starts that are measured; 0: none. */
  readonly starts: number;
  /** Rounds that count; one more warms everything up. */
  readonly rounds: number;
  /** Rounds with paced streams. */
  readonly pacedRounds: number;
  /** Of a measurement that is not paced. */
  readonly ms: number;
  /** Names of the built-in targets beside this project's gateway and what figures are held against. */
  readonly peers: readonly string[];
  /** Checkouts of the gateway to be measured, each with a slash at the end. */
  readonly gatewayFolders: readonly string[];
  /** Flags for the gateways' `deno run`. */
  readonly gatewayFlags: readonly string[];
  /** Gateways that run already. */
  readonly others: readonly OtherTarget[];
  /** Where the mock upstream listens; 0: at a free port. */
  readonly upstreamPort: number;
  /** File for the result; absent: a complete run's is kept in `bench/results/`. */
  readonly json?: string;
  /** Whether everything is measured, so that the result is worth keeping. */
  readonly complete: boolean;
  /** Folder for the gateways' profiles; absent: none is made. */
  readonly cpuProfile?: string;
}

/** A command line that cannot be understood. The message says why. */
export class OptionsError extends Error {}

/** What it may say. */
export const OPTIONS_HELP: readonly string[] = [
  "  --quick               fewer and shorter rounds, without nginx and Portkey",
  "  --scenario=A,B        kinds (whole-small, whole-100k, stream-unpaced, stream-coalesced, stream-paced, latency,",
  "                        event-delay), directions (messages, chat, messages-to-chat, messages-to-generate,",
  "                        chat-to-messages, chat-to-generate), both (chat/whole-small), memory, start",
  "  --rounds=N            rounds that count",
  "  --seconds=S           length of a measurement that is not paced",
  "  --peers=A,B           of nginx and portkey; empty: none",
  "  --target=NAME=URL     another gateway that runs already; with --key, --header=NAME:VALUE, --pid, and its models by",
  "                        their upstream's dialect: --model-messages, --model-chat, --model-generate",
  "  --upstream-port=N     where the mock upstream listens, for --target to call",
  "  --gateway-dir=DIR     another checkout instead of this one; more than one are measured side by side",
  "  --gateway-flag=FLAG   a flag for the gateway's deno run",
  "  --cpu-profile=DIR     writes profiles of the gateway there",
  "  --json=FILE           writes the result there",
];

const OWN_FOLDER = new URL("../", import.meta.url).pathname;
const PEERS: readonly string[] = ["nginx", "portkey"];
const SECTIONS: readonly string[] = ["memory", "start"];

/** Reads the flags. @throws {OptionsError} where one is not understood */
export function parseOptions(args: readonly string[]): PipelineOptions {
  const values = understood(args);
  const quick = values.quick === true;
  const names = listed(values.scenario);
  const exchanges = names.filter((name) => !SECTIONS.includes(name));
  const wants = (section: string): boolean =>
    names.length === 0 || names.includes(section);
  const rounds = number("rounds", values.rounds, quick ? 2 : 5);
  const profile = values["cpu-profile"];
  const peers = values.peers === undefined
    ? (quick ? [] : PEERS)
    : listed(values.peers);
  const unknown = peers.find((name) => !PEERS.includes(name));
  if (unknown !== undefined) throw new OptionsError(`no peer is ${unknown}`);
  return {
    scenarios: names.length > 0 && exchanges.length === 0
      ? []
      : scenariosOf(exchanges),
    memory: wants("memory"),
    starts: wants("start") ? (quick ? 2 : 5) : 0,
    rounds,
    pacedRounds: Math.min(rounds, quick ? 1 : 3),
    ms: number("seconds", values.seconds, quick ? 0.3 : 0.6) * 1000,
    peers,
    gatewayFolders: (values["gateway-dir"] ?? [OWN_FOLDER]).map((folder) =>
      `${folder.replace(/\/+$/, "")}/`
    ),
    gatewayFlags: [
      ...values["gateway-flag"] ?? [],
      ...(profile === undefined ? [] : [
        `--cpu-prof-dir=${profile}`,
        "--cpu-prof-md",
        "--cpu-prof-interval=250",
      ]),
    ],
    others: othersOf(values),
    upstreamPort: number("upstream-port", values["upstream-port"], 0),
    ...(values.json === undefined ? {} : { json: values.json }),
    complete: !quick && names.length === 0 && profile === undefined &&
      values["gateway-dir"] === undefined,
    ...(profile === undefined ? {} : { cpuProfile: profile }),
  };
}

type Values = ReturnType<typeof understood>;

function understood(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        quick: { type: "boolean" },
        scenario: { type: "string", multiple: true },
        rounds: { type: "string" },
        seconds: { type: "string" },
        peers: { type: "string", multiple: true },
        target: { type: "string", multiple: true },
        key: { type: "string" },
        header: { type: "string", multiple: true },
        pid: { type: "string" },
        "model-messages": { type: "string" },
        "model-chat": { type: "string" },
        "model-generate": { type: "string" },
        "upstream-port": { type: "string" },
        "gateway-dir": { type: "string", multiple: true },
        "gateway-flag": { type: "string", multiple: true },
        "cpu-profile": { type: "string" },
        json: { type: "string" },
      },
    }).values;
  } catch (error) {
    throw new OptionsError(error instanceof Error ? error.message : "");
  }
}

function listed(values: readonly string[] | undefined): readonly string[] {
  return (values ?? []).flatMap((names) => names.split(",")).filter(Boolean);
}

function number(
  name: string,
  text: string | undefined,
  standard: number,
): number {
  if (text === undefined) return standard;
  const value = Number(text);
  if (text === "" || !Number.isFinite(value) || value < 0) {
    throw new OptionsError(`--${name} must be a number`);
  }
  return value;
}

function scenariosOf(names: readonly string[]): readonly Scenario[] {
  try {
    return chosenScenarios(names);
  } catch (error) {
    throw new OptionsError(error instanceof RangeError ? error.message : "");
  }
}

function othersOf(values: Values): readonly OtherTarget[] {
  const headers = Object.fromEntries(
    (values.header ?? []).map((header) => {
      const at = header.indexOf(":");
      if (at < 1) throw new OptionsError("--header must be NAME:VALUE");
      return [header.slice(0, at), header.slice(at + 1).trim()];
    }),
  );
  const key = values.key;
  const models = {
    ...defined("messages", values["model-messages"]),
    ...defined("chat_completions", values["model-chat"]),
    ...defined("generate_content", values["model-generate"]),
  };
  return (values.target ?? []).map((target) => {
    const at = target.indexOf("=");
    const url = target.slice(at + 1);
    if (at < 1 || !/^http:\/\//.test(url) || !URL.canParse(url)) {
      throw new OptionsError("--target must be NAME=http://HOST:PORT");
    }
    return {
      name: target.slice(0, at),
      url: new URL(url),
      headers: {
        ...(key === undefined
          ? {}
          : { authorization: `Bearer ${key}`, "x-api-key": key }),
        ...headers,
      },
      models,
      ...(values.pid === undefined
        ? {}
        : { pid: number("pid", values.pid, 0) }),
    };
  });
}

function defined(name: string, value: string | undefined) {
  return value === undefined ? {} : { [name]: value };
}
