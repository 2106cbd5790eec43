/** Scenarios of the area `auth`: the same small request under every kind of key. */
import type { Endpoint } from "../evidence/exchange.ts";
import { firstRoute, plainAsk } from "../suite/asks.ts";
import type { Ask, Lab } from "../suite/lab.ts";
import { calls, free, type Scenario } from "../suite/scenario.ts";

/** The operations that the specification has. */
export const OPERATIONS = ["messages", "chat", "models"] as const;

/** A small request of an operation. A refused key must refuse it before any model sees it. */
function small(lab: Lab, endpoint: Endpoint, form: string): Ask {
  const label = `${endpoint}/${form}`;
  if (endpoint !== "messages" && endpoint !== "chat") {
    return { label, endpoint: "models" };
  }
  const words = lab.prompt("text", "Say hello.");
  const route = firstRoute(lab, endpoint);
  return {
    ...plainAsk(endpoint, route, form, words, { max_tokens: 8 }),
    label,
  };
}

/** A key of the same form that was never issued. */
function neverIssued(key: string): string {
  return key.slice(0, -6) + "zzzzz" + (key.endsWith("z") ? "y" : "z");
}

const KEYS: Scenario = {
  name: "keys",
  about:
    "Each operation with no key, wrong keys, and the right key in both headers",
  mode: "both",
  cost: calls(24, 8),
  async play(lab) {
    const wrong = lab.variant(neverIssued(lab.key));
    for (const operation of OPERATIONS) {
      const send = (form: string, more: Partial<Ask>) =>
        lab.send({ ...small(lab, operation, form), ...more });
      await send("missing", { auth: "none" });
      for (
        const [form, key] of [
          ["wrong", wrong],
          ["double-quoted", `"${lab.key}"`],
          ["single-quoted", `'${lab.key}'`],
          ["cut", lab.variant(lab.key.slice(0, -1))],
        ] as const
      ) {
        await send(form, { auth: "none", headers: [["x-api-key", key]] });
        await send(`${form}-bearer`, {
          auth: "none",
          headers: [["authorization", `Bearer ${key}`]],
        });
      }
      await send("x-api-key", { auth: "x-api-key" });
      await send("bearer", { auth: "bearer" });
    }
  },
};

const PASTED_KEYS: Scenario = {
  name: "pasted-keys",
  about:
    "Keys with bytes that fetch would repair or refuse, over a bare socket",
  mode: "both",
  cost: free(8),
  async play(lab) {
    const send = (form: string, line: string) =>
      lab.send({
        label: `models/${form}`,
        endpoint: "models",
        rawLines: [line],
      });
    await send("control", `x-api-key: ${lab.key}`);
    await send("no-break-space", `x-api-key: ${lab.key}\u00a0`);
    await send("zero-width-space", `x-api-key: ${lab.key}\u00e2\u0080\u008b`);
    await send("escaped-newline", `x-api-key: ${lab.key}\\n`);
    await send(
      "inner-space",
      `x-api-key: ${lab.key.slice(0, 6)} ${lab.key.slice(6)}`,
    );
    await send(
      "folded-newline",
      `x-api-key: ${lab.key.slice(0, 6)}\r\n ${lab.key.slice(6)}`,
    );
  },
};

/** The scenarios. */
export const AUTH_SCENARIOS: readonly Scenario[] = [KEYS, PASTED_KEYS];
