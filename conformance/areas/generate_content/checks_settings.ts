/** Checks of the area `generate_content`: the settings of a request. */
import {
  contentIn,
  everyContentReply,
} from "../../endpoints/read_generate_content.ts";
import { isObject, parseJson } from "@model-gateway/replay/json";
import { withAt } from "../../faults/change_reply.ts";
import { changeContentRequest } from "../../faults/change_generate_content.ts";
import type { Hooks } from "../../reference_gateway/hooks.ts";
import { type Check, checksWith } from "../../suite/check.ts";
import { demanded } from "../../suite/finding.ts";
import { sentWhereTaken, tuningChecks } from "../replies/sent_settings.ts";
import { EFFORT, SETTINGS, TOP_P, TUNING } from "./scenarios_requests.ts";
import { ofContents, upstream } from "./passed_request.ts";

/** Judges that the text of a reply is JSON in the schema of its request. */
function isJson(name: string): Check["judge"] {
  return (e) =>
    everyContentReply(e, name).map((x) => {
      const found = parseJson(contentIn(x).text);
      return demanded(e)(
        isObject(found) && typeof found["city"] === "string" &&
          Number.isInteger(found["days"]),
        "text",
        "JSON with city and days",
        contentIn(x).text,
        x,
      );
    });
}

const SENT = "generate_content/*/whole/settings";

/** The request with a setting of the reply's form left out, and with it the type. */
function forgetsFormat(name: string): Hooks {
  return changeContentRequest((body) => {
    const config = body["generationConfig"];
    if (!isObject(config) || config[name] === undefined) return body;
    const { [name]: _, responseMimeType: __, ...others } = config;
    return { ...body, generationConfig: others };
  });
}

const TUNED = {
  section: "Generate content requests",
  needs: "generate-content",
  reads: "generate-content-requests",
  put: (path: string, value?: number | string): Hooks =>
    changeContentRequest((body) => withAt(body, path, value)),
} as const;

const TUNING_CHECKS: readonly Check[] = [
  ...tuningChecks({ ...TUNED, label: "generate_content/*/whole/effort" }, [{
    id: "generate_content.effort",
    name: "thinkingLevel",
    path: "generationConfig.thinkingConfig.thinkingLevel",
    setting: "effort",
    value: EFFORT.toLowerCase(),
  }]),
  ...tuningChecks(
    { ...TUNED, label: "generate_content/*/whole/tuning" },
    ([
      ["top-k", "topK"],
      ["seed", "seed"],
      ["presence-penalty", "presencePenalty"],
      ["frequency-penalty", "frequencyPenalty"],
    ] as const).map(([id, name]) => ({
      id: `generate_content.${id}`,
      name,
      path: `generationConfig.${name}`,
      setting: name,
      value: TUNING[name],
    })),
  ),
];

export const GENERATE_CONTENT_SETTINGS_CHECKS: readonly Check[] = checksWith({
  section: "Generate content requests",
  mode: "replay",
  needs: "generate-content",
  reads: ["generate-content-requests"],
}, [
  {
    id: "generate_content.cap",
    rule: "`maxOutputTokens` is the upper bound on the model's output.",
    judge: upstream(
      "settings",
      `${SETTINGS.maxOutputTokens}`,
      ({ maxTokens }) => maxTokens === SETTINGS.maxOutputTokens,
    ),
    misses: {
      lost: ofContents(() => ({ maxTokens: undefined })),
      fixed: ofContents(() => ({ maxTokens: 4096 })),
    },
  },
  {
    id: "generate_content.temperature",
    rule: "`temperature` reaches the model.",
    judge: sentWhereTaken(
      SENT,
      ({ temperature }) => temperature,
      SETTINGS.temperature,
    ),
    misses: {
      lost: ofContents(() => ({ temperature: undefined })),
      doubled: ofContents(() => ({ temperature: 1 })),
    },
  },
  {
    id: "generate_content.top-p",
    rule: "`topP` reaches the model, where it takes it.",
    judge: sentWhereTaken(
      "generate_content/*/whole/top-p",
      ({ topP }) => topP,
      TOP_P,
    ),
    misses: {
      lost: ofContents(() => ({ topP: undefined })),
      whole: ofContents(() => ({ topP: 1 })),
    },
  },
  {
    id: "generate_content.stop-strings",
    rule: "`stopSequences` reach the model, where its vendor has them.",
    judge: sentWhereTaken(
      SENT,
      ({ stops }) => stops.length === 0 ? undefined : stops.join(),
      SETTINGS.stopSequences.join(),
    ),
    misses: {
      lost: ofContents(() => ({ stops: [] })),
      "first-only": ofContents(({ stops }) => ({ stops: stops.slice(0, 1) })),
    },
  },
  {
    id: "generate_content.json-schema",
    rule: "With `responseJsonSchema` the reply is JSON in that schema.",
    mode: "both",
    reads: ["generate-content-json"],
    judge: isJson("json-schema"),
    misses: { ignored: forgetsFormat("responseJsonSchema") },
    isSkillLive: true,
  },
  {
    id: "generate_content.own-schema",
    rule:
      "With `responseSchema`, whose types are in upper case, the reply is JSON in that schema.",
    mode: "both",
    reads: ["generate-content-json"],
    judge: isJson("own-schema"),
    misses: { ignored: forgetsFormat("responseSchema") },
    isSkillLive: true,
  },
  ...TUNING_CHECKS,
]);
