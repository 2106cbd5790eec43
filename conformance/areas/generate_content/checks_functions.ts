/** Checks of the area `generate_content`: the functions that a request offers. */
import {
  callsOf,
  everyContentReply,
} from "../../endpoints/read_generate_content.ts";
import type { Exchange } from "../../evidence/exchange.ts";
import { at, brief, textAt } from "../../evidence/json_path.ts";
import {
  keepsSchema,
  type OfferedTool,
  offeredTools,
  toolChoiceIn,
} from "../../evidence/offered_tools.ts";
import { parseJson } from "@model-gateway/replay/json";
import { allOf, type Check, checksWith } from "../../suite/check.ts";
import { demanded, factOf } from "../../suite/finding.ts";
import { sentFor } from "../responses/sent_request.ts";
import { forgets, ofContents, upstream } from "./passed_request.ts";

/** The tools that the client offers, beside those that reach the upstream. */
function offers(
  x: Exchange,
): readonly (readonly [OfferedTool, OfferedTool | undefined])[] {
  const call = sentFor(x);
  const found = offeredTools(call.dialect, call.json);
  return offeredTools("generate_content", parseJson(x.request.body)).map(
    (tool, index) => [tool, found[index]],
  );
}

/** Judges each function that a request declares. */
function eachTool(
  test: (sent: OfferedTool, found: OfferedTool, x: Exchange) => boolean,
): Check["judge"] {
  return (e) =>
    ["auto", "named"].flatMap((name) =>
      e.matching(`generate_content/*/*/${name}`).flatMap((x) =>
        offers(x).map(([sent, found]) =>
          factOf("function upstream", found, x).mustBe(
            brief(sent),
            found !== undefined && test(sent, found, x),
          )
        )
      )
    );
}

/** The reply to a request is a call of a function, or none is called. */
function called(name: string, expected: string | undefined): Check["judge"] {
  return (e) =>
    everyContentReply(e, name).map((x) => {
      const names = callsOf(x).map((call) => textAt(call, "name"));
      return demanded(e)(
        expected === undefined
          ? names.length === 0
          : names.length > 0 && names.every((each) => each === expected),
        "calls",
        expected ?? "none",
        names,
        x,
      );
    });
}

/**
 * The choice upstream; no tools offered equals a ban, one function that must be called its name.
 */
function choices(
  name: string,
  ...expected: readonly string[]
): Check["judge"] {
  return upstream(name, expected.join(" or "), (_, { dialect, json }) => {
    const { choice } = toolChoiceIn(dialect, json);
    const offered = offeredTools(dialect, json);
    return expected.includes(choice) ||
      (expected.includes("none") && offered.length === 0) ||
      (choice === "any" && offered.length === 1 &&
        expected.includes(`tool:${offered[0]?.name}`));
  });
}

/** A schema without the differences of the format's own kind. */
function lowered({ schema }: OfferedTool): OfferedTool["schema"] {
  return parseJson(
    JSON.stringify(schema ?? {}).replaceAll(
      /"type":"([A-Z]+)"/g,
      (all) => all.toLowerCase(),
    ),
  );
}

export const GENERATE_CONTENT_FUNCTIONS_CHECKS: readonly Check[] = checksWith({
  section: "Generate content requests",
  mode: "replay",
  needs: "generate-content",
  reads: ["generate-content-modes"],
}, [
  {
    id: "generate_content.functions",
    rule:
      "A function reaches the model with its name, its description and its schema, whether `parameters` or `parametersJsonSchema` has it.",
    judge: eachTool((sent, found, x) =>
      found.name === sent.name && found.description === sent.description &&
      keepsSchema(lowered(sent), lowered(found), x.via === "generate_content")
    ),
    misses: {
      "schemas-lost": ofContents(({ tools }) => ({
        tools: tools.map((tool) => ({ ...tool, schema: { type: "object" } })),
      })),
      "descriptions-lost": ofContents(({ tools }) => ({
        tools: tools.map((tool) => ({ ...tool, about: undefined })),
      })),
      "first-only": ofContents(({ tools }) => ({ tools: tools.slice(0, 1) })),
    },
  },
  {
    id: "generate_content.mode-any",
    rule:
      "With the mode `ANY` the reply is a call, with `allowedFunctionNames` of a function in it.",
    mode: "both",
    judge: allOf(called("any", "get_weather"), called("named", "get_weather")),
    misses: { ignored: forgets("toolConfig") },
    isSkillLive: true,
  },
  {
    id: "generate_content.mode-none",
    rule: "With the mode `NONE` no function is called.",
    mode: "both",
    judge: called("none", undefined),
    misses: {
      "as-any": ofContents(({ choice }) =>
        choice === "none" ? { choice: "any" } : {}
      ),
    },
    isSkillLive: true,
  },
  {
    id: "generate_content.modes-sent",
    rule: "Every mode reaches the model in the words of its vendor.",
    judge: allOf(
      choices("auto", "auto", "unset"),
      choices("any", "any", "tool:get_weather"),
      choices("named", "tool:get_weather"),
      choices("none", "none"),
      choices("validated", "auto", "unset"),
    ),
    misses: {
      "any-as-auto": ofContents(({ choice }) =>
        choice === "any" ? { choice: "auto" } : {}
      ),
      "names-lost": ofContents(({ choice }) =>
        choice?.startsWith("tool:") ? { choice: "any" } : {}
      ),
      "none-lost": ofContents(({ choice }) =>
        choice === "none" ? { choice: undefined } : {}
      ),
    },
  },
  {
    id: "generate_content.validated",
    rule:
      "With the mode `VALIDATED` functions are strict upstream, where their vendor has a word for it.",
    level: "convention",
    judge: upstream(
      "validated",
      "a strict function",
      (_, { dialect, json }) => {
        const mode = textAt(json, "toolConfig.functionCallingConfig.mode");
        return dialect === "messages" || mode === "VALIDATED" ||
          (at(json, "tools.0.function.strict") ??
              at(json, "tools.0.strict")) ===
            true;
      },
    ),
    misses: {
      loose: ofContents(({ tools }) => ({
        tools: tools.map(({ strict: _, ...tool }) => tool),
      })),
    },
  },
]);
