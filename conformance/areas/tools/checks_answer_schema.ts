/** Check of the area `tools`: the schema of a reply, in whatever format it was asked for. */
import { at, brief } from "../../evidence/json_path.ts";
import { keepsSchema } from "../../evidence/offered_tools.ts";
import { withAt } from "../../faults/change_reply.ts";
import type { Hooks } from "../../reference_gateway/hooks.ts";
import {
  isObject,
  type Json,
  type JsonObject,
  objectOf,
  parseJson,
} from "@model-gateway/replay/json";
import { type Check, checksWith } from "../../suite/check.ts";
import { factOf, offered } from "../../suite/finding.ts";

/** Where requests of the formats have the schema of their reply. */
const PATHS = [
  "response_format.json_schema.schema",
  "text.format.schema",
  "output_config.format.schema",
  "generationConfig.responseJsonSchema",
  "generationConfig.responseSchema",
];

function schemaIn(request: Json | undefined): JsonObject | undefined {
  return PATHS.map((path) => at(request, path)).find((schema) =>
    isObject(schema)
  );
}

function inSchemas(change: (schema: JsonObject) => JsonObject): Hooks {
  return {
    upstream: (call) => ({
      ...call,
      body: PATHS.reduce((body, path) => {
        const schema = at(body, path);
        return isObject(schema) ? withAt(body, path, change(schema)) : body;
      }, call.body),
    }),
  };
}

export const ANSWER_SCHEMA_CHECKS: readonly Check[] = checksWith({
  mode: "replay",
  reads: "everything",
  provedBy: ["tool-schema"],
}, [{
  id: "tools.answer-schema",
  source: "A model's JSON is only as right as the schema that it is given",
  rule:
    "The schema of a reply reaches the upstream with all that it states, where the upstream is given one.",
  judge: (e) =>
    offered(
      e.exchanges.flatMap((x) => {
        const call = x.upstream.at(-1);
        const found = schemaIn(call?.json);
        if (x.head?.status !== 200 || found === undefined) return [];
        const asked = schemaIn(parseJson(x.request.body));
        const ownKind = x.endpoint === "generate_content" ||
          call?.dialect === "generate_content";
        return asked === undefined ? [] : [
          factOf("schema upstream", found, x).mustBe(
            brief(asked),
            keepsSchema(asked, found, ownKind),
          ),
        ];
      }),
      "is given the schema of a reply",
    ),
  misses: {
    "required-lost": inSchemas(({ required: _, ...rest }) => rest),
    "types-lost": inSchemas((schema) => ({
      ...schema,
      properties: Object.fromEntries(
        Object.keys(objectOf(schema["properties"])).map((name) => [name, {}]),
      ),
    })),
    "names-lost": inSchemas((schema) => ({
      ...schema,
      properties: { other: { type: "string" } },
    })),
  },
}]);
