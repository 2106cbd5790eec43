/** Scenarios of the area `errors`: requests with one mistake each. */
import { firstRoute, GENERATION, plainRequest } from "../../suite/requests.ts";
import { calls, type Scenario } from "../../suite/scenario.ts";
import { INVALID_REQUESTS } from "./scenarios_invalid_requests.ts";

const WRONG_REQUESTS: Scenario = {
  name: "wrong-requests",
  about:
    "A body that is not JSON, an unknown model, no messages, an unknown role",
  mode: "both",
  cost: calls(10, 16),
  async play(session) {
    for (const endpoint of GENERATION) {
      const route = firstRoute(session, endpoint);
      // If the gateway asks the vendor, the vendor does not have the unknown model either.
      const words = session.prompt(
        "text?no-model=no-such-model-1",
        "Say hello.",
      );
      const requestOf = (
        form: string,
        more: Parameters<typeof plainRequest>[4] = {},
      ) =>
        plainRequest(endpoint, route, form, words, { max_tokens: 16, ...more });
      await session.send(requestOf("control"));
      await session.send({
        ...requestOf("no-json"),
        body: { text: '{"model":' },
      });
      await session.send(
        requestOf("unknown-model", { model: "no-such-model-1" }),
      );
      await session.send(requestOf("no-messages", { messages: [] }));
      await session.send(
        requestOf("unknown-role", {
          messages: [{ role: "bot", content: words }],
        }),
      );
    }
  },
};

export const ERRORS_SCENARIOS: readonly Scenario[] = [
  WRONG_REQUESTS,
  INVALID_REQUESTS,
];
