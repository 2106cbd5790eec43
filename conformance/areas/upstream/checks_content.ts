/** Checks of the area `upstream`: tools and pictures reach the upstream unchanged. */
import { factOf, statusIs } from "../../suite/finding.ts";
import {
  afterFirst,
  changeRequest,
  inParts,
  inTools,
  inTurns,
} from "../../faults/change_request.ts";
import { type Check, checksWith, sharedFaults } from "../../suite/check.ts";
import { sameJson } from "../../evidence/json_path.ts";
import {
  turnsText,
  type UpstreamRequest,
} from "../../evidence/upstream_request.ts";
import { isObject, type Json } from "@model-gateway/replay/json";
import { equal, passed, passedRequest, SAME, TABLE } from "./passed_request.ts";

/** A tool without members of its schema that add no meaning, since some gateways add them. */
function meant(tool: UpstreamRequest["tools"][number]): Json {
  const { schema } = tool;
  if (!isObject(schema)) return { ...tool };
  const keywords = Object.entries(schema).filter(([key, value]) =>
    !(key.startsWith("$def") && sameJson(value, {}))
  );
  return { ...tool, schema: Object.fromEntries(keywords) };
}

export const CONTENT_CHECKS: readonly Check[] = checksWith({
  section: TABLE,
  mode: "replay",
  reads: ["sent-things"],
}, [
  {
    id: "upstream.tools",
    rule: "| tools | array | no | Tool definitions;",
    judge: (e) =>
      passed(e, "tools").map(({ x, asked, sent }) =>
        factOf("tools upstream", JSON.stringify(sent.tools), x).mustBe(
          JSON.stringify(asked.tools),
          sameJson(asked.tools.map(meant), sent.tools.map(meant)),
        )
      ),
    faults: {
      "tools-lost": changeRequest({ tools: [] }),
      "second-tool-lost": changeRequest((request) => ({
        tools: request.tools.slice(0, 1),
      })),
      "tools-reversed": changeRequest(({ tools }) => ({
        tools: [...tools].reverse(),
      })),
      "schemas-emptied": inTools(() => ({ schema: { type: "object" } })),
      "descriptions-lost": inTools(() => ({ about: undefined })),
      "required-lost": inTools(({ schema }) => ({
        schema: JSON.parse(
          JSON.stringify(schema).replace(/,"required":\[[^\]]*\]/, ""),
        ),
      })),
    },
  },
  {
    id: "upstream.image",
    level: "convention",
    rule: "block arrays such as image blocks are also used",
    judge: (e) =>
      ["image", "images"].flatMap((form) => passed(e, form)).map((p) =>
        equal(p, "turns upstream", turnsText(p.asked), turnsText(p.sent))
      ),
    faults: {
      "image-lost": inParts(["image", "image-url"], () => undefined),
      "image-cut": inParts("image", (part) => ({
        ...part,
        data: part.data.slice(0, -4),
      })),
      "image-type-changed": inParts("image", (part) => ({
        ...part,
        media: "image/jpeg",
      })),
      "image-after-text": inTurns((parts) =>
        parts.toSorted((left, right) =>
          Number(left.type === "image") - Number(right.type === "image")
        )
      ),
      "second-image-lost": afterFirst("image", () => undefined),
    },
  },
  {
    id: "upstream.image-url",
    source: SAME,
    rule:
      "The URL of a picture reaches the upstream unchanged, or the request is refused.",
    judge: (e) =>
      [...e.matching("*/*/image-url-whole")].map((x) => {
        if (x.head?.status !== 200) return statusIs(x, 400);
        const p = passedRequest(x);
        return equal(
          p,
          "turns upstream",
          turnsText(p.asked),
          turnsText(p.sent),
        );
      }),
    faults: {
      "image-address-cut": inParts("image-url", (part) => ({
        ...part,
        url: part.url.split("?")[0] ?? "",
      })),
      ...sharedFaults("image-lost"),
    },
  },
]);
