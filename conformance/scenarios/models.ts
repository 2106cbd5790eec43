/** Scenarios of the area `models`. */
import { free, type Scenario } from "../suite/scenario.ts";

const MODEL_LIST: Scenario = {
  name: "model-list",
  about: "The model list, twice",
  mode: "both",
  cost: free(2),
  async play(lab) {
    await lab.send({ label: "first", endpoint: "models" });
    await lab.send({ label: "second", endpoint: "models" });
  },
};

/** The scenarios. */
export const MODELS_SCENARIOS: readonly Scenario[] = [MODEL_LIST];
