/**
 * The command line of `deno task bench`.
 *
 * @module
 */
import { parseArgs } from "node:util";

/** What is to be measured, and for how long. */
export interface PipelineOptions {
  /** Names of scenarios, kinds or directions; none: all. */
  readonly scenarios: readonly string[];
  readonly rounds: number;
  readonly pacedRounds: number;
  /** Of a measurement that is not paced. */
  readonly ms: number;
  /** Checkouts of the gateway to be measured, each with a slash at the end. */
  readonly gatewayFolders: readonly string[];
  /** Flags for the gateways' `deno run`. */
  readonly denoFlags: readonly string[];
  /** Folder for the gateways' profiles; absent: none is made. */
  readonly cpuProfile?: string;
}

/** A command line that cannot be understood. The message says why. */
export class OptionsError extends Error {}

const OWN_FOLDER = new URL("../", import.meta.url).pathname;

/** Reads the flags. @throws {OptionsError} */
export function parseOptions(args: readonly string[]): PipelineOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      quick: { type: "boolean" },
      scenario: { type: "string", multiple: true },
      rounds: { type: "string" },
      seconds: { type: "string" },
      "gateway-dir": { type: "string", multiple: true },
      "gateway-flag": { type: "string", multiple: true },
      "cpu-profile": { type: "string" },
    },
  });
  const rounds = Number(values.rounds ?? (values.quick ? 3 : 5));
  return {
    scenarios: (values.scenario ?? []).flatMap((names) => names.split(",")),
    rounds,
    pacedRounds: Math.min(rounds, values.quick ? 1 : 3),
    ms: Number(values.seconds ?? (values.quick ? 0.4 : 0.5)) * 1000,
    gatewayFolders: (values["gateway-dir"] ?? [OWN_FOLDER]).map((folder) =>
      `${folder.replace(/\/+$/, "")}/`
    ),
    denoFlags: [
      ...values["gateway-flag"] ?? [],
      ...(values["cpu-profile"] === undefined ? [] : [
        `--cpu-prof-dir=${values["cpu-profile"]}`,
        "--cpu-prof-md",
        "--cpu-prof-interval=250",
      ]),
    ],
    ...(values["cpu-profile"] === undefined
      ? {}
      : { cpuProfile: values["cpu-profile"] }),
  };
}
