/** Scenarios of the area `web_socket` about single frames. */
import { isObject, parseJson } from "@model-gateway/replay/json";
import type { FrameClient, FrameFields } from "../../clients/frame_client.ts";
import {
  closeCode,
  OPCODE,
  type WebSocketFrame,
} from "../../evidence/web_socket_frame.ts";
import type { Route } from "../../suite/route.ts";
import type { Scenario } from "../../suite/scenario.ts";
import type { Session } from "../../suite/session.ts";

const OUTPUT_TOKENS = 16;
const decoder = new TextDecoder();

/** A character whose bytes are cut apart. */
export const CUT_WORD = "Grüße";
export const PING = "are you there?";
/** No target takes a message of this size. */
const ENDLESS_BYTES = 160 * 1024 * 1024;

const FRAGMENT: FrameFields = { isLast: false };
const CONTINUED: FrameFields = { opcode: OPCODE.continuation, isLast: false };
const END: FrameFields = { opcode: OPCODE.continuation };

export const WRONG_FRAMES: Readonly<
  Record<string, readonly [string | Uint8Array, FrameFields?]>
> = {
  unmasked: ['{"type":"response.steer"}', { isMasked: false }],
  reserved: ['{"type":"response.steer"}', { reserved: 4 }],
  unknown: ['{"type":"response.steer"}', { opcode: 3 }],
  malformed: [Uint8Array.of(0x22, 0xff, 0xfe, 0x22)],
};

/** What arrives up to the end of a reply, or of the connection. */
interface Arrived {
  /** The types of events, `ping`, `pong: PAYLOAD`, `close: CODE`, `ended`, `silent`. */
  readonly all: readonly string[];
  readonly frames: readonly WebSocketFrame[];
}

function nameOf({ opcode, payload, ...frame }: WebSocketFrame): string {
  const text = decoder.decode(payload);
  if (opcode === OPCODE.pong) return `pong: ${text}`;
  if (opcode === OPCODE.ping) return "ping";
  if (opcode === OPCODE.close) {
    return `close: ${
      closeCode({ opcode, payload, ...frame }) ?? "without a code"
    }`;
  }
  const event = parseJson(text);
  return isObject(event) ? String(event["type"]) : "no event";
}

async function arrives(
  client: FrameClient,
  isEnd: (name: string) => boolean,
): Promise<Arrived> {
  const all: string[] = [];
  const frames: WebSocketFrame[] = [];
  for (;;) {
    const next = await client.next();
    if (typeof next === "string") return { all: [...all, next], frames };
    frames.push(next);
    const name = nameOf(next);
    all.push(name);
    if (isEnd(name)) return { all, frames };
  }
}

const endsReply = (name: string): boolean =>
  /^(error|response\.(completed|incomplete|failed))$/.test(name);
const never = (): boolean => false;

async function withFrames<Result>(
  session: Session,
  play: (client: FrameClient) => Promise<Result>,
): Promise<Result> {
  const client = await session.openFrames();
  try {
    return await play(client);
  } finally {
    client.close();
  }
}

function creation(route: Route, session: Session, nonce: string): Uint8Array {
  return new TextEncoder().encode(JSON.stringify({
    type: "response.create",
    model: route.model,
    max_output_tokens: OUTPUT_TOKENS,
    store: false,
    input: session.prompt("text", `${CUT_WORD}, says the client.`, nonce),
  }));
}

/** Sends a turn in fragments, one of them cut inside a character, and notes what arrives. */
async function inFragments(
  session: Session,
  name: string,
  between: readonly (readonly [string, FrameFields])[],
): Promise<Arrived | undefined> {
  const [route] = session.routes("responses");
  if (route === undefined) return undefined;
  const nonce = session.nonce();
  const bytes = creation(route, session, nonce);
  const cut = bytes.indexOf(0xc3) + 1;
  session.takeTurn(200, OUTPUT_TOKENS);
  const arrived = await withFrames(session, async (client) => {
    await client.send(
      [bytes.subarray(0, 20), FRAGMENT],
      ...between,
      [bytes.subarray(20, cut), CONTINUED],
      [bytes.subarray(cut), END],
    );
    return await arrives(client, endsReply);
  });
  session.note(name, arrived.all);
  if (session.mode === "replay") {
    const entry = await session.logEntryOf(nonce, session.patienceMs);
    session.note(`${name} upstream`, entry?.request.body ?? "nothing");
  }
  return arrived;
}

export const FRAME_SCENARIOS: readonly Scenario[] = [
  {
    name: "web-socket-fragments",
    about: "Turns through a web socket in fragments, also with a ping between",
    mode: "both",
    cost: () => ({
      requests: 4,
      inputTokens: 400,
      outputTokens: 2 * OUTPUT_TOKENS,
    }),
    async play(session) {
      const whole = await inFragments(session, "fragments", []);
      await inFragments(session, "interrupted", [
        [PING, { opcode: OPCODE.ping }],
        ["", { opcode: OPCODE.pong }],
      ]);
      session.note(
        "odd frames",
        (whole?.frames ?? []).filter(({ isMasked, reserved }) =>
          isMasked || reserved !== 0
        ).map(({ isMasked, reserved }) => ({ isMasked, reserved })),
      );
    },
  },
  {
    name: "web-socket-control",
    about: "A ping and a close through a web socket",
    mode: "both",
    cost: () => ({ requests: 2, inputTokens: 0, outputTokens: 0 }),
    async play(session) {
      await withFrames(session, async (client) => {
        await client.send([PING, { opcode: OPCODE.ping }]);
        const { all } = await arrives(
          client,
          (name) => name.startsWith("pong") || name.startsWith("close"),
        );
        session.note("ping", all);
      });
      await withFrames(session, async (client) => {
        await client.send([Uint8Array.of(0x03, 0xe8), {
          opcode: OPCODE.close,
        }]);
        session.note("close", (await arrives(client, never)).all);
      });
    },
  },
  {
    name: "web-socket-wrong-frames",
    about: "Frames through a web socket that break its protocol",
    mode: "both",
    cost: () => ({ requests: 4, inputTokens: 0, outputTokens: 0 }),
    async play(session) {
      for (const [name, frame] of Object.entries(WRONG_FRAMES)) {
        await withFrames(session, async (client) => {
          await client.send(frame);
          const isEnd = (one: string): boolean => /^(close|response)/.test(one);
          session.note(name, (await arrives(client, isEnd)).all);
        });
      }
    },
  },
  {
    name: "web-socket-endless-message",
    about: "A message through a web socket whose fragments never end",
    mode: "replay",
    cost: () => ({ requests: 1, inputTokens: 0, outputTokens: 0 }),
    play: (session) =>
      withFrames(session, async (client) => {
        const isEnd = (one: string): boolean => /^(close|response)/.test(one);
        const arriving = arrives(client, isEnd);
        let isOver = false;
        const over = arriving.then(() => isOver = true);
        const fragment = new Uint8Array(1024 * 1024).fill(0x20);
        await client.send([fragment, FRAGMENT]);
        for (
          let sent = 0;
          sent < ENDLESS_BYTES && !isOver;
          sent += fragment.length
        ) {
          await Promise.race([client.send([fragment, CONTINUED]), over]);
        }
        session.note("endless", (await arriving).all);
      }),
  },
];
