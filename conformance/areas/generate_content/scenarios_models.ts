/** Scenario of the area `generate_content`: the list of models. */
import { textAt } from "../../evidence/json_path.ts";
import { free, type Scenario } from "../../suite/scenario.ts";

const BASE = "/v1beta/models";

export const GENERATE_CONTENT_MODEL_SCENARIOS: readonly Scenario[] = [
  {
    name: "generate-content-models",
    about: "The list of models in the generate-content format, page by page",
    mode: "both",
    cost: free(7),
    async play(session) {
      const get = (
        name: string,
        path: string,
        auth: "x-goog-api-key" | "none" = "x-goog-api-key",
      ) =>
        session.send({
          label: `generate_content/models/GET/${name}`,
          endpoint: "generate_content",
          method: "GET",
          path: BASE + path,
          auth,
        });
      await session.send({ label: "models/list", endpoint: "models" });
      const list = await get("list", "?pageSize=1000");
      const first = await get("page-one", "?pageSize=1");
      const token = encodeURIComponent(textAt(first.json, "nextPageToken"));
      await get("page-two", `?pageSize=1&pageToken=${token}`);
      const name = textAt(list.json, "models.0.name").replace("models/", "");
      await get("entry", `/${encodeURIComponent(name)}`);
      await get("no-entry", "/no-such-model-17");
      await get("no-key", "", "none");
    },
  },
];
