/** The turns of a web socket, and how they are judged. */
import { type Exchange } from "../../evidence/exchange.ts";
import { at, textAt } from "../../evidence/json_path.ts";
import { typeOf } from "../../endpoints/read_responses.ts";
import {
  isObject,
  type JsonObject,
  objectOf,
} from "@model-gateway/replay/json";
import { type Check } from "../../suite/check.ts";
import type { Evidence } from "../../suite/evidence.ts";
import { factOf, type Finding, NotTestable } from "../../suite/finding.ts";
import { sentFor } from "../responses/sent_request.ts";

/** The turns with these names; "*" is all of them. */
export function turns(
  e: Evidence,
  ...names: readonly string[]
): readonly Exchange[] {
  return names.flatMap((name) => e.matching(`socket/*/${name}`)).map((x) => {
    if (x.frames.length > 0) return x;
    throw new NotTestable(
      `"${x.label}" should be answered, and was ${x.problem ?? x.ending}`,
      x,
    );
  });
}

/** The turns that were answered with a reply. */
export function replies(
  e: Evidence,
  ...names: readonly string[]
): readonly Exchange[] {
  return turns(e, ...names).map((x) => {
    if (x.frames.some((frame) => typeOf(frame) === "response.created")) {
      return x;
    }
    throw new NotTestable(
      `"${x.label}" should be answered with a reply: ${x.text.slice(0, 200)}`,
      x,
    );
  });
}

export const types = (x: Exchange): readonly string[] => x.frames.map(typeOf);

export const isLast = (type: string): boolean =>
  /^response\.(completed|incomplete|failed)$/.test(type);

export function reaches(
  name: string,
  ...words: readonly string[]
): Check["judge"] {
  return (e) =>
    replies(e, name).map((x) => {
      const { body } = sentFor(x);
      return factOf("request upstream", body.slice(0, 400), x).mustBe(
        words.join(", "),
        words.every((each) => body.includes(each)),
      );
    });
}

/** Judges that the only event of a turn is an error that passes the test. */
export function refused(
  x: Exchange,
  test: (error: JsonObject) => boolean,
  expected: string,
): Finding {
  const last = x.frames.at(-1);
  return factOf("the event", last?.data, x, last).mustBe(
    expected,
    x.frames.length === 1 && textAt(last?.json, "type") === "error" &&
      isObject(at(last?.json, "error")) && test(objectOf(last?.json)),
  );
}

/** Judges that a turn has a complete reply, whatever the turns before it were. */
export function goesOn(...names: readonly string[]): Check["judge"] {
  return (e) =>
    e.matching(`socket/*/${names[0]}`).map((x) =>
      factOf("the turn", `${x.ending}: ${types(x).at(-1)}`, x).mustBe(
        "a reply to its end",
        x.ending === "complete" && isLast(types(x).at(-1) ?? "") &&
          types(x).at(-1) !== "response.failed",
      )
    );
}
