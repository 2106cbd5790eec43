/**
 * An agent's session: at its host, at another family, and back, through a whole gateway. Each step
 * has a verdict.
 */
import { type JsonObject, objectOr } from "../../../translate/bytes/json.ts";
import { frameData } from "../clients/looping_clients.ts";
import type { TestGateway } from "../test_gateway.ts";
import { STRICT_HOSTS } from "../upstreams/strict_hosts/hosts.ts";
import {
  AGENT_TOOLS,
  type Order,
  ordered,
  type Received,
  type StrictServer,
} from "../upstreams/strict_hosts/server.ts";
import { type AgentClient, type AgentTurn, PIXEL } from "./agent_clients.ts";

/** The steps, in their order. */
export const STEPS = [
  "think and call two tools",
  "results, a text and a picture",
  "fail over",
  "go on",
  "move",
  "move back",
  "schema",
] as const;
export type Step = typeof STEPS[number];

/** What became of a step. */
export interface Verdict {
  /** The paths that the gateway named as dropped. */
  readonly dropped: readonly string[];
  /** The words of a refusal that the host's lack of an ability explains; absent: no refusal. */
  readonly refused?: string;
  /** What is wrong; empty: nothing. */
  readonly faults: readonly string[];
}

/** The verdicts of a session; steps that follow a refusal are absent. */
export type Session = Readonly<Partial<Record<Step, Verdict>>>;

/** Where a session takes place. */
export interface SessionPlace {
  readonly gateway: TestGateway;
  readonly server: StrictServer;
  readonly host: string;
  readonly client: AgentClient;
  readonly stream: boolean;
  /** The host of the other family. */
  readonly other: string;
  /** Unique: which of the server's requests are of this session. */
  readonly number: number;
}

/** A step: where it goes, what it adds, and what the host must receive. */
interface Plan {
  readonly step: Step;
  readonly model: (place: SessionPlace) => string;
  readonly turn: (order: (order: Order) => string) => AgentTurn;
  readonly order: Order;
  readonly isBound?: true;
  /** True: the host must receive what it signed in the running loop. */
  readonly wantsProofs?: true;
  /** Texts that the host must receive. */
  readonly wants?: readonly string[];
}

const FIRST = "first result";
const BESIDE = "a reminder beside them";

/** The id of a model that is first called at the host while it fails. */
export function failingModel(
  { host, other, client, stream }: SessionPlace,
): string {
  return `${host}-else-${other}-${client.name}-${
    stream ? "streamed" : "whole"
  }`;
}

const home = ({ host }: SessionPlace): string => host;
const away = ({ other }: SessionPlace): string => other;

const PLANS: readonly Plan[] = [
  {
    step: "think and call two tools",
    model: home,
    order: "two calls",
    turn: (order) => ({ text: order("two calls") }),
    wants: AGENT_TOOLS,
  },
  {
    step: "results, a text and a picture",
    model: home,
    order: "one call",
    turn: (order) => ({
      results: [FIRST, "second result"],
      text: `${BESIDE} ${order("one call")}`,
      picture: true,
    }),
    wants: [FIRST, "second result", BESIDE],
    wantsProofs: true,
  },
  {
    step: "fail over",
    model: failingModel,
    order: "one call",
    turn: (order) => ({ results: [`third result ${order("one call")}`] }),
    wants: [FIRST, "third result"],
  },
  {
    step: "go on",
    model: home,
    order: "answer",
    turn: (order) => ({ results: [`fourth result ${order("answer")}`] }),
    wants: ["third result", "fourth result"],
    wantsProofs: true,
  },
  {
    step: "move",
    model: away,
    order: "answer",
    turn: (order) => ({ text: `Now the rest. ${order("answer")}` }),
    wants: ["fourth result", "The work is done.", "Now the rest."],
  },
  {
    step: "move back",
    model: home,
    order: "one call",
    turn: (order) => ({ text: `And once more. ${order("one call")}` }),
    wants: ["Now the rest.", "And once more."],
  },
  {
    step: "schema",
    model: home,
    order: "json",
    isBound: true,
    turn: (order) => ({ results: [`fifth result ${order("json")}`] }),
    wants: ["fifth result", "city"],
  },
];

/** Runs a session to its end, or to the first refusal. */
export async function agentSession(place: SessionPlace): Promise<Session> {
  const session: { [step in Step]?: Verdict } = {};
  const proofs: string[] = [];
  let body: JsonObject | undefined;
  let reply: JsonObject | undefined;
  for (const plan of PLANS) {
    const turn = plan.turn((order) => ordered(place.number, order));
    body = body === undefined || reply === undefined
      ? place.client.begin(place.stream, turn.text ?? "")
      : place.client.goOn(body, reply, turn);
    const outcome = await runStep(place, plan, body, proofs);
    session[plan.step] = outcome.verdict;
    reply = outcome.reply;
    if (outcome.proof !== undefined && plan.model === home) {
      proofs.push(outcome.proof);
    }
    if (reply === undefined) break;
  }
  return session;
}

/** What a step leaves for the next one. */
interface Outcome {
  readonly verdict: Verdict;
  /** Absent: the session ends. */
  readonly reply?: JsonObject;
  /** What the reply is signed with. */
  readonly proof?: string;
}

async function runStep(
  place: SessionPlace,
  plan: Plan,
  body: JsonObject,
  proofs: readonly string[],
): Promise<Outcome> {
  const { client, stream, gateway, server } = place;
  const model = plan.model(place);
  const asked = plan.isBound ? client.bound(body) : body;
  const response = await gateway.post(
    client.path(model, stream),
    client.name === "generate_content" ? asked : { ...asked, model },
  );
  const text = await response.text();
  const received = server.taken(place.number);
  const dropped = (response.headers.get("x-gateway-dropped") ?? "").split(",")
    .filter((path) => path !== "");
  if (response.status !== 200) {
    return { verdict: refusal(response.status, text, received, dropped) };
  }
  const reply = stream ? client.folded(frameData(text)) : JSON.parse(text);
  const faults = [
    ...lost(plan, received, dropped),
    ...wrongReply(plan, client, reply, text),
    ...(plan.wantsProofs === true &&
        !proofs.every((proof) => received.at(-1)?.text.includes(proof))
      ? ["what the host signed does not return to it"]
      : []),
  ];
  const proof = received.at(-1)?.proof;
  return {
    verdict: { dropped, faults },
    reply,
    ...(proof === undefined ? {} : { proof }),
  };
}

/** A refusal is right where the host lacks an ability, or where the gateway refuses by itself. */
function refusal(
  status: number,
  text: string,
  received: readonly Received[],
  dropped: readonly string[],
): Verdict {
  const words = errorWords(text);
  const last = received.at(-1);
  const rules = Object.values(STRICT_HOSTS[last?.host ?? ""]?.rules ?? {})
    .flat();
  const isRight = last === undefined
    ? status === 400
    : rules.some((rule) => rule.lacks === true && words.includes(rule.words));
  return isRight
    ? { dropped, refused: words, faults: [] }
    : { dropped, faults: [`${last?.host ?? "no host"}: ${status} ${words}`] };
}

function errorWords(text: string): string {
  try {
    const { error } = objectOr(JSON.parse(text));
    return `${objectOr(error)["message"] ?? text}`;
  } catch {
    return text;
  }
}

/** What the host should have received and did not, unless it is named. */
function lost(
  { step, wants = [] }: Plan,
  received: readonly Received[],
  dropped: readonly string[],
): readonly string[] {
  const text = received.at(-1)?.text ?? "";
  const missing = wants.filter((one) => !text.includes(one));
  const isNamed = (pattern: RegExp): boolean =>
    dropped.some((path) => pattern.test(path));
  const hasEffort = /effort|thinking|budget_tokens/.test(
    JSON.stringify(withoutConversation(received.at(-1)?.body ?? {})),
  );
  return [
    ...missing.map((one) => `the host did not receive "${one}"`),
    ...(step === "results, a text and a picture" && !text.includes(PIXEL) &&
        !isNamed(/image|content\[|output\[|parts\[/)
      ? ["the picture is lost without a name"]
      : []),
    ...(hasEffort || isNamed(/thinking|reasoning/)
      ? []
      : ["the effort is lost without a name"]),
    ...(hasLimit(received.at(-1))
      ? []
      : ["the host does not read the limit of the output"]),
    ...(step === "fail over" && received.length !== 2
      ? [`${received.length} attempts instead of 2`]
      : []),
  ];
}

/** Whether the limit of the output has the name that the host reads. */
function hasLimit(received: Received | undefined): boolean {
  const { limit } = STRICT_HOSTS[received?.host ?? ""] ?? {};
  return limit === undefined || received?.body[limit] !== undefined;
}

function withoutConversation(body: JsonObject): JsonObject {
  const { messages: _m, contents: _c, input: _i, ...rest } = body;
  return rest;
}

function wrongReply(
  { order }: Plan,
  client: AgentClient,
  reply: JsonObject,
  text: string,
): readonly string[] {
  const called = client.called(reply).join();
  const answer = client.answer(reply);
  const wanted = {
    "two calls": [AGENT_TOOLS.join(), ""],
    "one call": [AGENT_TOOLS[1], ""],
    "answer": ["", "The work is done."],
    "json": ["", '{"city":"Paris"}'],
  }[order];
  return called === wanted[0] && answer === wanted[1]
    ? []
    : [`the reply is not the host's: ${text.slice(0, 500)}`];
}
