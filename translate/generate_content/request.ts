/**
 * The neutral request → the body of a generate-content call. The model and whether to stream are in the URL, which the gateway
 * builds. The pieces are `contents.ts`, `tools.ts` and `generation_config.ts`.
 *
 * @module
 */
import type { Capabilities } from "../capabilities.ts";
import type { EncodedRequest } from "../dialect.ts";
import { invalidField } from "../error.ts";
import type { JsonObject } from "../json.ts";
import type { GenerationRequest, OutputFormat, TextPart } from "../request.ts";
import { calledNames, withoutBillingLine } from "../turns.ts";
import { type Lose, writeContents } from "./contents.ts";
import { writeGenerationConfig } from "./generation_config.ts";
import { textParts } from "./media.ts";
import { changedFunctionNames, functionName } from "./names.ts";
import { type FormatTool, writeTools } from "./tools.ts";

/** Name of the function that stands in for structured output; underscores are added where the caller has one of that name. */
const FORMAT_TOOL = "final_answer";

/** Asks for JSON where the wire cannot: with functions on models that refuse the two together. */
const JSON_HINT = "Reply with one JSON object and nothing else.";

/**
 * Writes a request for an upstream of this dialect.
 *
 * @throws {ApiError} `invalid_request` naming, in the caller's words, a field that cannot be left out and cannot be said
 */
export function encodeRequest(
  given: GenerationRequest,
  can: Capabilities,
): EncodedRequest {
  const request = withSomethingSaid(given);
  const { words } = request;
  const losses = new Set<string>();
  const lose: Lose = (path) => void losses.add(path);

  const [essential] = request.essential;
  if (essential !== undefined) {
    throw invalidField(essential, "this model's upstream has nothing like it");
  }
  if (request.candidates !== undefined && request.candidates > 1) {
    throw invalidField(words.candidates, "only one answer can be given");
  }
  const { format, formatTool, hint } = chooseFormat(request, can, lose);
  const contents = writeContents(request, can, lose);
  const tools = writeTools(request, formatTool, can, lose);
  const generationConfig = writeGenerationConfig(request, format, can, lose);
  if (request.user !== undefined) lose(words.user);
  if (request.serviceTier !== undefined) lose(words.serviceTier);
  for (const path of request.unmapped) lose(path);

  const system = [
    ...systemParts(request.system),
    ...(hint === undefined ? [] : [{ text: hint }]),
  ];
  return {
    body: {
      ...(system.length > 0 ? { systemInstruction: { parts: system } } : {}),
      contents,
      ...tools,
      ...(generationConfig === undefined ? {} : { generationConfig }),
    },
    headers: {},
    losses: [...losses],
    context: {
      toolNames: changedFunctionNames(toolNames(request), can.maxToolName),
      ...(formatTool === undefined ? {} : { formatTool: formatTool.name }),
    },
  };
}

/** The wire demands a turn, so a lone system prompt is said by the user. */
function withSomethingSaid(request: GenerationRequest): GenerationRequest {
  return request.turns.length > 0 || request.system.length === 0 ? request : {
    ...request,
    system: [],
    turns: [{ role: "user", parts: request.system }],
  };
}

/** Every name that a call in the reply may have. */
function toolNames(request: GenerationRequest): ReadonlySet<string> {
  const names = new Set(calledNames(request.turns));
  for (const tool of request.tools ?? []) {
    if (tool.type === "function") names.add(tool.name);
  }
  return names;
}

/** Every part of the system prompt, without the line that Claude-style clients renew on each request: it ruins prompt caches. */
function systemParts(system: readonly TextPart[]): readonly JsonObject[] {
  return system.flatMap(({ text }) => textParts(withoutBillingLine(text)));
}

interface ChosenFormat {
  readonly format?: OutputFormat;
  readonly formatTool?: FormatTool;
  readonly hint?: string;
}

/**
 * How the format is said: in its own field; as a function that the model must call; or, for JSON without a schema, in words.
 * Models before Gemini 3, the ones that reason by budget or not at all, refuse JSON output together with functions.
 */
function chooseFormat(
  request: GenerationRequest,
  can: Capabilities,
  lose: Lose,
): ChosenFormat {
  const { format } = request;
  if (format === undefined || format.type === "text") return {};
  const functions = (request.tools ?? []).some((tool) =>
    tool.type === "function"
  );
  const withTools = !functions || can.reasoning === "level";
  if (format.type === "json") {
    if (withTools) return { format };
    lose(request.words.format);
    return { hint: JSON_HINT };
  }
  if (withTools && can.structuredOutput) return { format };
  let name = FORMAT_TOOL;
  const taken = new Set(
    [...toolNames(request)].map((tool) => functionName(tool, can.maxToolName)),
  );
  while (taken.has(name)) name += "_";
  return { formatTool: { name, format } };
}
