/**
 * Checks of the area `transport` about refused requests whose body the target need not read, and
 * about the connection after them.
 */
import { factOf } from "../../suite/finding.ts";
import { type Check, checksWith } from "../../suite/check.ts";
import { announcesClose } from "../../evidence/exchange.ts";
import { isObject } from "@model-gateway/replay/json";
import { outcome } from "../../suite/evidence.ts";

export const UNREAD_BODY_CHECKS: readonly Check[] = checksWith({}, [
  {
    id: "transport.refused-connection",
    source: "RFC 9112, 9.3 and 9.6",
    rule:
      "A request refused with its body unread does not harm the next one: the connection stays usable, or the refusal announces `connection: close`.",

    mode: "both",
    reads: ["refused-then-list"],
    judge: (e) => {
      e.replies("models/first/control");
      return e.matching("*/refused/*").map((x) => {
        const [endpoint, , form] = x.label.split("/");
        const next = e.exchanges.find(({ label }) =>
          label === `models/${endpoint}-after/${form}`
        );
        const served = next?.head?.status === 200 && isObject(next.json);
        return factOf(
          "connection",
          next === undefined || x.ending !== "complete"
            ? outcome(x)
            : `next request: ${outcome(next)}`,
          x,
        ).mustBe(
          "the whole refusal, then `connection: close` or a connection that serves the next request",
          x.ending === "complete" && (announcesClose(x) || served),
        );
      });
    },
    faults: {
      "refusal-closes-silently": {
        reply: (reply) =>
          reply.status === 200 ? reply : {
            ...reply,
            headers: { ...reply.headers, connection: "keep-alive" },
          },
      },
    },
  },
  {
    id: "transport.refused-large-body",
    source: "RFC 9112, 9.6",
    rule:
      "A refusal reaches a client that sends its whole body first: it is not lost to a reset.",

    mode: "replay",
    reads: ["refused-large"],
    matching: "*/large/wrong-key",
    each: (x) =>
      factOf("refusal", outcome(x)).mustBe(
        "a status of 400 or above, and its whole body",
        x.ending === "complete" && (x.head?.status ?? 0) >= 400,
      ),
    faults: {
      "refusal-resets": {
        writer: (writer) => {
          let refused = false;
          return {
            ...writer,
            head: (status, headers) => {
              refused = status === 413;
              writer.head(status, headers);
            },
            end: () => refused ? writer.reset() : writer.end(),
          };
        },
      },
    },
  },
]);
