/** What a path of the reference gateway asks for. */
import type { Endpoint } from "../evidence/exchange.ts";
import type { ReplayRequest } from "@model-gateway/replay/script";

export interface Operation {
  readonly endpoint: Endpoint;
  /** What a request to the path does. */
  readonly does: "generate" | "count" | "embed" | "list" | "stored" | "nothing";
  /** Generate content: the model and the kind of reply, which are in the path. */
  readonly inPath?: { readonly model: string; readonly stream: boolean };
}

const OPERATIONS: Readonly<Record<string, Operation>> = {
  "/v1/messages": { endpoint: "messages", does: "generate" },
  "/v1/messages/count_tokens": { endpoint: "messages", does: "count" },
  "/v1/chat/completions": { endpoint: "chat", does: "generate" },
  "/v1/chat/completions/input_tokens": { endpoint: "chat", does: "count" },
  "/v1/responses": { endpoint: "responses", does: "generate" },
  "/v1/responses/input_tokens": { endpoint: "responses", does: "count" },
  "/v1/embeddings": { endpoint: "embeddings", does: "embed" },
  "/v1/models": { endpoint: "models", does: "list" },
  "/v1beta/models": { endpoint: "generate_content", does: "list" },
};

export function operationOf(path: string): Operation {
  const known = OPERATIONS[path];
  if (known !== undefined) return known;
  if (path.startsWith("/v1/responses/")) {
    return { endpoint: "responses", does: "stored" };
  }
  const [, model, verb] =
    /^\/v1beta\/models\/([^/:]+)(?::(\w+))?$/.exec(path) ??
      [];
  return model === undefined
    ? { endpoint: "other", does: "nothing" }
    : contentOperation(decodeURIComponent(model), verb);
}

function contentOperation(model: string, verb: string | undefined): Operation {
  const endpoint = "generate_content";
  switch (verb) {
    case undefined:
      return { endpoint, does: "list", inPath: { model, stream: false } };
    case "generateContent":
    case "streamGenerateContent": {
      const stream = verb === "streamGenerateContent";
      return { endpoint, does: "generate", inPath: { model, stream } };
    }
    case "countTokens":
      return { endpoint, does: "count", inPath: { model, stream: false } };
  }
  return { endpoint, does: "nothing" };
}

/** Whether a stream of generate content is one JSON array: where no events are asked for. */
export function isArray(
  request: ReplayRequest,
  { inPath }: Operation,
): boolean {
  const query = new URLSearchParams(request.path.split("?")[1] ?? "");
  return inPath?.stream === true && query.get("alt") !== "sse";
}
