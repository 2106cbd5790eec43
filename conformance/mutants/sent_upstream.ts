/** Mutants for the checks of the area `upstream`: gateways that ask the upstream for something else than the caller did. */
import type { Context, Hooks, OutCall } from "../golden/hooks.ts";
import type { Ask, TurnPart } from "../golden/part.ts";
import type { JsonObject } from "../replay/json.ts";
import type { Mutant } from "./mutant.ts";
import { mutant, parts, TALK_MUTANTS } from "./sent_talk.ts";

function pictures(
  change: (part: TurnPart) => readonly TurnPart[],
): Hooks {
  const ask = parts((part) =>
    part.type.startsWith("image") ? change(part) : [part]
  );
  return ask === undefined ? {} : { ask };
}

function call(change: (call: OutCall, x: Context) => OutCall): Hooks {
  return { upstream: change };
}

function withBody(change: (body: JsonObject, x: Context) => JsonObject): Hooks {
  return call((out, x) => ({ ...out, body: change(out.body, x) }));
}

function otherModel(ask: Ask): Ask {
  return ask.model === "vendora-opus-4-8"
    ? { ...ask, model: "vendora-haiku-4-5" }
    : ask;
}

/** The mutants. */
export const SENT_MUTANTS: readonly Mutant[] = [
  ...TALK_MUTANTS,
  mutant("limit-lost", "The limit of output is lost", (ask) => ({
    ...ask,
    maxTokens: undefined,
  })),
  mutant(
    "limit-lost-on-chat",
    "The limit of output is lost on the chat endpoint",
    (ask, { endpoint }) =>
      endpoint === "chat" ? { ...ask, maxTokens: undefined } : ask,
  ),
  mutant("limit-one-more", "The limit of output is one larger", (ask) => ({
    ...ask,
    maxTokens: ask.maxTokens === undefined ? undefined : ask.maxTokens + 1,
  })),
  mutant("limit-zero-by-default", "The limit is 0 unless told", (ask) => ({
    ...ask,
    maxTokens: ask.maxTokens ?? 0,
  })),
  mutant("temperature-lost", "The temperature is lost", (ask) => ({
    ...ask,
    temperature: undefined,
  })),
  mutant(
    "temperature-doubled",
    "The temperature is put on another scale",
    (ask) => ({
      ...ask,
      temperature: ask.temperature === undefined
        ? undefined
        : ask.temperature * 2,
    }),
  ),
  mutant(
    "temperature-zero-lost",
    "A temperature of 0 counts as none",
    (ask) => ({
      ...ask,
      temperature: ask.temperature || undefined,
    }),
  ),
  mutant("temperature-invented", "A temperature is sent unasked", (ask) => ({
    ...ask,
    temperature: ask.temperature ?? 0.7,
  })),
  mutant("top_p-lost", "top_p is lost", (ask) => ({ ...ask, topP: undefined })),
  mutant(
    "top_p-lost-on-chat",
    "top_p is lost on the chat endpoint",
    (ask, { endpoint }) =>
      endpoint === "chat" ? { ...ask, topP: undefined } : ask,
  ),
  mutant(
    "temperature-lost-in-streams",
    "Streams are asked for without their temperature",
    (ask) => ask.stream ? { ...ask, temperature: undefined } : ask,
  ),
  mutant(
    "own-members-lost",
    "Only the members that both formats have are passed on",
    (ask) => ({ ...ask, own: {} }),
  ),
  mutant(
    "own-members-lost-in-streams",
    "Only the members that both formats have are passed on for streams",
    (ask) => ask.stream ? { ...ask, own: {} } : ask,
  ),
  mutant(
    "system-invented",
    "A request without instructions gets some",
    (ask) => ask.system === "" ? { ...ask, system: "You are helpful." } : ask,
  ),
  mutant(
    "stops-invented",
    "A request without stop strings gets one",
    (ask) => ask.stops.length === 0 ? { ...ask, stops: ["Human:"] } : ask,
  ),
  mutant(
    "temperature-cut-to-one",
    "Temperatures above 1 become 1 whatever the model",
    (ask) => ({
      ...ask,
      temperature: ask.temperature === undefined
        ? undefined
        : Math.min(ask.temperature, 1),
    }),
  ),
  {
    name: "second-image-lost",
    about: "Of several pictures only the first is passed on",
    hooks: {
      ask: (ask, x) => {
        let seen = 0;
        const change = parts((part) =>
          part.type === "image" && ++seen > 1 ? [] : [part]
        );
        return change?.(ask, x) ?? ask;
      },
    },
  },
  {
    name: "stop-text-lost",
    about: "A stop string that is no list is lost",
    hooks: {
      ask: (ask, { request }) =>
        request.body.includes('"stop":"') ? { ...ask, stops: [] } : ask,
    },
  },
  {
    name: "choices-ignored",
    about: "A wish for two choices is overlooked",
    hooks: {
      request: (request) => ({
        ...request,
        body: request.body.replace(',"n":2', ""),
      }),
    },
  },
  {
    name: "thinking-lost-upstream",
    about: "Thinking of earlier turns is left out",
    hooks: {
      ask: parts((part) => part.type === "kept" ? [] : [part]) ??
        ((ask) => ask),
    },
  },
  {
    name: "signature-changed-upstream",
    about: "Signatures of earlier thinking are made anew",
    hooks: {
      ask:
        parts((part) =>
          part.type === "kept" && part.block["signature"] !== undefined
            ? [{ ...part, block: { ...part.block, signature: "new" } }]
            : [part]
        ) ?? ((ask) => ask),
    },
  },
  {
    name: "cache-mark-lost",
    about: "Cache marks are left out",
    hooks: {
      ask:
        parts((part) =>
          part.type === "text" ? [{ type: "text", text: part.text }] : [part]
        ) ?? ((ask) => ask),
    },
  },
  mutant("top_p-is-one", "top_p is always 1", (ask) => ({ ...ask, topP: 1 })),
  mutant("stops-lost", "Stop strings are lost", (ask) => ({
    ...ask,
    stops: [],
  })),
  mutant(
    "stops-lost-on-chat",
    "Stop strings are lost on the chat endpoint",
    (ask, { endpoint }) => endpoint === "chat" ? { ...ask, stops: [] } : ask,
  ),
  mutant("first-stop-only", "Only the first stop string is sent", (ask) => ({
    ...ask,
    stops: ask.stops.slice(0, 1),
  })),
  mutant("stops-trimmed", "Stop strings lose their line ends", (ask) => ({
    ...ask,
    stops: ask.stops.map((stop) => stop.trim()),
  })),
  mutant("tools-lost", "Tools are lost", (ask) => ({ ...ask, tools: [] })),
  mutant("second-tool-lost", "Only the first tool is sent", (ask) => ({
    ...ask,
    tools: ask.tools.slice(0, 1),
  })),
  mutant("tools-reversed", "Tools are sent last first", (ask) => ({
    ...ask,
    tools: [...ask.tools].reverse(),
  })),
  mutant("schemas-emptied", "Tools take no arguments", (ask) => ({
    ...ask,
    tools: ask.tools.map((tool) => ({ ...tool, schema: { type: "object" } })),
  })),
  mutant("required-lost", "No argument of a tool is required", (ask) => ({
    ...ask,
    tools: ask.tools.map((tool) => ({
      ...tool,
      schema: JSON.parse(
        JSON.stringify(tool.schema).replace(/,"required":\[[^\]]*\]/, ""),
      ),
    })),
  })),
  mutant("descriptions-lost", "Tools have no description", (ask) => ({
    ...ask,
    tools: ask.tools.map((tool) => ({ ...tool, about: undefined })),
  })),
  mutant("metadata-lost", "The caller's user id is lost", (ask) => ({
    ...ask,
    user: undefined,
  })),
  mutant("user-id-replaced", "The caller's user id is replaced", (ask) => ({
    ...ask,
    user: ask.user === undefined ? undefined : "gateway",
  })),
  {
    name: "image-lost",
    about: "Pictures are left out",
    hooks: pictures(() => []),
  },
  {
    name: "image-cut",
    about: "The last bytes of pictures are lost",
    hooks: pictures((part) =>
      part.type === "image"
        ? [{ ...part, data: part.data.slice(0, -4) }]
        : [part]
    ),
  },
  {
    name: "image-type-changed",
    about: "Pictures get another type",
    hooks: pictures((part) =>
      part.type === "image" ? [{ ...part, media: "image/jpeg" }] : [part]
    ),
  },
  mutant("image-after-text", "Pictures are moved behind the text", (ask) => ({
    ...ask,
    turns: ask.turns.map((turn) => ({
      ...turn,
      parts: [...turn.parts].sort((left, right) =>
        Number(left.type === "image") - Number(right.type === "image")
      ),
    })),
  })),
  {
    name: "image-address-cut",
    about: "Addresses of pictures lose their query",
    hooks: pictures((part) =>
      part.type === "image-url"
        ? [{ ...part, url: part.url.split("?")[0] ?? "" }]
        : [part]
    ),
  },
  {
    name: "streams-asked-whole",
    about: "The upstream is never asked for a stream",
    hooks: call((out) => ({
      ...out,
      url: out.url.replace("streamGenerateContent", "generateContent"),
      body: { ...out.body, stream: false },
    })),
  },
  {
    name: "unknown-member-500",
    about: "An unknown member makes the gateway fail",
    hooks: {
      accept: (problem, body) =>
        "x_unknown_member" in body
          ? { status: 500, type: "api_error", message: "It failed" }
          : problem,
    },
  },
  mutant(
    "other-model-on-chat",
    "The chat endpoint serves another model of the vendor",
    (ask, { endpoint }) => endpoint === "chat" ? otherModel(ask) : ask,
  ),
  mutant(
    "other-model-for-streams",
    "Streams come from another model of the vendor",
    (ask) => ask.stream ? otherModel(ask) : ask,
  ),
  {
    name: "called-with-text-plain",
    about: "The upstream is called with text",
    hooks: call((out) => ({
      ...out,
      headers: { ...out.headers, "content-type": "text/plain" },
    })),
  },
  {
    name: "callers-key-passed-on",
    about: "The caller's key is sent upstream in a header",
    hooks: call((out, { request }) => ({
      ...out,
      headers: {
        ...out.headers,
        "x-forwarded-authorization": request.headers["authorization"] ??
          request.headers["x-api-key"] ?? "",
      },
    })),
  },
  {
    name: "callers-key-as-user",
    about: "The caller's key is sent upstream as the user's name",
    hooks: withBody((body, { request }) => ({
      ...body,
      user: request.headers["authorization"] ??
        request.headers["x-api-key"] ?? "",
    })),
  },
];
