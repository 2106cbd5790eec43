/**
 * Decodes tools, their changes inside the conversation, and the tool choice of a request in the
 * messages format. `encode_tools.ts` is the inverse.
 */
import { invalidField } from "../../model/error.ts";
import { arrayOr, countIn, isObject, objectOr } from "../../bytes/json.ts";
import { compact } from "../../bytes/compact.ts";
import { toolName } from "../../model/billed_field.ts";
import type {
  RequestSettings,
  Tool,
  ToolChoice,
  WebSearch,
} from "../../model/request.ts";
import { WEB_SEARCH } from "./billed_fields.ts";
import { noteUnknown, type UnknownFields } from "../../model/unknown_fields.ts";
import { markOf } from "./cache_marks.ts";
import {
  type CountTokensRequest,
  isFunctionTool,
  isToolChange,
  type WireFunctionTool,
  type WireToolChange,
  type WireToolChoice,
  type WireVendorTool,
} from "./wire.ts";

const TOOL_FIELDS: ReadonlySet<string> = new Set([
  "type",
  "name",
  "description",
  "input_schema",
  "strict",
]);
const CHOICE_FIELDS: ReadonlySet<string> = new Set([
  "type",
  "name",
  "disable_parallel_tool_use",
]);

/** A tool, and whether the model is offered it at the end of the conversation. */
interface Offer {
  readonly tool: Tool;
  readonly isOffered: boolean;
}

/**
 * Decodes the tools that the model is offered at the end of the conversation, and the tool choice.
 *
 * @throws {ApiError} `invalid_request` for a change that adds a tool of an unknown name
 */
export function decodeTools(
  wire: CountTokensRequest,
  unknown: UnknownFields,
): Pick<RequestSettings, "tools" | "toolChoice" | "parallelTools"> {
  const { tool_choice: choice } = wire;
  noteUnknown(choice, CHOICE_FIELDS, "tool_choice.", unknown);
  const declared = wire.tools?.map((tool, at): Offer => ({
    tool: decodeTool(tool, `tools[${at}]`, "tools[].", unknown),
    isOffered: true,
  }));
  const offers = withChanges(wire, declared, unknown);
  const isSingle = choice !== undefined && choice.type !== "none" &&
    choice.disable_parallel_tool_use === true;
  return {
    ...(offers === undefined ? {} : {
      tools: offers.filter(({ isOffered }) => isOffered).map(({ tool }) =>
        tool
      ),
    }),
    ...(choice === undefined ? {} : { toolChoice: decodeChoice(choice) }),
    ...(isSingle ? { parallelTools: false } : {}),
  };
}

/**
 * The tools after the changes that system turns make. A tool keeps its place in the list, so that
 * the prompt stays the same for caches.
 */
function withChanges(
  { messages }: CountTokensRequest,
  declared: readonly Offer[] | undefined,
  unknown: UnknownFields,
): readonly Offer[] | undefined {
  let offers: Offer[] | undefined;
  const set = (at: number, offer: Offer): void => {
    offers ??= [...declared ?? []];
    offers[at === -1 ? offers.length : at] = offer;
  };
  messages.forEach(({ role, content }, index) => {
    if (role !== "system" || !Array.isArray(content)) return;
    content.forEach((block: object, position) => {
      if (!isToolChange(block)) return;
      const path = `messages[${index}].content[${position}].tool`;
      const name = changedName(block);
      const at = (offers ?? declared ?? []).findLastIndex(({ tool }) =>
        tool.name === name
      );
      const known = (offers ?? declared ?? [])[at];
      if (block.type === "tool_removal") {
        if (known !== undefined) set(at, { ...known, isOffered: false });
      } else if (block.tool.type === "tool_definition") {
        const tool = decodeTool(
          block.tool.definition,
          `${path}.definition`,
          "messages[].content[].tool.definition.",
          unknown,
        );
        set(at, { tool, isOffered: true });
      } else if (known === undefined) {
        throw invalidField(
          `${path}.name`,
          "names no tool of this request",
          "tool_reference_unresolved",
        );
      } else set(at, { ...known, isOffered: true });
    });
  });
  return offers ?? declared;
}

function changedName({ tool }: WireToolChange): string | undefined {
  return tool.type === "tool_definition" ? tool.definition.name : tool.name;
}

/**
 * The end of the name of a tool that holds the place of deferred ones and is never to be called:
 * formats without tool search would offer it.
 */
const PLACEHOLDER = "Placeholder";

function decodeTool(
  tool: WireFunctionTool | WireVendorTool,
  path: string,
  prefix: string,
  unknown: UnknownFields,
): Tool {
  const isPlaceholder = tool.name?.endsWith(PLACEHOLDER) === true &&
    objectOr(tool)["defer_loading"] === true;
  if (!isFunctionTool(tool) || isPlaceholder) {
    return {
      type: "opaque",
      from: "messages",
      kind: isFunctionTool(tool) ? tool.name : tool.type,
      ...(tool.name === undefined ? {} : { name: tool.name }),
      path,
      value: objectOr(tool),
      ...(!isFunctionTool(tool) && toolName(tool.type) === WEB_SEARCH
        ? { search: searchOf(tool) }
        : {}),
    };
  }
  noteUnknown(tool, TOOL_FIELDS, prefix, unknown);
  return {
    type: "function",
    name: tool.name,
    ...(tool.description === undefined
      ? {}
      : { description: tool.description }),
    parameters: tool.input_schema,
    ...(tool.strict === undefined ? {} : { strict: tool.strict }),
    ...markOf(tool),
  };
}

/** Fields of a search that bound it, and those that change nothing. */
const SEARCH_FIELDS: ReadonlySet<string> = new Set([
  "type",
  "name",
  "max_uses",
  "allowed_domains",
  "blocked_domains",
  "user_location",
  "cache_control",
]);

function searchOf(tool: object): WebSearch {
  const { max_uses, allowed_domains, blocked_domains, user_location, ...more } =
    objectOr(tool);
  const domains = (value: unknown): readonly string[] | undefined => {
    const found = arrayOr(value).filter((one) => typeof one === "string");
    return found.length === 0 ? undefined : found;
  };
  return {
    ...compact({
      max_uses: countIn(max_uses),
      allowed_domains: domains(allowed_domains),
      blocked_domains: domains(blocked_domains),
      user_location: isObject(user_location) ? user_location : undefined,
    }),
    others: Object.keys(more).filter((name) =>
      !SEARCH_FIELDS.has(name) &&
      // A search by the model itself is what every format has.
      !(name === "allowed_callers" && String(more[name]) === "direct")
    ),
  };
}

function decodeChoice(choice: WireToolChoice): ToolChoice {
  switch (choice.type) {
    case "auto":
    case "none":
      return { type: choice.type };
    case "any":
      return { type: "required" };
    case "tool":
      return { type: "tool", name: choice.name };
  }
}
