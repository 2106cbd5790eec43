/**
 * The command line of `deno task bench`.
 */
import { parseArgs } from "node:util";
import { compact } from "../replay/compact.ts";
import { LATER_SECONDS } from "./measure/memory.ts";
import {
  overTlsName,
  type Scenario,
  selectScenarios,
  usualScenarios,
} from "./measure/scenarios.ts";
import type { SteadyOptions } from "./measure/steady.ts";
import type { OtherTarget } from "./targets/other.ts";

/** What to measure, and for how long. */
export interface PipelineOptions {
  /** The exchanges to measure. */
  readonly scenarios: readonly Scenario[];
  /** Whether to measure the memory of 1,000 open streams. */
  readonly memory: boolean;
  /** Seconds between the two samples of that memory. */
  readonly laterSeconds: number;
  /** Number of measured starts; 0 for none. */
  readonly starts: number;
  /** Number of rounds, not counting the warm-up. */
  readonly rounds: number;
  /** Number of rounds that include paced streams. */
  readonly pacedRounds: number;
  /** Length of a measurement without paced streams. */
  readonly ms: number;
  /** Length of the measurement before the first round, which does not count. */
  readonly warmUpMs: number;
  /** Names of the peers to measure: nginx, portkey. */
  readonly peers: readonly string[];
  /** Folders of the gateway checkouts to measure, each with a trailing slash. */
  readonly gatewayFolders: readonly string[];
  /** Versions of Deno to run the gateway with, each a target; empty: this program's only. */
  readonly denoVersions: readonly string[];
  /** Rounds at a steady rate of calls; absent: none. */
  readonly steady?: SteadyOptions;
  /**
   * Settings of further gateways, each measured beside the one without them; the texts are as
   * given.
   */
  readonly gatewaySettings: readonly string[];
  /** Flags for the gateways' `deno run`. */
  readonly gatewayFlags: readonly string[];
  /** Other gateways that are already running. */
  readonly others: readonly OtherTarget[];
  /** Port of the mock upstream; 0 for a free port. */
  readonly upstreamPort: number;
  /** Whether everything is measured with an upstream over TLS, and nothing with a plain one. */
  readonly tls: boolean;
  /** File for the result; absent: the result of a complete run is written to `bench/results/`. */
  readonly json?: string;
  /** Whether everything is measured at full length. */
  readonly complete: boolean;
  /** Folder for processor profiles of the gateways; absent: no profiles. */
  readonly cpuProfile?: string;
}

/** An invalid command line; the message explains why. */
export class OptionsError extends Error {}

/** Help text for the flags. */
export const OPTIONS_HELP: readonly string[] = [
  "  --quick               fewer and shorter rounds, without nginx and Portkey",
  "  --scenario=A,B        kinds (whole-small, whole-100k, stream-unpaced, stream-coalesced, stream-paced, latency,",
  "                        event-delay, whole-stored, stream-stored), directions (messages, chat, messages-to-chat,",
  "                        messages-to-generate, chat-to-messages, chat-to-generate, generate, generate-to-messages), both (chat/whole-small); with tls/",
  "                        before a name, with an upstream over TLS (tls/whole-small); tls, memory, steady, start",
  "  --rounds=N            number of rounds, after a warm-up",
  "  --seconds=S           length of a measurement without paced streams",
  "  --warm-up=S           length of the measurement before the first round, which does not count; 5 for a warm process",
  "  --peers=A,B           of nginx and portkey; empty: none",
  "  --target=NAME=URL     another gateway that is already running; with --key, --header=NAME:VALUE, --pid, and a model",
  "                        for each upstream dialect: --model-messages, --model-chat, --model-generate",
  "  --upstream-port=N     port of the mock upstream, for --target to call",
  "  --gateway-dir=DIR     checkout to measure instead of this one; repeat it to compare several",
  "  --deno=A,B            versions of Deno to run the gateway with, side by side; they come from npm",
  "  --gateway-setting=A=1,B=2  another gateway with these settings, beside the one without; repeat it for several",
  "  --gateway-flag=FLAG   a flag for the gateway's deno run",
  "  --cpu-profile=DIR     write processor profiles of the gateway to DIR",
  "  --tls                 everything with an upstream over TLS, and nothing with a plain one; without delays",
  "  --json=FILE           write the result to FILE",
];

const OWN_FOLDER = new URL("../", import.meta.url).pathname;
const PEERS: readonly string[] = ["nginx", "portkey"];
/** Contains most of the compilation; five seconds of small calls contain nearly all of it. */
const WARM_UP_SECONDS = 1;
const QUICK_WARM_UP_SECONDS = 0.3;
const QUICK_LATER_SECONDS = 2;
const SECTIONS: readonly string[] = ["memory", "steady", "start"];

/**
 * Parses the flags.
 *
 * @throws {OptionsError} when a flag is unknown or its value is invalid
 */
export function parseOptions(args: readonly string[]): PipelineOptions {
  const values = parseFlags(args);
  const quick = values.quick === true;
  const names = splitNames(values.scenario);
  const exchanges = names.filter((name) => !SECTIONS.includes(name));
  const wants = (section: string): boolean =>
    names.length === 0 || names.includes(section);
  const rounds = number("rounds", values.rounds, quick ? 2 : 5);
  const profile = values["cpu-profile"];
  const tls = values.tls === true;
  const peers = values.peers === undefined
    ? (quick ? [] : PEERS)
    : splitNames(values.peers);
  const unknown = peers.find((name) => !PEERS.includes(name));
  if (unknown !== undefined) throw new OptionsError(`unknown peer ${unknown}`);
  return {
    scenarios: names.length === 0
      ? usualScenarios({ quick, tlsOnly: tls })
      : namedScenarios(exchanges, tls),
    memory: wants("memory"),
    laterSeconds: quick ? QUICK_LATER_SECONDS : LATER_SECONDS,
    starts: wants("start") ? (quick ? 2 : 5) : 0,
    rounds,
    pacedRounds: Math.min(rounds, quick ? 1 : 3),
    ms: number("seconds", values.seconds, quick ? 0.2 : 0.6) * 1000,
    warmUpMs: number(
      "warm-up",
      values["warm-up"],
      quick ? QUICK_WARM_UP_SECONDS : WARM_UP_SECONDS,
    ) * 1000,
    peers,
    gatewayFolders: (values["gateway-dir"] ?? [OWN_FOLDER]).map((folder) =>
      `${folder.replace(/\/+$/, "")}/`
    ),
    denoVersions: denoVersionsOf(values.deno),
    ...(wants("steady") && !tls
      ? {
        steady: {
          rounds: number("rounds", values.rounds, quick ? 1 : 5),
          ms: number("seconds", values.seconds, quick ? 1.5 : 6) * 1000,
        },
      }
      : {}),
    gatewaySettings: values["gateway-setting"] ?? [],
    gatewayFlags: [
      ...values["gateway-flag"] ?? [],
      ...(profile === undefined ? [] : [
        `--cpu-prof-dir=${profile}`,
        "--cpu-prof-md",
        "--cpu-prof-interval=250",
      ]),
    ],
    others: othersOf(values),
    tls,
    upstreamPort: number("upstream-port", values["upstream-port"], 0),
    ...compact({ json: values.json }),
    complete: !quick && !tls && names.length === 0 && profile === undefined &&
      values["gateway-dir"] === undefined &&
      values["gateway-setting"] === undefined && values.deno === undefined,
    ...compact({ cpuProfile: profile }),
  };
}

type Values = ReturnType<typeof parseFlags>;

function parseFlags(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        quick: { type: "boolean" },
        scenario: { type: "string", multiple: true },
        rounds: { type: "string" },
        seconds: { type: "string" },
        "warm-up": { type: "string" },
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
        deno: { type: "string", multiple: true },
        "gateway-setting": { type: "string", multiple: true },
        "gateway-flag": { type: "string", multiple: true },
        "cpu-profile": { type: "string" },
        tls: { type: "boolean" },
        json: { type: "string" },
      },
    }).values;
  } catch (error) {
    throw new OptionsError(error instanceof Error ? error.message : "");
  }
}

function splitNames(values: readonly string[] | undefined): readonly string[] {
  return (values ?? []).flatMap((names) => names.split(",")).filter(Boolean);
}

function denoVersionsOf(
  values: readonly string[] | undefined,
): readonly string[] {
  return splitNames(values).map((version) => {
    if (/^\d+\.\d+\.\d+$/.test(version)) return version;
    throw new OptionsError("--deno must be versions such as 2.8.2");
  });
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

function namedScenarios(
  names: readonly string[],
  tlsOnly: boolean,
): readonly Scenario[] {
  try {
    return selectScenarios(tlsOnly ? names.map(overTlsName) : names);
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
