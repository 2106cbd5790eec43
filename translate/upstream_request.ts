/**
 * Makes the request for an upstream from the client's. Only this file decides whether the client's
 * own bytes are sent or a translation.
 */
import {
  type BodyEdits,
  editBody,
  planEdits,
  type PlannedEdits,
  unsentBetas,
  withoutFields,
  withoutKeys,
} from "./body_edits.ts";
import { pairedTurns } from "./turns/call_pairs.ts";
import type { Capabilities } from "./model/capabilities.ts";
import type { DecodeContext, Dialect, UpstreamDialect } from "./dialect.ts";
import type { JsonObject } from "./bytes/json.ts";
import type { TopLevel } from "./bytes/json_splice.ts";
import type { GenerationRequest } from "./model/request.ts";
import { asksForSearch } from "./turns/web_search.ts";
import { missingStops } from "./turns/stop_texts.ts";
import { withoutSignedReasoning } from "./turns/turns.ts";
import { atOnce, type Steps } from "./steps.ts";

/** A request as it is sent to an upstream. */
export interface UpstreamRequest {
  /** The body: the client's with fields spliced in, or a new one. */
  readonly bytes: Uint8Array;
  /** Headers beside the host's own, version and betas included. */
  readonly headers: Readonly<Record<string, string>>;
  /** Dropped fields: paths in the client's format. */
  readonly dropped: readonly string[];
  /** For the decoder of the reply. */
  readonly context: DecodeContext;
  /** True where the client's own bytes are sent. */
  readonly passedThrough: boolean;
}

/** How a request is changed for the host that serves the upstream's dialect. */
export interface HostRequest {
  /** Absent: the host takes the dialect as it is. */
  readonly edits?: BodyEdits;
  /** Betas to enable on every call (messages dialect). */
  readonly betas: readonly string[];
  /** Further betas that a client may ask for, with or without their dates; absent: none. */
  readonly allowedBetas?: readonly string[];
}

const PLAIN_HOST: HostRequest = { betas: [] };

/** A client's request: its bytes, their JSON value and the decoded request. */
export interface ClientRequest {
  readonly dialect: Dialect;
  /** Sent where the upstream has the same dialect. */
  readonly bytes: Uint8Array;
  /** The parsed bytes; never modified. */
  readonly body: JsonObject;
  /** Positions of the top-level fields in the bytes. */
  readonly top: TopLevel;
  /** Encoded and sent where the upstream has another dialect. */
  readonly request: GenerationRequest;
  /** The client's headers for an upstream of the same dialect; absent: none. */
  readonly headers?: Readonly<Record<string, string>>;
  /**
   * The client's header `anthropic-beta`: the parts that a translation does not send are named as
   * dropped.
   */
  readonly betas?: string | undefined;
}

/** A request whose body is yet to be written, if it is a new one. */
export interface UnwrittenRequest extends Omit<UpstreamRequest, "bytes"> {
  /** The client's bytes with fields spliced in, or a new body. */
  readonly body: Uint8Array | { readonly json: unknown };
}

const ENCODER = new TextEncoder();

/** Makes the request for an upstream, as {@linkcode unwrittenRequest}, and writes its body. */
export function upstreamRequest(
  ...given: Parameters<typeof unwrittenRequest>
): UpstreamRequest {
  return writtenRequest(atOnce(unwrittenRequest(...given)));
}

/** Writes the body of a request at once. */
export function writtenRequest(
  { body, ...request }: UnwrittenRequest,
): UpstreamRequest {
  return {
    ...request,
    bytes: body instanceof Uint8Array
      ? body
      : ENCODER.encode(JSON.stringify(body.json)),
  };
}

/**
 * Makes the request for an upstream that calls the model `upstreamModel`.
 *
 * @param proofs whether reasoning that the upstream's dialect signed is sent back to it; otherwise
 * it is a dropped field
 * @param host how the upstream's host differs from its dialect
 * @param only the top-level fields that are sent, by the names of the upstream's format; absent:
 * all
 * @throws {ApiError} `invalid_request` for a field that the upstream's dialect cannot express and
 * that must not be dropped
 */
export function* unwrittenRequest(
  client: ClientRequest,
  upstream: UpstreamDialect,
  upstreamModel: string,
  can: Capabilities,
  proofs: "sent" | "left out" = "sent",
  host: HostRequest = PLAIN_HOST,
  only?: readonly string[],
): Steps<UnwrittenRequest> {
  const { request, body } = client;
  const { edits: hostEdits = {}, ...ownBetas } = host;
  const { messages: word } = request.fieldNames;
  const droppedReasoning = proofs === "sent" ? [] : [`${word}[].reasoning`];
  const isSame = client.dialect.name === upstream.name;
  const isPassed = isSame && client.dialect.isPassable?.(body, can) !== false;
  const refusedKeys = isSame ? client.dialect.refusedKeys?.(can) ?? [] : [];
  // A body without the refused fields, as nearly all are, is not edited.
  const refused = isPassed
    ? refusedKeys.filter((key) => key.includes(".") || key in body)
    : refusedKeys;
  const edits = refused.length === 0
    ? hostEdits
    : { ...hostEdits, refuses: [...hostEdits.refuses ?? [], ...refused] };
  if (!isPassed) {
    if (request.refusal !== undefined) throw request.refusal;
    const turns = pairedTurns(request.turns, word);
    yield;
    const encoded = yield* upstream.encodeRequest({
      ...request,
      model: upstreamModel,
      turns: proofs === "sent"
        ? turns
        : withoutSignedReasoning(turns, upstream.name),
    }, can);
    const { "anthropic-beta": needed, ...headers } = encoded.headers;
    const stops = missingStops(request, encoded.dropped);
    const plan = planEdits(edits, encoded.body, {
      headers: {},
      ...(needed === undefined ? {} : { needed }),
      ...ownBetas,
    });
    return {
      body: { json: editedBody(encoded.body, plan, edits, only) },
      headers: { ...headers, ...plan.headers },
      dropped: [
        ...encoded.dropped.filter((path) =>
          stops === undefined || path !== request.fieldNames.stop
        ),
        ...droppedReasoning,
        ...plan.dropped,
        ...unsentBetas(client.betas, plan),
      ],
      context: decodeContext({
        ...encoded.context,
        ...(isSame ? { isTranslated: true } : {}),
        ...(request.logprobs === undefined ? {} : { wantsProbabilities: true }),
        ...(stops === undefined ? {} : { stops }),
        ...(asksForSearch(request) ? { wantsSearch: true } : {}),
      }, can),
      passedThrough: false,
    };
  }
  const cleaned = client.dialect.cleanRequest(body, can);
  const proofless = proofs === "sent"
    ? {}
    : client.dialect.withoutSignatures?.({ ...body, ...cleaned?.fields });
  const fields = {
    ...(client.dialect.hasTargetInPath === true
      ? {}
      : { model: upstreamModel }),
    ...cleaned?.fields,
    ...proofless,
    ...client.dialect.passThroughFields(body, can),
  };
  const plan = planEdits(edits, body, {
    headers: client.headers ?? {},
    ...ownBetas,
  });
  const remove = [
    ...plan.remove,
    ...Object.keys(cleaned?.fields ?? {}).filter((key) =>
      cleaned?.fields[key] === undefined
    ),
    // The path names the upstream's model; the body names the client's.
    ...client.dialect.hasTargetInPath === true ? ["model"] : [],
    ...only === undefined
      ? []
      : Object.keys({ ...body, ...fields, ...plan.set }).filter((key) =>
        !only.includes(key)
      ),
  ];
  const edited = editBody(
    client,
    withoutFields({ ...fields, ...plan.set }, remove),
    remove,
    edits.refuses ?? [],
  );
  return {
    body: edited.body,
    headers: plan.headers,
    dropped: [
      ...cleaned?.removed ?? [],
      ...droppedReasoning,
      ...plan.dropped,
      ...edited.dropped,
    ],
    // The client receives the text of its own format as it came.
    context: decodeContext({ toolNames: new Map() }, {
      ...can,
      thinkTags: false,
    }),
    passedThrough: true,
  };
}

function decodeContext(
  context: DecodeContext,
  { cachedBesidePrompt, thinkTags }: Capabilities,
): DecodeContext {
  return {
    ...context,
    ...(cachedBesidePrompt ? { cachedBesidePrompt } : {}),
    ...(thinkTags ? { thinkTags } : {}),
  };
}

/**
 * A body that the gateway wrote, changed for its host. Refused keys inside it are left out without
 * being named: the client did not write them.
 */
function editedBody(
  body: JsonObject,
  plan: PlannedEdits,
  edits: BodyEdits,
  only: readonly string[] | undefined,
): unknown {
  const sent = withoutFields({ ...body, ...plan.set }, plan.remove);
  return withoutKeys(
    only === undefined ? sent : Object.fromEntries(
      Object.entries(sent).filter(([key]) => only.includes(key)),
    ),
    edits.refuses ?? [],
    new Set(),
  );
}
