/** What the reference gateway leaves out of a request, and how it reports that. */
import { at, listAt, textAt } from "../../evidence/json_path.ts";
import type { DialectName } from "@model-gateway/replay/parse_request";
import type { ReplayRequest } from "@model-gateway/replay/script";
import { invalid, type ModelRequest } from "../part.ts";

/** Fields that an upstream cannot express: biases, tools of another vendor, strictness. */
function droppedFields(
  { asked, own }: ModelRequest,
  via: DialectName | undefined,
): readonly string[] {
  const isBiased = own.chat_completions?.["logit_bias"] !== undefined;
  if (isBiased && via !== "chat_completions") return ["logit_bias"];
  if (via === "responses") return [];
  return listAt(asked, "tools").flatMap((tool, index) =>
    !["function", "custom", "namespace"].includes(textAt(tool, "type"))
      ? [`tools[${index}]`]
      : via === "generate_content" && at(tool, "strict") === true
      ? [`tools[${index}].strict`]
      : []
  );
}

export function droppedHeaders(
  request: ModelRequest,
  via: DialectName | undefined,
): Readonly<Record<string, string>> {
  const dropped = droppedFields(request, via);
  return dropped.length === 0 ? {} : { "x-gateway-dropped": dropped.join() };
}

/**
 * Refuses a request that allows no loss, if a part of it would be left out.
 * @throws {Refused} when something would be left out
 */
export function refuseLosses(
  request: ModelRequest,
  via: DialectName,
  { headers }: ReplayRequest,
): void {
  const [first] = droppedFields(request, via);
  if (headers["x-gateway-strict"] === "true" && first !== undefined) {
    throw invalid(first, "cannot be sent to this model's upstream");
  }
}
