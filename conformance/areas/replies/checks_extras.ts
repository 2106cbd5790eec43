/** Rules for upstreams of the client's own format: no member of a reply or of a request is lost. */
import { EXTRA_REPLIES } from "@model-gateway/replay/extras";
import {
  isObject,
  type Json,
  objectOf,
  parseJson,
} from "@model-gateway/replay/json";
import type { Exchange } from "../../evidence/exchange.ts";
import { at, brief } from "../../evidence/json_path.ts";
import { withAt } from "../../faults/change_reply.ts";
import type { Context, Hooks } from "../../reference_gateway/hooks.ts";
import type { Check, Rule } from "../../suite/check.ts";
import type { Evidence } from "../../suite/evidence.ts";
import { factOf, type Finding, offered } from "../../suite/finding.ts";
import { sentFor } from "../responses/sent_request.ts";
import { onEvery } from "./on_every.ts";
import { EXTRAS, FULL_NAMES } from "./scenarios_extras.ts";

const REPLY: Rule = {
  source:
    "Clients of a format use what its vendor sends, whatever a gateway knows of it",
  text:
    "A reply of an upstream in the client's own format keeps all its members: tools that the vendor runs, pictures, sound, signatures, probabilities, details of the usage.",
};
const REQUEST: Rule = {
  source:
    "A gateway forwards requests (section What the service does), and clients of a format use what its vendor offers",
  text:
    "A request to an upstream in the client's own format keeps all its members: turns with all their parts, tools, settings.",
};
/** What a gateway may replace, since it names replies and models itself. */
const OWN_NAMES =
  /^\d+\.(message\.)?(id|model|created|modelVersion|responseId)$/;

/** The path of the first value of `sent` that `found` lacks; undefined when there is none. */
function lost(
  sent: Json | undefined,
  found: Json | undefined,
  path = "",
): string | undefined {
  if (OWN_NAMES.test(path)) return undefined;
  const isList = Array.isArray(sent);
  if (!isList && !isObject(sent)) return sent === found ? undefined : path;
  if (isList && (!Array.isArray(found) || found.length !== sent.length)) {
    return path;
  }
  for (const [name, value] of Object.entries(sent)) {
    const inside = path === "" ? name : `${path}.${name}`;
    const first = lost(value, at(found, name), inside);
    if (first !== undefined) return first;
  }
  return isList || isObject(found) ? undefined : path;
}

/** The JSON values of a reply in order, without signs of life. */
function valuesOf(x: Exchange): readonly Json[] {
  const all = x.frames.length > 0
    ? x.frames.flatMap(({ json }) => json ?? [])
    : [x.json ?? null].flat();
  return all.filter((json) => at(json, "type") !== "ping");
}

/** The same of the upstream's reply. */
function valuesSent({ via = "responses", label }: Exchange): readonly Json[] {
  const { whole = "", stream = [] } = EXTRA_REPLIES[via] ?? {};
  return label.includes("/whole/") ? [parseJson(whole) ?? null] : stream
    .flatMap((frame) =>
      parseJson(/^data: (.*)$/m.exec(frame)?.[1] ?? "") ?? []
    );
}

/** The replies with extras, all of upstreams of the endpoint's own format. */
function repliesOf(
  endpoint: string,
  form: string,
  e: Evidence,
): readonly Exchange[] {
  return labelled(e, endpoint, `${form}/${EXTRAS}`);
}

/** The exchanges of that label, which only upstreams of the endpoint's own format get. */
function labelled(
  e: Evidence,
  endpoint: string,
  end: string,
): readonly Exchange[] {
  return offered(
    e.exchanges.filter(({ label }) =>
      label.startsWith(`${endpoint}/`) && label.endsWith(`/${end}`)
    ),
    "has the format of its clients",
  );
}

function keepsAll(x: Exchange): Finding {
  const found = valuesOf(x);
  const sent = valuesSent(x);
  const first = [lost(sent, found)].flat()[0];
  return factOf(
    first ?? "members",
    brief(first === undefined ? "all" : at([...found], first)),
    x,
  ).mustBe(
    first === undefined ? "all of the upstream's" : brief(at([...sent], first)),
    first === undefined,
  );
}

/** Judges the request upstream: all that the client sent, except the model's name. */
function sendsAll(x: Exchange): Finding {
  const { model: _, ...asked } = objectOf(parseJson(x.request.body));
  const call = sentFor(x);
  const first = lost(asked, call.json);
  return factOf(
    first ?? "members",
    brief(first === undefined ? "all" : at(call.json, first)),
    x,
  ).mustBe(
    first === undefined ? "all of the client's" : brief(at(asked, first)),
    first === undefined,
  );
}

/** Changes the text of such replies on the wire. */
function onWire(
  isOf: (x: Context) => boolean,
  change: (text: string) => string,
): Hooks {
  return {
    wire: (text, x) =>
      isOf(x) && x.request.body.includes(`[[fx:${EXTRAS}`)
        ? change(text)
        : text,
  };
}

export const EXTRA_CHECKS: readonly Check[] = onEvery({
  ids: {
    "message_reply.extras": REPLY,
    "message_stream.extras": REPLY,
    "chat_reply.extras": REPLY,
    "chat_stream.extras": REPLY,
    "generate_content_reply.extras": REPLY,
    "generate_content_stream.extras": REPLY,
    "generate_content_array.extras": REPLY,
  },
  reads: ({ endpoint }) => [`${endpoint}-extras`],
  of: ({ endpoint, area }, e) =>
    repliesOf(
      endpoint,
      /array/.exec(area)?.[0] ?? (/stream/.test(area) ? "stream" : "whole"),
      e,
    ),
  each: () => keepsAll,
  faults: ({ endpoint, isStream }, id) => {
    const wire = (change: (text: string) => string): Hooks =>
      onWire(
        (x) => x.endpoint === endpoint && x.stream === isStream,
        change,
      );
    return {
      "member-lost": wire((text) =>
        text.replaceAll(/,"x_vendor":\{[^}]*\}/g, "")
      ),
      "number-changed": wire((text) =>
        text.replaceAll('"cost":0.25', '"cost":0')
      ),
      "list-cut": wire((text) => text.replaceAll('["a","b"]', '["a"]')),
      ...(id.includes("_stream")
        ? {
          "frame-lost": wire((text) => text.replace(/\n\n[^]*?(?=\n\n)/, "")),
        }
        : {}),
    };
  },
});

/** A member, by its path, of one of the requests alone. */
const ONCE: Readonly<Record<string, string>> = {
  messages: "temperature",
  chat: "stream_options.include_usage",
  generate_content: "generationConfig.thinkingConfig.thinkingLevel",
  responses: "tool_choice.mode",
};

/** The rule about requests. */
export const FULL_REQUEST_CHECKS: readonly Check[] = onEvery({
  ids: {
    "message_reply.full-request": REQUEST,
    "chat_reply.full-request": REQUEST,
    "generate_content_reply.full-request": REQUEST,
    "responses.full-request": REQUEST,
  },
  reads: ({ endpoint }) => [`${endpoint}-extras`],
  of: ({ endpoint }, e) =>
    FULL_NAMES.flatMap((name) => labelled(e, endpoint, `whole/${name}`)),
  each: () => sendsAll,
  faults: ({ endpoint }) => {
    const upstream = (change: (text: string) => string): Hooks => ({
      upstream: (call, x) =>
        x.endpoint === endpoint && x.request.body.includes(`[[fx:${EXTRAS}`)
          ? {
            ...call,
            body: objectOf(parseJson(change(JSON.stringify(call.body)))),
          }
          : call,
    });
    return {
      "schema-trimmed": upstream((text) =>
        text.replaceAll('"additionalProperties":false', '"x":1')
      ),
      "list-cut": upstream((text) =>
        text.replaceAll('"required":["a"]', '"required":[]')
      ),
      "arguments-changed": upstream((text) =>
        text.replaceAll(/([{,]\\?"a\\?":)1/g, "$12")
      ),
      "member-lost": upstream((text) =>
        JSON.stringify(
          withAt(objectOf(parseJson(text)), ONCE[endpoint] ?? "", undefined),
        )
      ),
    };
  },
});
