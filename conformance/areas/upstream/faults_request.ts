/**
 * Mutants for the checks of the area `upstream`: gateways whose request upstream differs from the
 * client's.
 */
import type { Context, Hooks, OutCall } from "../../reference_gateway/hooks.ts";
import type { ModelRequest, TurnPart } from "../../reference_gateway/part.ts";
import type { JsonObject } from "@model-gateway/replay/json";
import type { Mutant } from "../../reference_gateway/mutant.ts";
import { CONVERSATION_MUTANTS, mutant, parts } from "./faults_conversation.ts";

function pictures(
  change: (part: TurnPart) => readonly TurnPart[],
): Hooks {
  const hook = parts((part) =>
    part.type.startsWith("image") ? change(part) : [part]
  );
  return hook === undefined ? {} : { modelRequest: hook };
}

function call(change: (call: OutCall, x: Context) => OutCall): Hooks {
  return { upstream: change };
}

function withBody(change: (body: JsonObject, x: Context) => JsonObject): Hooks {
  return call((out, x) => ({ ...out, body: change(out.body, x) }));
}

function otherModel(request: ModelRequest): ModelRequest {
  return request.model === "vendora-opus-4-8"
    ? { ...request, model: "vendora-haiku-4-5" }
    : request;
}

/** Part of `UPSTREAM_MUTANTS`. */
export const REQUEST_MUTANTS: readonly Mutant[] = [
  ...CONVERSATION_MUTANTS,
  mutant("limit-lost", "The output limit is lost", (request) => ({
    ...request,
    maxTokens: undefined,
  })),
  mutant(
    "limit-lost-on-chat",
    "The output limit is lost on the chat endpoint",
    (request, { endpoint }) =>
      endpoint === "chat" ? { ...request, maxTokens: undefined } : request,
  ),
  mutant("limit-one-more", "The output limit is one too high", (request) => ({
    ...request,
    maxTokens: request.maxTokens === undefined
      ? undefined
      : request.maxTokens + 1,
  })),
  mutant(
    "limit-zero-by-default",
    "The limit is 0 when the client sets none",
    (request) => ({
      ...request,
      maxTokens: request.maxTokens ?? 0,
    }),
  ),
  mutant("temperature-lost", "The temperature is lost", (request) => ({
    ...request,
    temperature: undefined,
  })),
  mutant(
    "temperature-doubled",
    "The temperature is scaled",
    (request) => ({
      ...request,
      temperature: request.temperature === undefined
        ? undefined
        : request.temperature * 2,
    }),
  ),
  mutant(
    "temperature-zero-lost",
    "A temperature of 0 is read as absent",
    (request) => ({
      ...request,
      temperature: request.temperature || undefined,
    }),
  ),
  mutant("temperature-invented", "A temperature is added", (request) => ({
    ...request,
    temperature: request.temperature ?? 0.7,
  })),
  mutant(
    "top_p-lost",
    "top_p is lost",
    (request) => ({ ...request, topP: undefined }),
  ),
  mutant(
    "top_p-lost-on-chat",
    "top_p is lost on the chat endpoint",
    (request, { endpoint }) =>
      endpoint === "chat" ? { ...request, topP: undefined } : request,
  ),
  mutant(
    "temperature-lost-in-streams",
    "Stream requests lose their temperature",
    (request) =>
      request.stream ? { ...request, temperature: undefined } : request,
  ),
  mutant(
    "own-members-lost",
    "Only members that both formats have are passed on",
    (request) => ({ ...request, own: {} }),
  ),
  mutant(
    "own-members-lost-in-streams",
    "Only members that both formats have are passed on in stream requests",
    (request) => request.stream ? { ...request, own: {} } : request,
  ),
  mutant(
    "system-invented",
    "Instructions are added to a request without any",
    (request) =>
      request.system === ""
        ? { ...request, system: "You are helpful." }
        : request,
  ),
  mutant(
    "stops-invented",
    "A stop string is added to a request without any",
    (request) =>
      request.stops.length === 0 ? { ...request, stops: ["Human:"] } : request,
  ),
  mutant(
    "temperature-cut-to-one",
    "Temperatures above 1 become 1 for every model",
    (request) => ({
      ...request,
      temperature: request.temperature === undefined
        ? undefined
        : Math.min(request.temperature, 1),
    }),
  ),
  {
    name: "second-image-lost",
    about: "Only the first of several pictures is passed on",
    hooks: {
      modelRequest: (request, x) => {
        let seen = 0;
        const change = parts((part) =>
          part.type === "image" && ++seen > 1 ? [] : [part]
        );
        return change?.(request, x) ?? request;
      },
    },
  },
  {
    name: "stop-text-lost",
    about: "A stop string that is not in a list is lost",
    hooks: {
      modelRequest: (modelRequest, { request }) =>
        request.body.includes('"stop":"')
          ? { ...modelRequest, stops: [] }
          : modelRequest,
    },
  },
  {
    name: "choices-ignored",
    about: "A request for two choices is read as one for one",
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
      modelRequest: parts((part) => part.type === "kept" ? [] : [part]) ??
        ((request) => request),
    },
  },
  {
    name: "signature-changed-upstream",
    about: "Signatures of earlier thinking are replaced",
    hooks: {
      modelRequest:
        parts((part) =>
          part.type === "kept" && part.block["signature"] !== undefined
            ? [{ ...part, block: { ...part.block, signature: "new" } }]
            : [part]
        ) ?? ((request) => request),
    },
  },
  {
    name: "cache-mark-lost",
    about: "Cache marks are left out",
    hooks: {
      modelRequest:
        parts((part) =>
          part.type === "text" ? [{ type: "text", text: part.text }] : [part]
        ) ?? ((request) => request),
    },
  },
  mutant(
    "top_p-is-one",
    "top_p is always 1",
    (request) => ({ ...request, topP: 1 }),
  ),
  mutant("stops-lost", "Stop strings are lost", (request) => ({
    ...request,
    stops: [],
  })),
  mutant(
    "stops-lost-on-chat",
    "Stop strings are lost on the chat endpoint",
    (request, { endpoint }) =>
      endpoint === "chat" ? { ...request, stops: [] } : request,
  ),
  mutant(
    "first-stop-only",
    "Only the first stop string is sent",
    (request) => ({
      ...request,
      stops: request.stops.slice(0, 1),
    }),
  ),
  mutant("stops-trimmed", "Stop strings lose their line ends", (request) => ({
    ...request,
    stops: request.stops.map((stop) => stop.trim()),
  })),
  mutant(
    "tools-lost",
    "Tools are lost",
    (request) => ({ ...request, tools: [] }),
  ),
  mutant("second-tool-lost", "Only the first tool is sent", (request) => ({
    ...request,
    tools: request.tools.slice(0, 1),
  })),
  mutant("tools-reversed", "Tools are sent in reverse order", (request) => ({
    ...request,
    tools: [...request.tools].reverse(),
  })),
  mutant("schemas-emptied", "Tools lose their parameters", (request) => ({
    ...request,
    tools: request.tools.map((tool) => ({
      ...tool,
      schema: { type: "object" },
    })),
  })),
  mutant("required-lost", "No parameter of a tool is required", (request) => ({
    ...request,
    tools: request.tools.map((tool) => ({
      ...tool,
      schema: JSON.parse(
        JSON.stringify(tool.schema).replace(/,"required":\[[^\]]*\]/, ""),
      ),
    })),
  })),
  mutant("descriptions-lost", "Tools have no description", (request) => ({
    ...request,
    tools: request.tools.map((tool) => ({ ...tool, about: undefined })),
  })),
  mutant("metadata-lost", "The client's user id is lost", (request) => ({
    ...request,
    user: undefined,
  })),
  mutant("user-id-replaced", "The client's user id is replaced", (request) => ({
    ...request,
    user: request.user === undefined ? undefined : "gateway",
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
    about: "Pictures get another media type",
    hooks: pictures((part) =>
      part.type === "image" ? [{ ...part, media: "image/jpeg" }] : [part]
    ),
  },
  mutant(
    "image-after-text",
    "Pictures are moved after the text",
    (request) => ({
      ...request,
      turns: request.turns.map((turn) => ({
        ...turn,
        parts: [...turn.parts].sort((left, right) =>
          Number(left.type === "image") - Number(right.type === "image")
        ),
      })),
    }),
  ),
  {
    name: "image-address-cut",
    about: "URLs of pictures lose their query",
    hooks: pictures((part) =>
      part.type === "image-url"
        ? [{ ...part, url: part.url.split("?")[0] ?? "" }]
        : [part]
    ),
  },
  {
    name: "streams-asked-whole",
    about: "Requests upstream never ask for a stream",
    hooks: call((out) => ({
      ...out,
      url: out.url.replace("streamGenerateContent", "generateContent"),
      body: { ...out.body, stream: false },
    })),
  },
  {
    name: "unknown-member-500",
    about: "An unknown member causes a server error",
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
    (request, { endpoint }) =>
      endpoint === "chat" ? otherModel(request) : request,
  ),
  mutant(
    "other-model-for-streams",
    "Streams come from another model of the vendor",
    (request) => request.stream ? otherModel(request) : request,
  ),
  {
    name: "called-with-text-plain",
    about: "Requests upstream have a text content type",
    hooks: call((out) => ({
      ...out,
      headers: { ...out.headers, "content-type": "text/plain" },
    })),
  },
  {
    name: "callers-key-passed-on",
    about: "The client's key is sent upstream in a header",
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
    about: "The client's key is sent upstream as the user id",
    hooks: withBody((body, { request }) => ({
      ...body,
      user: request.headers["authorization"] ??
        request.headers["x-api-key"] ?? "",
    })),
  },
];
