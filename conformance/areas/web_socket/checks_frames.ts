/** Checks of the area `web_socket` about single frames (RFC 6455). */
import { Buffer } from "node:buffer";
import type { Json } from "@model-gateway/replay/json";
import type { FrameHooks, Hooks } from "../../reference_gateway/hooks.ts";
import { type Check, checksWith } from "../../suite/check.ts";
import type { Evidence } from "../../suite/evidence.ts";
import { factOf, type Finding } from "../../suite/finding.ts";
import { CUT_WORD, PING, WRONG_FRAMES } from "./scenarios_frames.ts";

const FRAGMENTS = "web-socket-fragments";
const CONTROL = "web-socket-control";
const WRONG = "web-socket-wrong-frames";

/** What arrived, as the scenario noted it. */
function noted(e: Evidence, name: string): readonly string[] {
  const all: Json = e.note(name);
  return Array.isArray(all) ? all.map(String) : [];
}

function arrived(
  e: Evidence,
  name: string,
  expected: string,
  test: (all: readonly string[]) => boolean,
): readonly Finding[] {
  const all = noted(e, name);
  return [
    factOf(`what arrived (${name})`, all).mustBe(expected, test(all)),
  ];
}

const isReply = (all: readonly string[]): boolean =>
  all.includes("response.created") &&
  /^response\.(completed|incomplete)$/.test(all.at(-1) ?? "");

/** Whether the connection ended without a reply. An error may come before. */
const isEnded = (all: readonly string[]): boolean =>
  /^(close: |ended$)/.test(all.at(-1) ?? "") &&
  all.every((one) => !one.startsWith("response."));

const hooks = (frames: FrameHooks): Hooks => ({ frames });

function ends(name: keyof typeof WRONG_FRAMES): Pick<Check, "judge"> {
  return {
    judge: (e) =>
      arrived(e, name, "the end of the connection, without a reply", isEnded),
  };
}

export const FRAME_CHECKS: readonly Check[] = checksWith({
  section: "Web socket (beyond the base specification)",
  mode: "both",
  needs: "web-socket",
  reads: [FRAGMENTS],
}, [
  {
    id: "web_socket.ping",
    rule: "A ping is answered with a pong of the same payload.",
    reads: [CONTROL],
    judge: (e) =>
      arrived(
        e,
        "ping",
        `pong: ${PING}`,
        (all) => all.includes(`pong: ${PING}`),
      ),
    misses: {
      unanswered: hooks({ pong: () => undefined }),
      "payload-lost": hooks({ pong: () => Buffer.alloc(0) }),
      refused: hooks({ refuses: (frame) => frame === "ping" }),
    },
  },
  {
    id: "web_socket.fragments",
    rule: "A message may arrive in fragments.",
    judge: (e) => arrived(e, "fragments", "a reply to its end", isReply),
    misses: {
      "last-alone": hooks({ join: (parts) => text(parts.slice(-1)) }),
      "first-alone": hooks({ join: (parts) => text(parts.slice(0, 1)) }),
      refused: hooks({ refuses: (frame) => frame === "fragment" }),
    },
  },
  {
    id: "web_socket.fragments-cut",
    rule: "A character that is cut between two fragments reaches the model.",
    mode: "replay",
    judge: (e) => {
      const body = String(e.note("fragments upstream"));
      return [
        factOf("request upstream", body.slice(0, 400)).mustBe(
          CUT_WORD,
          body.includes(CUT_WORD),
        ),
      ];
    },
    misses: {
      "decoded-singly": hooks({
        join: (parts) => parts.map((part) => text([part])).join(""),
      }),
    },
  },
  {
    id: "web_socket.interrupted",
    rule:
      "Control frames may stand between the fragments of a message, and a ping there is answered.",
    judge: (e) =>
      arrived(
        e,
        "interrupted",
        `pong: ${PING}, and a reply to its end`,
        (all) => isReply(all) && all.includes(`pong: ${PING}`),
      ),
    misses: {
      "message-lost": hooks({ keepsParts: () => false }),
      "ping-unanswered": hooks({ pong: () => undefined }),
      refused: hooks({ refuses: (frame) => frame === "interruption" }),
    },
  },
  {
    id: "web_socket.own-frames",
    rule: "Frames of the target are not masked and have no reserved bit.",
    judge: (e) => {
      const odd = e.note("odd frames");
      return [
        factOf("odd frames", odd).mustBe(
          "none",
          Array.isArray(odd) && odd.length === 0 &&
            isReply(noted(e, "fragments")),
        ),
      ];
    },
    misses: {
      masked: hooks({ own: (frame) => ({ ...frame, isMasked: true }) }),
      reserved: hooks({ own: (frame) => ({ ...frame, reserved: 4 }) }),
    },
  },
  {
    id: "web_socket.close-answered",
    rule: "A close is answered with a close, and then the connection ends.",
    reads: [CONTROL],
    judge: (e) =>
      arrived(
        e,
        "close",
        "a close, and the end",
        (all) =>
          all.at(-1) === "ended" && (all.at(-2) ?? "").startsWith("close: "),
      ),
    misses: {
      unanswered: hooks({ closing: () => undefined }),
      "stays-open": hooks({ endsConnection: () => false }),
    },
  },
  {
    id: "web_socket.close-code",
    rule: "The code of a close is one that may be sent.",
    reads: [CONTROL, WRONG],
    judge: (e) =>
      ["close", ...Object.keys(WRONG_FRAMES)].flatMap((name) =>
        arrived(
          e,
          name,
          "no code below 1000, and not 1004, 1005, 1006 or 1015",
          (all) =>
            all.every((one) => {
              const code = Number(/^close: (\d+)$/.exec(one)?.[1] ?? 1000);
              return code >= 1000 && ![1004, 1005, 1006, 1015].includes(code);
            }),
        )
      ),
    misses: {
      "of-none": hooks({ closing: () => Buffer.from([0x03, 0xed]) }),
      "of-lost": hooks({ faultCode: () => 1006 }),
    },
  },
  ...([
    ["unmasked", "unmasked", "A frame of a client that is not masked"],
    ["reserved-bit", "reserved", "A reserved bit that nothing has negotiated"],
    ["unknown-frame", "unknown", "A frame with an unknown code"],
    ["malformed-text", "malformed", "Text that is not UTF-8"],
  ] as const).map(([id, problem, what]) => ({
    id: `web_socket.${id}`,
    rule: `${what} ends the connection.`,
    reads: [WRONG],
    ...ends(problem),
    misses: { taken: hooks({ accepts: (found) => found === problem }) },
  })),
  {
    id: "web_socket.endless-message",
    rule: "A message that never ends, in fragments, ends the connection.",
    mode: "replay",
    reads: ["web-socket-endless-message"],
    judge: (e) => arrived(e, "endless", "the end of the connection", isEnded),
    misses: { taken: hooks({ accepts: (problem) => problem === "size" }) },
  },
]);

function text(parts: readonly Uint8Array[]): string {
  return Buffer.concat(parts).toString("utf8");
}
