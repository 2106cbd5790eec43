/** Checks of the area `generate_content`: how the conversation reaches the model. */
import { PIXEL } from "../upstream/scenarios_request.ts";
import { stepsText } from "../../evidence/tool_history.ts";
import type { UpstreamRequest } from "../../evidence/upstream_request.ts";
import {
  changeContentRequest,
  refuses,
  sent,
} from "../../faults/change_generate_content.ts";
import { allOf, type Check, checksWith } from "../../suite/check.ts";
import { factOf, offered, statusIs } from "../../suite/finding.ts";
import { SIGNATURE_OF } from "./signatures.ts";
import { sentFor } from "../responses/sent_request.ts";
import { PICTURE_ADDRESS, PLACED, SETTINGS } from "./scenarios_requests.ts";
import { forgets, inTurns, ofContents, upstream } from "./passed_request.ts";

function turnsText({ turns }: UpstreamRequest): string {
  return turns.map(({ role, parts }) =>
    `${role}: ${
      parts.map((part) => part.kind === "text" ? part.text : part.kind).join(
        "|",
      )
    }`
  ).join("; ");
}

function hasPicture({ turns }: UpstreamRequest, source: string): boolean {
  return turns.some(({ parts }) =>
    parts.some((part) => part.kind === "image" && part.source.includes(source))
  );
}

const HISTORY =
  'user; call {"city":"Paris"}; call {"city":"Tokyo"}; result of 0: 12 degrees in Paris; result of 1: 20 degrees in Tokyo; user';

export const GENERATE_CONTENT_CONVERSATION_CHECKS: readonly Check[] =
  checksWith({
    section: "Generate content requests",
    mode: "replay",
    needs: "generate-content",
    reads: ["generate-content-requests"],
  }, [
    {
      id: "generate_content.takes-forms",
      rule:
        "`contents` is a list of turns with `parts` and the `role` `user` or `model`; a turn without a role is the user's.",
      mode: "both",
      judge: (e) =>
        // Models differ in the settings that they take.
        e.matching("generate_content/*/whole/*").filter(({ label }) =>
          !/\/(settings|top-p)$/.test(label)
        ).map((x) => statusIs(x, 200)),
      misses: {
        "role-required": refuses(({ request }) =>
          !request.body.includes('"role"')
        ),
        "one-turn": refuses(({ request }) => request.body.includes('"model"')),
      },
    },
    {
      id: "generate_content.model-in-path",
      rule: "The model that the path names receives the request.",
      judge: upstream(
        "turns",
        "a model of that name, or that of another vendor's name for it",
        ({ model }) => model !== "",
      ),
      misses: {
        lost: {
          upstream: (call, { endpoint }) =>
            endpoint === "generate_content"
              ? {
                ...call,
                url: call.url.replace(/models\/[^:]*:/, "models/%20:").replace(
                  "%20",
                  "",
                ),
                body: { ...call.body, model: "" },
              }
              : call,
        },
      },
    },
    {
      id: "generate_content.turns",
      rule: "All turns reach the model, in order.",
      judge: upstream(
        "turns",
        "user, assistant, user",
        (request) =>
          turnsText(request).startsWith(
            `user: ${PLACED.first}; assistant: ${PLACED.answer}; user: Say`,
          ),
      ),
      misses: {
        "last-only": ofContents(({ turns }) => ({ turns: turns.slice(-1) })),
        reversed: ofContents(({ turns }) => ({
          turns: [...turns.slice(0, -1).toReversed(), ...turns.slice(-1)],
        })),
        "model-as-user": ofContents(({ turns }) => ({
          turns: turns.map((turn) => ({ ...turn, role: "user" })),
        })),
      },
    },
    {
      id: "generate_content.all-parts",
      rule: "All parts of a turn reach the model, in order.",
      judge: upstream("parts", "both texts", (request) => {
        const text = turnsText(request);
        return text.indexOf(PLACED.first) >= 0 &&
          text.indexOf("Say something.") > text.indexOf(PLACED.first);
      }),
      misses: {
        "last-only": ofContents(({ turns }) => ({
          turns: turns.map((turn) => ({
            ...turn,
            parts: turn.parts.slice(-1),
          })),
        })),
        "reversed": ofContents(({ turns }) => ({
          turns: turns.map((turn) => ({
            ...turn,
            parts: turn.parts.toReversed(),
          })),
        })),
      },
    },
    {
      id: "generate_content.system",
      rule: "`systemInstruction` is the model's instruction.",
      judge: upstream(
        "system",
        PLACED.system,
        ({ system, turns }) =>
          system.join() === PLACED.system && turns.length === 1,
      ),
      misses: {
        lost: forgets("systemInstruction"),
        "as-turn": ofContents(({ system, turns }) => ({
          system: "",
          turns: [
            { role: "user", parts: [{ type: "text", text: system }] },
            ...turns,
          ],
        })),
      },
    },
    {
      id: "generate_content.spelling",
      rule:
        "Keys may be written in the other spelling, such as `max_output_tokens`.",
      level: "convention",
      judge: upstream(
        "other-spelling",
        "the instruction and the cap",
        ({ system, maxTokens }) =>
          system.join() === PLACED.system &&
          maxTokens === SETTINGS.maxOutputTokens,
      ),
      misses: {
        "instruction-unread": forgets("system_instruction"),
        "config-unread": forgets("generation_config"),
      },
    },
    {
      id: "generate_content.inline-data",
      rule: "A picture as `inlineData` reaches the model.",
      reads: ["generate-content-media"],
      judge: upstream(
        "inline",
        "the picture",
        (request) =>
          hasPicture(request, PIXEL) && hasPicture(request, "image/png"),
      ),
      misses: {
        lost: inTurns((part) => part.type === "image" ? undefined : part),
        retyped: inTurns((part) =>
          part.type === "image" ? { ...part, media: "image/jpeg" } : part
        ),
        cut: inTurns((part) =>
          part.type === "image"
            ? { ...part, data: part.data.slice(0, -4) }
            : part
        ),
      },
    },
    {
      id: "generate_content.file-data",
      rule: "A picture by its address in `fileData` reaches the model.",
      reads: ["generate-content-media"],
      judge: upstream(
        "file",
        PICTURE_ADDRESS,
        (request) => hasPicture(request, PICTURE_ADDRESS),
      ),
      misses: {
        lost: inTurns((part) => part.type === "image-url" ? undefined : part),
        "as-text": inTurns((part) =>
          part.type === "image-url" ? { type: "text", text: part.url } : part
        ),
      },
    },
    {
      id: "generate_content.results-by-id",
      rule:
        "A `functionResponse` with an `id` belongs to the call with that `id`.",
      reads: ["generate-content-history"],
      judge: upstream(
        "with-ids",
        "both calls with their own results",
        (_, call) => stepsText(call) === HISTORY,
      ),
      misses: {
        "in-order": changeContentRequest((body) =>
          JSON.parse(JSON.stringify(body).replaceAll(/"id":"call_\d",/g, ""))
        ),
        "results-as-text": inTurns((part) =>
          part.type === "result" ? { type: "text", text: part.text } : part
        ),
      },
    },
    {
      id: "generate_content.results-by-name",
      rule:
        "Without an `id` a result belongs to the first call of its name that has none.",
      reads: ["generate-content-history"],
      judge: upstream(
        "without-ids",
        "both calls with their own results",
        (_, call) => stepsText(call) === HISTORY,
      ),
      misses: {
        "last-first": ofContents(({ turns }) => {
          const ids = turns.flatMap(({ parts }) =>
            parts.flatMap((part) => part.type === "result" ? [part.id] : [])
          ).toReversed();
          let at = 0;
          return {
            turns: turns.map((turn) => ({
              ...turn,
              parts: turn.parts.map((part) =>
                part.type === "result" ? { ...part, id: ids[at++] ?? "" } : part
              ),
            })),
          };
        }),
        "arguments-lost": inTurns((part) =>
          part.type === "call" ? { ...part, args: {} } : part
        ),
      },
    },
    {
      id: "generate_content.results",
      rule: "The text of a result reaches the model.",
      reads: ["generate-content-history"],
      judge: allOf(
        ...["with-ids", "without-ids"].map((name) =>
          upstream(
            name,
            "both results",
            (_, { body }) =>
              body.includes("12 degrees in Paris") &&
              body.includes("20 degrees in Tokyo"),
          )
        ),
      ),
      misses: {
        empty: inTurns((part) =>
          part.type === "result" ? { ...part, text: "" } : part
        ),
        "first-only": inTurns((part) =>
          part.type === "result" && part.text.includes("Tokyo")
            ? { ...part, text: "12 degrees in Paris" }
            : part
        ),
      },
    },
    {
      id: "generate_content.signature-returns",
      rule:
        "A `thoughtSignature` that a reply contained returns to its upstream unchanged.",
      reads: ["generate-content-signatures"],
      judge: (e) =>
        offered(
          e.matching("generate_content/*/whole/repeated").filter(({ via }) =>
            via === "messages" || via === "generate_content"
          ),
          "has signatures",
        ).map((x) => {
          const call = sentFor(x);
          const signature = SIGNATURE_OF[call.dialect];
          return factOf("request upstream", call.body.slice(0, 600), x)
            .mustBe(
              "the signature of its reply",
              signature !== undefined && call.body.includes(`"${signature}"`),
            );
        }),
      misses: {
        lost: {
          ...inTurns((part) => part.type === "kept" ? undefined : part),
          upstream: (call) => ({
            ...call,
            body: JSON.parse(
              JSON.stringify(call.body).replaceAll(
                /,"thoughtSignature":"[^"]*"/g,
                "",
              ),
            ),
          }),
        },
        altered: sent((body) =>
          JSON.parse(JSON.stringify(body).replaceAll("Erx0", "Erx1"))
        ),
      },
    },
  ]);
