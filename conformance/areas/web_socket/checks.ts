/** Checks of the area `web_socket`: the Responses format through a web socket. */
import { type Exchange, headerOf } from "../../evidence/exchange.ts";
import { at, listAt, numberAt, textAt } from "../../evidence/json_path.ts";
import {
  contentIn,
  responseOf,
  typeOf,
} from "../../endpoints/read_responses.ts";
import { comparable, fixtureContent } from "../../evidence/content.ts";
import {
  isObject,
  type JsonObject,
  objectOf,
} from "@model-gateway/replay/json";
import { withAt } from "../../reference_gateway/change_reply.ts";
import type { Context, Hooks } from "../../reference_gateway/hooks.ts";
import { problemOf } from "../../reference_gateway/problems.ts";
import { type Check, checksWith } from "../../suite/check.ts";
import type { Evidence } from "../../suite/evidence.ts";
import {
  fact,
  type Finding,
  NotTestable,
  observed,
  statusIs,
} from "../../suite/finding.ts";
import { HANDSHAKE_ACCEPT } from "../../suite/web_socket_handshake.ts";
import { sentFor } from "../responses/sent_request.ts";
import { SAID } from "./scenarios.ts";

const TURNS = "web-socket-turns";
const EVENTS = "web-socket-events";
const CONTENTS = "web-socket-contents";
const FAILURES = "web-socket-failures";

/** The turns with these names; "*" is all of them. */
function turns(e: Evidence, ...names: readonly string[]): readonly Exchange[] {
  return names.flatMap((name) => e.matching(`socket/*/${name}`)).map((x) => {
    if (x.frames.length > 0) return x;
    throw new NotTestable(
      `"${x.label}" should be answered, and was ${x.problem ?? x.ending}`,
      x,
    );
  });
}

/** The turns that were answered with a reply. */
function replies(
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

const types = (x: Exchange): readonly string[] => x.frames.map(typeOf);

const isLast = (type: string): boolean =>
  /^response\.(completed|incomplete|failed)$/.test(type);

/** Changes every event that is sent through a web socket. */
function events(
  change: (
    event: JsonObject,
    x: Context,
  ) => JsonObject | readonly (JsonObject | string)[] | undefined,
): Hooks {
  return {
    message: (event, x) => {
      const changed = change(event, x);
      if (changed === undefined) return [];
      return isList(changed) ? changed : [changed];
    },
  };
}

function isList(
  value: JsonObject | readonly (JsonObject | string)[],
): value is readonly (JsonObject | string)[] {
  return Array.isArray(value);
}

/** Changes the events of one type. */
function ofType(
  type: RegExp,
  change: Parameters<typeof events>[0],
): Hooks {
  return events((event, x) =>
    type.test(textAt(event, "type")) ? change(event, x) : event
  );
}

/** Changes the errors in place of an HTTP status. */
function inErrors(change: (event: JsonObject) => JsonObject): Hooks {
  return ofType(
    /^error$/,
    (event) => event["status"] === undefined ? event : change(event),
  );
}

/** Judges what reached the model. */
function reaches(
  name: string,
  ...words: readonly string[]
): Check["judge"] {
  return (e) =>
    replies(e, name).map((x) => {
      const { body } = sentFor(x);
      return observed("request upstream", body.slice(0, 400), x).mustBe(
        words.join(", "),
        words.every((each) => body.includes(each)),
      );
    });
}

/** Judges that a turn was refused with that status. */
function refused(
  x: Exchange,
  test: (error: JsonObject) => boolean,
  expected: string,
): Finding {
  const last = x.frames.at(-1);
  return observed("the event", last?.data, x, last).mustBe(
    expected,
    x.frames.length === 1 && textAt(last?.json, "type") === "error" &&
      isObject(at(last?.json, "error")) && test(objectOf(last?.json)),
  );
}

/** Judges that a turn was answered, whatever came before it. */
function goesOn(...names: readonly string[]): Check["judge"] {
  return (e) =>
    e.matching(`socket/*/${names[0]}`).map((x) =>
      observed("the turn", `${x.ending}: ${types(x).at(-1)}`, x).mustBe(
        "a reply to its end",
        x.ending === "complete" && isLast(types(x).at(-1) ?? "") &&
          types(x).at(-1) !== "response.failed",
      )
    );
}

/** The connection ends with an error. */
const ENDS_WITH_ERROR: Hooks = {
  endsAfter: (event) => event["type"] === "error",
};

/** All checks of the area. */
export const WEB_SOCKET_CHECKS: readonly Check[] = checksWith({
  section: "Web socket (beyond the base specification)",
  mode: "both",
  needs: "web-socket",
  reads: [TURNS],
}, [
  {
    id: "web_socket.handshake",
    rule:
      "The handshake is answered with 101, `upgrade` and the `sec-websocket-accept` of its key.",
    reads: ["web-socket-handshake"],
    judge: (e) => {
      const x = e.exchange("socket/any/with-key");
      const accept = headerOf(x, "sec-websocket-accept");
      return [
        statusIs(x, 101),
        observed("sec-websocket-accept", accept, x).mustBe(
          HANDSHAKE_ACCEPT,
          accept === HANDSHAKE_ACCEPT,
        ),
      ];
    },
    misses: {
      "accept-wrong": { handshake: (key) => `${key}=` },
      "as-426": { upgrade: () => problemOf(426, "Not here") },
    },
  },
  {
    id: "web_socket.key-needed",
    rule: "A handshake without a key is refused with 401.",
    reads: ["web-socket-handshake"],
    judge: (e) => [statusIs(e.exchange("socket/any/without-key"), 401)],
    misses: {
      open: {
        admit: (problem, { endpoint }) =>
          endpoint === "responses" ? undefined : problem,
      },
    },
  },
  {
    id: "web_socket.messages",
    rule: "Each event is one text message, a JSON object with its `type`.",
    reads: [TURNS],
    judge: (e) =>
      turns(e, "*").map((x) => {
        const odd = x.frames.find(({ json }) =>
          !isObject(json) || textAt(json, "type") === ""
        );
        return observed("message", odd?.data ?? x.frames.length, x, odd).mustBe(
          "an object with a type",
          odd === undefined,
        );
      }),
    misses: {
      untyped: ofType(/created$/, ({ type: _, ...event }) => event),
      framed: ofType(
        /created$/,
        (event) => [`event: x\ndata: ${JSON.stringify(event)}`],
      ),
      lists: ofType(/created$/, (event) => [JSON.stringify([event])]),
    },
  },
  {
    id: "web_socket.events",
    rule:
      "A reply has the events of an event stream: `response.created` first, and one that ends it.",
    reads: [TURNS],
    judge: (e) =>
      replies(e, "*").map((x) => {
        const all = types(x);
        return observed("events", all, x).mustBe(
          "created, in_progress, …, one end",
          all[0] === "response.created" && all.filter(isLast).length === 1 &&
            isLast(all.at(-1) ?? ""),
        );
      }),
    misses: {
      "created-lost": ofType(/created$/, () => undefined),
      "end-lost": ofType(/completed$/, () => undefined),
      "end-only": ofType(/^response\.(?!completed)/, () => undefined),
    },
  },
  {
    id: "web_socket.numbers",
    rule: "`sequence_number` counts the events of each reply from 0.",
    reads: [TURNS],
    judge: (e) =>
      replies(e, "*").map((x) => {
        const found = x.frames.map(({ json }) => at(json, "sequence_number"));
        return observed("sequence numbers", found, x).mustBe(
          `0 to ${found.length - 1}`,
          found.join() === found.map((_, index) => index).join(),
        );
      }),
    misses: {
      "from-one": events((event) =>
        withAt(
          event,
          "sequence_number",
          (numberAt(event, "sequence_number") ?? 0) + 1,
        )
      ),
      absent: events(({ sequence_number: _, ...event }) => event),
      "one-lost": ofType(/in_progress$/, () => undefined),
    },
  },
  {
    id: "web_socket.contents",
    rule:
      "Texts, calls, reasons and token counts are those of the same reply over HTTP.",
    mode: "replay",
    reads: [CONTENTS],
    judge: (e) =>
      replies(e, "thinking-tool", "max-tokens", "text-unicode").map((x) => {
        const name = x.label.split("/").at(-1) ?? "";
        const [expected, found] = [
          comparable(fixtureContent(name, x.via)),
          contentIn(x),
        ].map(({ text, tools, usage }) =>
          JSON.stringify([
            text,
            tools,
            usage.input + usage.cacheRead + usage.cacheWrite,
            usage.output,
          ])
        );
        return fact(expected === found, "reply", expected ?? "", found, x);
      }),
    misses: {
      "ascii": ofType(
        /completed$|incomplete$/,
        (event) => JSON.parse(JSON.stringify(event).replaceAll(/[^ -~]/g, "?")),
      ),
      "usage-lost": ofType(
        /completed$|incomplete$/,
        (event) => withAt(event, "response.usage.output_tokens", 0),
      ),
      "calls-lost": ofType(/completed$|incomplete$/, (event) =>
        withAt(
          event,
          "response.output",
          listAt(event, "response.output").filter((item) =>
            textAt(item, "type") !== "function_call"
          ),
        )),
    },
  },
  {
    id: "web_socket.several-turns",
    rule: "One connection answers one turn after another.",
    judge: (e) =>
      ["stored", "continued", "unstored", "continued-unstored"].flatMap(
        (name) => goesOn(name)(e),
      ),
    misses: {
      "one-only": { endsAfter: (event) => isLast(textAt(event, "type")) },
      "second-silent": events((event, x) => {
        const ended = x.state.get("ended") === true;
        if (isLast(textAt(event, "type"))) x.state.set("ended", true);
        return ended ? undefined : event;
      }),
    },
  },
  {
    id: "web_socket.continued",
    rule:
      "With `previous_response_id` the model receives the whole conversation, and the turn only its new items.",
    mode: "replay",
    judge: reaches("continued", SAID.first, "Go on."),
    misses: {
      "new-only": {
        request: (request, { endpoint }) =>
          endpoint === "responses"
            ? {
              ...request,
              body: request.body.replace(/,"previous_response_id":"[^"]*"/, ""),
            }
            : request,
      },
    },
  },
  {
    id: "web_socket.unstored",
    rule:
      "A reply with `store` `false` can be continued on its own connection.",
    judge: goesOn("continued-unstored"),
    misses: { forgotten: { remembers: () => false } },
  },
  {
    id: "web_socket.unstored-elsewhere",
    rule:
      "On every other connection it is unknown: an error with `previous_response_not_found`.",
    reads: [EVENTS],
    judge: (e) =>
      turns(e, "elsewhere").map((x) =>
        refused(
          x,
          (event) =>
            event["status"] === 400 &&
            textAt(event, "error.code") === "previous_response_not_found",
          "an error with the status 400 and previous_response_not_found",
        )
      ),
    misses: {
      found: {
        request: (request, { endpoint }) =>
          endpoint === "responses"
            ? {
              ...request,
              body: request.body.replace('"store":false', '"store":true'),
            }
            : request,
      },
      uncoded: inErrors((event) => withAt(event, "error.code", null)),
    },
  },
  {
    id: "web_socket.prepared",
    rule:
      "With `generate` `false` the reply is complete and empty, and no model is called.",
    reads: [EVENTS],
    judge: (e) =>
      replies(e, "prepared").map((x) =>
        observed("reply", JSON.stringify(responseOf(x)).slice(0, 300), x)
          .mustBe(
            "completed, without output and tokens",
            types(x).at(-1) === "response.completed" &&
              listAt(responseOf(x), "output").length === 0 &&
              (numberAt(responseOf(x), "usage.total_tokens") ?? 0) === 0,
          )
      ),
    misses: {
      generated: {
        request: (request) => ({
          ...request,
          body: request.body.replace(
            '"generate":false',
            '"metadata":{}',
          ),
        }),
      },
      incomplete: ofType(
        /completed$/,
        (event) =>
          listAt(event, "response.output").length === 0
            ? { ...event, type: "response.incomplete" }
            : event,
      ),
    },
  },
  {
    id: "web_socket.preparation-continued",
    rule:
      "What was prepared reaches the model with the turn that continues it.",
    mode: "replay",
    reads: [EVENTS],
    judge: reaches("after-preparation", SAID.prepared, "Now."),
    misses: {
      lost: {
        request: (request) => ({
          ...request,
          body: request.body.replace(SAID.prepared, "Nothing."),
        }),
      },
    },
  },
  {
    id: "web_socket.steer",
    rule:
      "`response.steer` is carried out, or answered with `response.steer.failed` and a code.",
    reads: [EVENTS],
    judge: (e) =>
      turns(e, "steer").map((x) =>
        observed("the answer", x.text.slice(0, 300), x).mustBe(
          "response.steer.failed with a code, or a reply",
          types(x)[0] !== "response.steer.failed"
            ? isLast(types(x).at(-1) ?? "")
            : textAt(x.frames[0]?.json, "error.code") !== "",
        )
      ),
    misses: {
      uncoded: ofType(/steer/, ({ error: _, ...event }) => event),
      "as-error": ofType(/steer/, () => ({
        type: "error",
        status: 500,
        error: { type: "api_error", message: "x", code: null, param: null },
      })),
    },
  },
  {
    id: "web_socket.unknown-type",
    rule: "A message of an unknown type is answered with an `error` event.",
    reads: [EVENTS],
    judge: (e) =>
      turns(e, "unknown-type").map((x) =>
        refused(x, () => true, "an error event with `error`")
      ),
    misses: {
      silent: ofType(
        /^error$/,
        (event) => textAt(event, "error.param") === "type" ? undefined : event,
      ),
      "message-only": inErrors(({ error: _, ...event }) => ({
        ...event,
        message: "wrong",
      })),
    },
  },
  {
    id: "web_socket.wrong",
    rule:
      "An error in place of an HTTP status is an `error` event with `status` and the `error` that HTTP would have.",
    reads: [EVENTS],
    judge: (e) =>
      turns(e, "wrong").map((x) =>
        refused(
          x,
          (event) =>
            event["status"] === 400 &&
            textAt(event, "error.param") === "temperature" &&
            textAt(event, "error.message") !== "",
          "an error with the status 400 and the param temperature",
        )
      ),
    misses: {
      "as-500": inErrors((event) => ({ ...event, status: 500 })),
      "param-lost": inErrors((event) => withAt(event, "error.param", null)),
      "status-text": inErrors((event) => ({ ...event, status: "400" })),
    },
  },
  {
    id: "web_socket.unknown-model",
    rule: "An unknown model is such an error, too.",
    reads: [EVENTS],
    judge: (e) =>
      turns(e, "unknown-model").map((x) =>
        refused(
          x,
          ({ status }) => status === 404 || status === 400,
          "an error with the status 404 or 400",
        )
      ),
    misses: {
      "as-500": inErrors((event) => ({ ...event, status: 500 })),
    },
  },
  {
    id: "web_socket.goes-on",
    rule: "After an error the connection answers the next turn.",
    reads: [EVENTS],
    judge: goesOn("after-refusals"),
    misses: { ends: ENDS_WITH_ERROR },
  },
  {
    id: "web_socket.limited",
    rule:
      "An upstream's limit is an error with the status 429 and `retry-after` among its `headers`.",
    mode: "replay",
    reads: [FAILURES],
    judge: (e) =>
      turns(e, "limited").map((x) =>
        refused(
          x,
          (event) =>
            event["status"] === 429 &&
            String(at(event, "headers.retry-after")) === "7",
          "an error with the status 429 and retry-after",
        )
      ),
    misses: {
      "headers-lost": inErrors(({ headers: _, ...event }) => event),
      "as-500": inErrors((event) => ({ ...event, status: 500 })),
    },
  },
  {
    id: "web_socket.broken",
    rule:
      "After an upstream's failure inside a reply it ends with `error` and `response.failed`.",
    mode: "replay",
    reads: [FAILURES],
    judge: (e) =>
      turns(e, "broken").map((x) =>
        observed("the end", types(x).slice(-2), x).mustBe(
          "error, response.failed",
          types(x).slice(-2).join() === "error,response.failed",
        )
      ),
    misses: {
      "as-end": {
        part: (part) =>
          part.type === "failed" ? [{ type: "stop", cause: "end" }] : [part],
      },
      "error-lost": ofType(
        /^error$/,
        (event) => event["status"] === undefined ? undefined : event,
      ),
    },
  },
  {
    id: "web_socket.goes-on-after-failures",
    rule: "After a failed reply the connection answers the next turn.",
    mode: "replay",
    reads: [FAILURES],
    judge: goesOn("after-failures"),
    misses: {
      ends: { endsAfter: (event) => event["type"] === "response.failed" },
    },
  },
  {
    id: "web_socket.order",
    rule:
      "Turns that are sent at once are answered one after the other, in order.",
    mode: "replay",
    reads: ["web-socket-order"],
    judge: (e) =>
      turns(e, "at-once").map((x) => {
        const ids = x.frames.map(({ json }) => textAt(json, "response.id"))
          .filter((id) => id !== "");
        const ends = types(x).filter(isLast);
        return observed("events", types(x), x).mustBe(
          "a whole reply, then an incomplete one",
          ends.join() === "response.completed,response.incomplete" &&
            ids.join() ===
              ids.toSorted((a, b) => ids.indexOf(a) - ids.indexOf(b)).join(),
        );
      }),
    misses: { "at-once": { inOrder: () => false } },
  },
  {
    id: "web_socket.closed",
    rule: "A client that closes the connection ends the call upstream.",
    mode: "replay",
    reads: ["web-socket-closed"],
    judge: (e) => [
      observed("the call upstream", e.note("upstream")).mustBe(
        "ended by the target",
        !["still open", "complete"].includes(String(e.note("upstream"))),
      ),
    ],
    misses: { "goes-on": { hangUpCancels: () => false } },
  },
]);
