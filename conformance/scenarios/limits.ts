/** Scenarios of the area `limits`: requests beside and beyond the documented limits. */
import { firstRoute, GENERATION, plainAsk } from "../suite/asks.ts";
import { calls, type Scenario } from "../suite/scenario.ts";

const LIMITS: Scenario = {
  name: "limits",
  about: "max_tokens left out, temperature beyond its range, on both endpoints",
  mode: "both",
  cost: calls(6, 64),
  async play(lab) {
    for (const endpoint of GENERATION) {
      const route = firstRoute(lab, endpoint);
      const send = (form: string, more: Record<string, number | undefined>) =>
        lab.send(plainAsk(
          endpoint,
          route,
          form,
          lab.prompt("text", "Say hello in one word."),
          { max_tokens: 16, ...more },
        ));
      await send("control", {});
      await send("no-max_tokens", { max_tokens: undefined });
      await send("temperature-above", {
        temperature: endpoint === "messages" ? 1.5 : 2.5,
      });
    }
  },
};

/** The scenarios. */
export const LIMITS_SCENARIOS: readonly Scenario[] = [LIMITS];
