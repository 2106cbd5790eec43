/** The Responses endpoint: how its replies, whole and streamed, are read and changed. */
import { at, brief, listAt, numberAt, textAt } from "../evidence/json_path.ts";
import { objectOf } from "@model-gateway/replay/json";
import type { ReadContent } from "@model-gateway/replay/content_of";
import { withAt } from "../faults/change_reply.ts";
import { inItems, inReply } from "../faults/change_responses.ts";
import { valueOf } from "../faults/field.ts";
import { fact } from "../suite/finding.ts";
import {
  contentIn,
  expectedContent,
  nameOf,
  repliesOf,
  responseOf,
} from "./read_responses.ts";
import type { ReplyForm } from "./reply_form.ts";

const CACHED = "input_tokens_details.cached_tokens";

/** The text and, apart from it, the words of a refusal. */
function words({ text, refusal }: ReadContent): string {
  return refusal === "" ? text : `${text} (refused: ${refusal})`;
}

/** The whole prompt, its cached part, and the output. */
function counts({ usage }: ReadContent): string {
  const { input, cacheRead, cacheWrite, output } = usage;
  return brief([input + cacheRead + cacheWrite, cacheRead, output]);
}

/** Both forms of the replies: a stream carries the whole reply in its last frame. */
export const RESPONSES: ReplyForm = {
  area: "responses",
  needs: "responses",
  endpoint: "responses",
  idPrefix: "resp_",
  isStream: false,
  section: "Responses reply",
  forms: ["responses-replies"],
  exact: ["responses-replies", "responses-contents"],
  unusual: {},
  replies: repliesOf,
  fixture: nameOf,
  content: expectedContent,
  head: {
    objects: (x) => [{ json: responseOf(x) }],
    put: (path, value) =>
      inReply((reply) => withAt(reply, path, valueOf(value, reply))),
  },
  text: (x) => words(contentIn(x)),
  texts: (content) => [words(content)],
  stop: (x) => ({ value: contentIn(x).stop }),
  stops: (x) => [expectedContent(x).stop],
  stopWords: {
    end: "completed",
    max_tokens: "max_output_tokens",
    refusal: "content_filter",
  },
  usage: (x) => {
    const [expected, found] = [expectedContent(x), contentIn(x)].map(counts);
    return [
      fact(expected === found, "usage", expected ?? "", found, x),
    ];
  },
  essence: (x) => {
    const content = contentIn(x);
    return brief([words(content), content.tools, content.stop], 1e6);
  },
  pieces: (x) => x.frames.length,
  hasText: (data) => textAt(data, "type") === "response.output_text.delta",
  changeText: (change) =>
    inItems("message", (item) => ({
      ...item,
      content: listAt(item, "content").map((part) => {
        const text = at(part, "text");
        return typeof text === "string"
          ? { ...objectOf(part), text: change(text, 0) }
          : part;
      }),
    })),
  changeStop: (from, to) =>
    inReply((reply) => {
      const reason = textAt(reply, "incomplete_details.reason") ||
        textAt(reply, "status");
      if (reason !== from) return reply;
      return to === "completed"
        ? { ...reply, status: to, incomplete_details: null }
        : {
          ...reply,
          status: "incomplete",
          incomplete_details: { reason: to },
        };
    }),
  changeUsage: (change) =>
    inReply((reply) => {
      const of = (path: string): number =>
        numberAt(reply, `usage.${path}`) ?? 0;
      const { input, output } = change({
        input: of("input_tokens"),
        output: of("output_tokens"),
        cached: of(CACHED),
      });
      const more = withAt(reply, "usage.input_tokens", input);
      return withAt(more, "usage.output_tokens", output);
    }),
};
