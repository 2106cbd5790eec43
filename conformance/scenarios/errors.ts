/** Scenarios of the area `errors`: requests that are wrong, one in each way. */
import { firstRoute, GENERATION, plainAsk } from "../suite/asks.ts";
import { calls, type Scenario } from "../suite/scenario.ts";
import { WRONG_BODIES } from "./wrong_bodies.ts";

const WRONG_REQUESTS: Scenario = {
  name: "wrong-requests",
  about:
    "A body that is no JSON, an unknown model, no messages, an unknown role",
  mode: "both",
  cost: calls(10, 16),
  async play(lab) {
    for (const endpoint of GENERATION) {
      const route = firstRoute(lab, endpoint);
      // The vendor does not have the unknown model either, should it be asked.
      const words = lab.prompt("text?no-model=no-such-model-1", "Say hello.");
      const ask = (form: string, more: Parameters<typeof plainAsk>[4] = {}) =>
        plainAsk(endpoint, route, form, words, { max_tokens: 16, ...more });
      await lab.send(ask("control"));
      await lab.send({ ...ask("no-json"), body: { text: '{"model":' } });
      await lab.send(ask("unknown-model", { model: "no-such-model-1" }));
      await lab.send(ask("no-messages", { messages: [] }));
      await lab.send(
        ask("unknown-role", { messages: [{ role: "bot", content: words }] }),
      );
    }
  },
};

/** The scenarios. */
export const ERRORS_SCENARIOS: readonly Scenario[] = [
  WRONG_REQUESTS,
  WRONG_BODIES,
];
