/**
 * A call through a configured route: reads what its charge depends on, and has it made and paid
 * for. Adding an endpoint is a row of the configuration file.
 */
import { invalidField } from "../../translate/model/error.ts";
import { cardAt, type RateCard } from "../accounts/charges/rate_card.ts";
import type { Gateway } from "../gateway.ts";
import type { HttpReply } from "../http/http_reply.ts";
import type { PassedBody } from "../http/passed_body.ts";
import type { Model } from "../upstream/catalogue/catalogue.ts";
import type { PassedRoute } from "../upstream/catalogue/route_settings.ts";
import type { CallRequest } from "./call_request.ts";
import { accessibleModel, assertActive } from "./model_access.ts";
import { type RequestAmounts, requestAmounts } from "./passed_amounts.ts";
import { Passing } from "./passing.ts";
import { assertAccepting, payFor } from "./paid_call.ts";

/** A text has at least four bytes for a token; a file has many more. */
const BYTES_PER_TOKEN = { json: 4, form: 100 };
/** Tokens of a reply, or of each picture in it, of a model whose limit is not known. */
const LONG_REPLY = 8_192;
/** The longest reply of an unknown model, and the most that a host reads beside the body. */
const MOST_TOKENS = 131_072;

/**
 * Whether a body may be sent before it has arrived: nothing that is in its rest decides what the
 * call costs, or whether it is permitted.
 */
export function maySendEarly(
  gateway: Gateway,
  { counts }: PassedRoute,
  id: string,
): boolean {
  const { models } = gateway;
  const model = models.model(id);
  return model !== undefined && model.allowed === undefined &&
    Object.values(counts).every(({ request }) => request === undefined) &&
    // A signature covers the whole body.
    models.candidates(model, "chat_completions").every(({ hostDialect }) =>
      !hostDialect.auth.schemes.includes("sigv4")
    );
}

/**
 * Makes the call.
 *
 * @throws {ApiError} what the client is to receive in place of the reply
 */
export async function passOn(
  gateway: Gateway,
  call: CallRequest,
  route: PassedRoute,
  body: PassedBody,
): Promise<HttpReply> {
  assertAccepting(gateway);
  const { caller, facts } = call;
  const isStream = isTrue(body.field("stream"));
  facts.stream = isStream;
  const asked = body.field("user");
  const user = typeof asked === "string"
    ? gateway.withoutCredentials(asked)
    : undefined;
  facts.user = user;
  assertActive(caller);
  facts.model = body.model;
  const model = accessibleModel(gateway, caller, body.model, route.name);
  assertAllowed(model, body);
  const amounts = requestAmounts(route, body);
  const card = cardAt(model.cards, gateway.now());
  const inputTokens = card !== undefined && hasTokenRates(card)
    ? Math.ceil(
      body.bytes / (body.isForm ? BYTES_PER_TOKEN.form : BYTES_PER_TOKEN.json),
    )
    : 0;
  const outputTokens = inputTokens === 0
    ? 0
    : (model.capabilities.maxOutputTokens ?? LONG_REPLY) *
      Math.max(1, amounts.most.image ?? 1);
  return await payFor(gateway, call, {
    name: route.name,
    model,
    operation: new Passing({
      route,
      body,
      isStream,
      accept: call.headers.get("accept") ?? "*/*",
      amounts,
      estimatedTokens: card !== undefined && hasOtherRates(card, amounts)
        ? 0
        : outputTokens,
    }),
    replyCount: 1,
    mostUsage: () => ({
      input: 2 * body.bytes + Math.max(model.contextTokens, MOST_TOKENS),
      output: Math.max(model.capabilities.maxOutputTokens ?? 0, MOST_TOKENS) *
        Math.max(1, amounts.most.image ?? 1),
    }),
    taps: [],
    worstCase: () => ({
      inputTokens,
      maxOutputTokens: outputTokens,
      asked: { units: amounts.most },
      ...(user === undefined ? {} : { user }),
    }),
  });
}

function isTrue(value: unknown): boolean {
  return value === true || value === "true";
}

/**
 * Refuses values that the model's price does not cover.
 *
 * @throws {ApiError} `invalid_request` naming the field
 */
function assertAllowed({ allowed = {} }: Model, body: PassedBody): void {
  for (const [name, values] of Object.entries(allowed)) {
    const value = body.field(name);
    if (value === undefined || value === null) continue;
    const isKnown = values.some((one) =>
      one === value || (body.isForm && String(one) === value)
    );
    if (isKnown) continue;
    throw invalidField(
      name,
      values.length === 0
        ? "cannot be used with this model on this gateway"
        : `must be ${values.join(" or ")} for this model on this gateway`,
      "unsupported_value",
    );
  }
}

function hasTokenRates({ input, output, meters = {} }: RateCard): boolean {
  return [input, output, ...Object.values(meters)].some((rate) => rate > 0);
}

/** Whether a reply without tokens is charged for something else. */
function hasOtherRates(
  { units = {}, call }: RateCard,
  { otherwise }: RequestAmounts,
): boolean {
  return call !== undefined ||
    Object.keys(otherwise).some((unit) =>
      units[unit as keyof typeof units] !== undefined
    );
}
