/**
 * Real coding agents in front of the gateway: how they are run, and a configuration whose one model
 * is at an upstream of a chosen format.
 */
import assert from "node:assert/strict";
import type { JsonObject } from "../../../translate/bytes/json.ts";
import type { TestGatewayOptions } from "../test_gateway.ts";
import { temporaryFolder } from "../temporary_folder.ts";

/** Upstream models of each format, as candidates of {@linkcode agentOptions}. */
export const CANDIDATES: Readonly<Record<string, JsonObject>> = {
  messages: { vendor: "a", upstream_model: "claude-opus-4-8" },
  chat_completions: {
    vendor: "b",
    upstream_model: "gpt-5.5",
    dialect: "chat_completions",
  },
  generate_content: { vendor: "c", upstream_model: "gemini-3.1-pro-preview" },
  responses: { vendor: "r", upstream_model: "gpt-5.5", dialect: "responses" },
};

/**
 * A gateway that offers `models`.
 *
 * @param url address of the upstream
 * @param responsesUrl address of the vendor `r`, if it is another one
 */
export function agentOptions(
  models: JsonObject,
  url: string,
  responsesUrl: string = url,
): TestGatewayOptions {
  const vendor = (kind: string, base_url: string): JsonObject => ({
    kind,
    base_url,
    api_key_env: "UPSTREAM_KEY",
  });
  return {
    realVendors: true,
    env: { UPSTREAM_KEY: "key-of-upstream" },
    configFile: JSON.stringify({
      vendors: {
        a: vendor("vendora", url),
        b: vendor("vendorb", `${url}/v1`),
        c: vendor("vendorc", url),
        r: vendor("vendorb", `${responsesUrl}/v1`),
      },
      models,
    }),
  };
}

interface AgentRun {
  readonly args: readonly string[];
  /** Variables in addition to `PATH` and `HOME`. */
  readonly env: Readonly<Record<string, string>>;
  /** Files of its home folder before the run, by path; the folder replaces `HOME/` in them. */
  readonly home?: Readonly<Record<string, string>>;
}

/**
 * Runs a program in an empty folder, with an empty home. Fails unless it ends with 0. Returns its
 * standard output and the files that it left in the folder.
 */
export async function runAgent(
  program: string,
  { args, env, home: files = {} }: AgentRun,
): Promise<{
  readonly output: string;
  readonly files: Readonly<Record<string, string>>;
}> {
  await using home = await temporaryFolder();
  await using folder = await temporaryFolder();
  const inHome = (text: string): string =>
    text.replaceAll("HOME/", `${home.path}/`);
  for (const [path, text] of Object.entries(files)) {
    const at = path.lastIndexOf("/");
    if (at > 0) {
      await Deno.mkdir(`${home.path}/${path.slice(0, at)}`, {
        recursive: true,
      });
    }
    await Deno.writeTextFile(`${home.path}/${path}`, inHome(text));
  }
  const { code, stdout, stderr } = await new Deno.Command(program, {
    args: [...args],
    cwd: folder.path,
    clearEnv: true,
    env: {
      PATH: Deno.env.get("PATH") ?? "",
      HOME: home.path,
      ...Object.fromEntries(
        Object.entries(env).map(([name, value]) => [name, inHome(value)]),
      ),
    },
    stdin: "null",
  }).output();
  const decoder = new TextDecoder();
  const output = decoder.decode(stdout);
  assert.equal(code, 0, `${output}${decoder.decode(stderr)}`);
  const left: Record<string, string> = {};
  for await (const { name } of Deno.readDir(folder.path)) {
    left[name] = await Deno.readTextFile(`${folder.path}/${name}`);
  }
  return { output, files: left };
}
