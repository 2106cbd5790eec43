/**
 * One server that plays every strict host, each under a path of its own. A host whose path ends in
 * `.down` refuses for a while whatever it is asked.
 */
import { type JsonObject, objectOr } from "../../../../translate/bytes/json.ts";
import { serveLoopback } from "../../serve_loopback.ts";
import { STRICT_HOSTS, type StrictHost } from "./hosts.ts";
import { list, proofOf } from "./refusal.ts";
import { type ReplyFormat, type Script, strictReply } from "./replies.ts";

/** What the model does next, as the last user text or result of a request orders it. */
export type Order = "two calls" | "one call" | "answer" | "json";

/** The words of an order for the session with this number, to put in a text. */
export function ordered(session: number, order: Order): string {
  return `[[${session}: ${order}]]`;
}

/** A request of a session as a host received it. */
export interface Received {
  readonly host: string;
  readonly body: JsonObject;
  readonly text: string;
  /** What the reply is signed with; absent: the request was refused, or nothing is. */
  readonly proof?: string;
}

export interface StrictServer extends AsyncDisposable {
  readonly url: string;
  /** The requests of a session since the last call of this, oldest first. */
  taken(session: number): readonly Received[];
}

/** The tools that an agent has. */
export const AGENT_TOOLS = ["read_file", "run_command"] as const;

/** Starts it. */
export function startStrictServer(): StrictServer {
  const received = new Map<number, Received[]>();
  let number = 0;
  const server = serveLoopback(async (request) => {
    const { pathname, search } = new URL(request.url);
    const [, name = "", ...rest] = decodeURIComponent(pathname).split("/");
    const text = await request.text();
    const order = orderIn(text);
    const [base = "", down] = name.split(".");
    const host = STRICT_HOSTS[base];
    if (host === undefined || order === undefined) {
      return new Response(`no host or no order: ${pathname}`, { status: 404 });
    }
    const body = objectOr(JSON.parse(text));
    const format = formatOf(host, rest.join("/"));
    const keep = (proof?: string): void => {
      const known = received.get(order.session) ?? [];
      received.set(order.session, [...known, {
        host: name,
        body,
        text,
        ...(proof === undefined ? {} : { proof }),
      }]);
    };
    const { maker = name, reasoning = "none" } = host;
    const refusal = (host.rules[format] ?? []).find((one) =>
      one.refuses(body, maker)
    );
    if (down !== undefined || refusal !== undefined) {
      keep();
      return down === undefined
        ? failure(format, 400, refusal?.words ?? "")
        : failure(format, Number(down), "The host is not available.");
    }
    number++;
    const script = scriptOf(order.order, number, body, format, host);
    // Gemini signs its calls, others their reasoning.
    const isSigned = format === "generate" || reasoning === "signatures"
      ? script.calls.length > 0
      : script.thought !== "" &&
        (format !== "chat" || /details|sealed/.test(reasoning));
    keep(isSigned ? proofOf(maker, number) : undefined);
    const isStream = body["stream"] === true ||
      /stream/i.test(`${rest.at(-1)}${search}`);
    return strictReply(
      format,
      script,
      { maker, reasoning },
      isStream,
    );
  });
  return {
    url: `http://127.0.0.1:${server.addr.port}`,
    taken(session) {
      const all = received.get(session) ?? [];
      received.delete(session);
      return all;
    },
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

function orderIn(
  text: string,
): { readonly session: number; readonly order: Order } | undefined {
  const last = [...text.matchAll(/\[\[(\d+): ([a-z ]+)\]\]/g)].at(-1);
  return last === undefined
    ? undefined
    : { session: Number(last[1]), order: last[2] as Order };
}

/** The format that a path is for. */
function formatOf({ rules }: StrictHost, path: string): ReplyFormat {
  const wanted: readonly ReplyFormat[] = /chat\/completions/.test(path)
    ? ["chat"]
    : /responses/.test(path)
    ? ["responses"]
    : /messages$|awPredict$/.test(path)
    ? ["messages"]
    : ["generate", "converse", "invoke"];
  return wanted.find((one) => rules[one] !== undefined) ?? "chat";
}

/** An error in the form of a format. */
function failure(
  format: ReplyFormat,
  status: number,
  message: string,
): Response {
  const type = "invalid_request_error";
  switch (format) {
    case "messages":
      return Response.json({ type: "error", error: { type, message } }, {
        status,
      });
    case "chat":
    case "responses":
      return Response.json({ error: { message, type, param: null } }, {
        status,
      });
    case "generate":
      return Response.json({
        error: { code: status, message, status: "INVALID_ARGUMENT" },
      }, { status });
    case "invoke":
    case "converse":
      return Response.json({ message }, {
        status,
        headers: { "x-amzn-errortype": "ValidationException" },
      });
  }
}

/** OpenAI's form of a call's id. */
const usualId = (number: number, at: number): string =>
  `call_${`${number}`.padStart(20, "0")}${at}`;

function scriptOf(
  order: Order,
  number: number,
  body: JsonObject,
  format: ReplyFormat,
  { callId = usualId }: StrictHost,
): Script {
  const call = (name: string, at: number, input: JsonObject) => ({
    id: callId(number, at),
    name,
    input,
  });
  const [read, run] = AGENT_TOOLS;
  const calls = [
    call(read, 0, { path: "a.png" }),
    call(run, 1, { command: "ls" }),
  ];
  const script = { thought: `thought ${number}`, number };
  switch (order) {
    // Open models write a blank text between their reasoning and a call.
    case "two calls":
      return { ...script, text: format === "chat" ? "\n\n" : "", calls };
    case "one call":
      return { ...script, thought: "", text: "", calls: calls.slice(1) };
    case "answer":
      return { ...script, text: "The work is done.", calls: [] };
    case "json": {
      const form = toolNames(body).find((name) =>
        !AGENT_TOOLS.some((one) => one === name)
      );
      const answer = { city: "Paris" };
      return form === undefined
        ? { ...script, text: JSON.stringify(answer), calls: [] }
        : { ...script, text: "", calls: [call(form, 0, answer)] };
    }
  }
}

/** The names of the tools of a request, whatever its format. */
function toolNames(body: JsonObject): readonly string[] {
  const tools = [
    ...list(body["tools"]),
    ...list(objectOr(body["toolConfig"])["tools"]),
  ];
  return tools.flatMap((tool) => [
    tool,
    objectOr(tool["function"]),
    objectOr(tool["toolSpec"]),
    ...list(tool["functionDeclarations"]),
  ]).flatMap(({ name }) => typeof name === "string" ? [name] : []);
}
