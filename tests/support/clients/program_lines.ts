/**
 * The lines that connect programs, as the console and the documentation show them, for tests that
 * paste them into the program itself.
 */
import assert from "node:assert/strict";
import {
  type Connection,
  PROGRAMS,
} from "../../../gateway/console/programs.ts";
import { TEST_KEY } from "../test_key.ts";

const CONNECTION: Omit<Connection, "url" | "model"> = {
  smallModel: "house-model",
  contextTokens: 400_000,
  outputTokens: 32_000,
  passed: [],
  hasWebSockets: false,
  pickerIds: [],
};

/** The lines of a program for a model. */
export function programLines(
  id: string,
  url: string,
  model: string,
  more: Partial<Connection> = {},
): string {
  const program = PROGRAMS.find((one) => one.id === id);
  assert.ok(program !== undefined, id);
  return program.lines({
    ...CONNECTION,
    smallModel: model,
    ...more,
    url,
    model,
  });
}

/** The variables that a shell has after these lines, up to the last one, which starts the program. */
export async function pastedVariables(
  lines: string,
): Promise<Readonly<Record<string, string>>> {
  const settings = lines.slice(0, lines.lastIndexOf("\n"));
  const { code, stdout, stderr } = await new Deno.Command("bash", {
    args: ["-euc", `${settings}\nenv -0`],
    clearEnv: true,
    env: { PATH: Deno.env.get("PATH") ?? "", GATEWAY_KEY: TEST_KEY },
  }).output();
  const decoder = new TextDecoder();
  assert.equal(code, 0, decoder.decode(stderr));
  const variables = decoder.decode(stdout).split("\0").map((line) => {
    const at = line.indexOf("=");
    return [line.slice(0, at), line.slice(at + 1)] as const;
  });
  return Object.fromEntries(
    variables.filter(([name]) =>
      name !== "" && !["PATH", "PWD", "OLDPWD", "SHLVL", "_"].includes(name)
    ),
  );
}
