/**
 * Scenarios of the area `transport` about refused requests whose body the target need not read, and
 * about the connection after them.
 */
import { GENERATION } from "../../suite/requests.ts";
import type { TestRequest } from "../../suite/test_request.ts";
import { free, type Scenario } from "../../suite/scenario.ts";

const PATHS = { messages: "/v1/messages", chat: "/v1/chat/completions" };

/** More than arrives with the head, so that a part is still unread when the refusal is sent. */
const BODY_BYTES = 30_000;
/** More than gateways accept. */
const LARGE_BYTES = 40_000_000;

const WRONG_KEY = "authorization: Bearer sk-nobody-0000000000000000";

function bodyOf(bytes: number): { readonly text: string } {
  return { text: `{"model":"none","messages":[],"x":"${"x".repeat(bytes)}"}` };
}

const REFUSED_THEN_LIST: Scenario = {
  name: "refused-then-list",
  about:
    "Refused requests with a body, and the list of models on the same connection",
  mode: "both",
  cost: free(10),
  async play(session) {
    const key = `authorization: Bearer ${session.key}`;
    const list = (label: string): TestRequest => ({
      label: `models/${label}`,
      endpoint: "models",
      auth: "none",
      rawLines: [key],
    });
    await session.sendInTurn([list("first/control"), list("again/control")]);
    for (const endpoint of GENERATION) {
      const refusals: Readonly<Record<string, Partial<TestRequest>>> = {
        "wrong-key": { rawLines: [WRONG_KEY] },
        // Paths and methods are refused before the endpoint matters: one endpoint shows it.
        ...(endpoint === "messages"
          ? {
            "no-path": { path: `${PATHS[endpoint]}/nothing/here` },
            "wrong-method": { method: "PUT" },
          }
          : {}),
      };
      for (const [form, refusal] of Object.entries(refusals)) {
        await session.sendInTurn([
          {
            label: `${endpoint}/refused/${form}`,
            endpoint,
            method: "POST",
            auth: "none",
            body: bodyOf(BODY_BYTES),
            rawLines: [key],
            ...refusal,
          },
          list(`${endpoint}-after/${form}`),
        ]);
      }
    }
  },
};

const REFUSED_LARGE: Scenario = {
  name: "refused-large",
  about:
    "A wrong key with a body of 40 MB, which is sent completely before the reply is read",
  mode: "replay",
  cost: free(2),
  async play(session) {
    for (const endpoint of GENERATION) {
      await session.sendInTurn([{
        label: `${endpoint}/large/wrong-key`,
        endpoint,
        auth: "none",
        body: bodyOf(LARGE_BYTES),
        rawLines: [WRONG_KEY],
      }]);
    }
  },
};

export const UNREAD_BODY_SCENARIOS: readonly Scenario[] = [
  REFUSED_THEN_LIST,
  REFUSED_LARGE,
];
