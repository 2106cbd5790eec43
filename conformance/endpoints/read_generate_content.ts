/** Reads replies of the generate-content format: one object, an event stream, or an array. */
import type { Exchange, Frame } from "../evidence/exchange.ts";
import { at, listAt, textAt } from "../evidence/json_path.ts";
import { comparable, fixtureContent } from "../evidence/content.ts";
import {
  contentOfStream,
  type ReadContent,
} from "@model-gateway/replay/content_of";
import {
  isObject,
  type Json,
  type JsonObject,
} from "@model-gateway/replay/json";
import { type Evidence, outcome } from "../suite/evidence.ts";
import { NotTestable } from "../suite/finding.ts";
import type { ContentForm } from "../suite/content_requests.ts";

/** The form of a reply and the name of its request, from its label. */
export function formOf({ label }: Exchange): ContentForm {
  const form = label.split("/")[2];
  return form === "stream" || form === "array" ? form : "whole";
}

/** The name of a request: the last part of its label. */
export function nameOf({ label }: Exchange): string {
  return label.split("/").at(-1) ?? "";
}

export function objectsOf(x: Exchange): readonly JsonObject[] {
  const values: readonly (Json | undefined)[] = x.frames.length > 0
    ? x.frames.map(({ json }) => json)
    : Array.isArray(x.json)
    ? x.json
    : [x.json];
  return values.filter((value) => isObject(value));
}

/** The objects of a reply, each with the frame that it came in. */
export function framedObjects(
  x: Exchange,
): readonly { readonly json: Json | undefined; readonly frame?: Frame }[] {
  return x.frames.length > 0
    ? x.frames.map((frame) => ({ json: frame.json, frame }))
    : objectsOf(x).map((json) => ({ json }));
}

/** The replies of a form with these names; "*" is all of them. */
export function contentReplies(
  e: Evidence,
  form: ContentForm,
  name = "*",
): readonly Exchange[] {
  const pattern = `generate_content/*/${form}/${name}`;
  switch (form) {
    case "whole":
      return e.replies(pattern);
    case "stream":
      return e.streams(pattern);
    case "array":
      return e.matching(pattern).map((x) => {
        if (x.head?.status === 200 && Array.isArray(x.json)) return x;
        throw new NotTestable(
          `"${x.label}" should be answered 200 with an array, and was ${
            outcome(x)
          }`,
          x,
        );
      });
  }
}

/** The replies of every form that the scenarios requested. */
export function everyContentReply(
  e: Evidence,
  name = "*",
): readonly Exchange[] {
  return e.matching(`generate_content/*/*/${name}`).flatMap((x) =>
    contentReplies(e, formOf(x), nameOf(x)).filter(({ label }) =>
      label === x.label
    )
  );
}

export function partsOf(x: Exchange): readonly Json[] {
  return objectsOf(x).flatMap((object) =>
    listAt(object, "candidates.0.content.parts")
  );
}

export function callsOf(x: Exchange): readonly Json[] {
  return partsOf(x).flatMap((part) => at(part, "functionCall") ?? []);
}

/** Why a reply ended; "blocked" for a prompt that was not answered at all. */
export function reasonOf(x: Exchange): string {
  const objects = objectsOf(x);
  if (
    objects.some((each) => textAt(each, "promptFeedback.blockReason") !== "")
  ) {
    return BLOCKED;
  }
  return objects.map((each) => textAt(each, "candidates.0.finishReason"))
    .findLast((reason) => reason !== "") ?? "";
}

/** The reason of a reply to a blocked prompt. */
export const BLOCKED = "blocked";

export function lastOf(x: Exchange): JsonObject | undefined {
  return objectsOf(x).at(-1);
}

export function contentIn(x: Exchange): ReadContent {
  return comparable(contentOfStream("generate_content", objectsOf(x)));
}

export function expectedContent(x: Exchange): ReadContent {
  return fixtureContent(nameOf(x), x.via);
}
