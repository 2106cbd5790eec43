/**
 * The operations on stored replies beside generating: read, list the input, delete. Another key's
 * reply is answered as one that does not exist.
 */
import type { JsonObject } from "../../translate/bytes/json.ts";
import { ApiError, invalidField } from "../../translate/model/error.ts";
import type { DialectState } from "../../translate/model/stored_state.ts";
import type { Caller } from "../accounts/accounts.ts";
import type { Gateway } from "../gateway.ts";
import { assertActive } from "../pipeline/model_access.ts";
import { orUnavailable } from "./conversation.ts";
import type { Seal } from "../accounts/seal.ts";
import type { StoredReplies } from "./stored_replies.ts";

/** A caller who wants a stored reply. */
export interface StoredReplyRequest {
  /** Its key decides what is found. */
  readonly caller: Caller;
  readonly id: string;
}

interface ItemPage {
  readonly object: "list";
  readonly data: readonly JsonObject[];
  readonly first_id: string | null;
  readonly last_id: string | null;
  readonly has_more: boolean;
}

const MAX_PAGE = 100;
const DEFAULT_PAGE = 20;

/**
 * The JSON of a stored reply, as UTF-8.
 *
 * @throws {ApiError} `not_found`; `unavailable` if the store does not answer
 */
export async function storedReply(
  gateway: Gateway,
  request: StoredReplyRequest,
): Promise<Uint8Array> {
  const { replies, seal } = openReply(gateway, request);
  const reply = await orUnavailable(replies.reply(seal, request.id));
  if (reply === undefined) throw notFound(request.id);
  return reply;
}

/**
 * Removes a stored reply.
 *
 * @throws {ApiError} `not_found`; `unavailable` if the store does not answer
 */
export async function deleteStoredReply(
  gateway: Gateway,
  request: StoredReplyRequest,
): Promise<JsonObject> {
  const { replies, seal } = openReply(gateway, request);
  if (!await orUnavailable(replies.remove(seal, request.id))) {
    throw notFound(request.id);
  }
  return { id: request.id, object: "response", deleted: true };
}

/**
 * What the model received for a stored reply, in pages. A reference whose item has expired stays a
 * reference, and replies that have expired are absent.
 *
 * @param query `limit` (1 to 100), `order` (`asc` or `desc`) and `after`, an item's id
 * @throws {ApiError} `invalid_request`; `not_found`; `unavailable` if the store does not answer
 */
export async function storedInputItems(
  gateway: Gateway,
  request: StoredReplyRequest,
  query: URLSearchParams,
  state: DialectState,
): Promise<ItemPage> {
  const limit = limitOf(query);
  const order = query.get("order") ?? "desc";
  if (order !== "asc" && order !== "desc") {
    throw invalidField("order", "expected asc or desc");
  }
  const { replies, seal } = openReply(gateway, request);
  const { maxBodyBytes } = gateway.config;
  const { turns } = await orUnavailable(
    replies.chain(seal, request.id, maxBodyBytes),
  );
  if (turns.length === 0) throw notFound(request.id);
  const ids = state.references(turns).map(({ id }) => id);
  const items = await orUnavailable(
    replies.items(seal, ids, maxBodyBytes, state),
  );
  const listed = state.listedItems(turns, items ?? new Map());
  return pageOf(
    order === "asc" ? listed : listed.toReversed(),
    limit,
    query.get("after"),
  );
}

function openReply(
  { replies }: Gateway,
  { caller, id }: StoredReplyRequest,
): { readonly replies: StoredReplies; readonly seal: Seal } {
  assertActive(caller);
  if (replies === undefined) {
    throw notFound(id, "; replies are not stored here");
  }
  return { replies, seal: caller.seal };
}

function notFound(id: string, addition = ""): ApiError {
  return new ApiError(
    "not_found",
    `no reply ${
      JSON.stringify(id.toWellFormed().slice(0, 100))
    } is stored for this key${addition}`,
    { param: "id", code: "response_not_found", retryable: false },
  );
}

function limitOf(query: URLSearchParams): number {
  const text = query.get("limit") ?? String(DEFAULT_PAGE);
  const limit = /^\d{1,3}$/.test(text) ? Number(text) : 0;
  if (limit < 1 || limit > MAX_PAGE) {
    throw invalidField(
      "limit",
      `expected a whole number from 1 to ${MAX_PAGE}`,
    );
  }
  return limit;
}

function pageOf(
  items: readonly JsonObject[],
  limit: number,
  after: string | null,
): ItemPage {
  // Behind the last item with this id, so that repeated ids cannot make a client go in circles.
  const start = after === null
    ? 0
    : items.findLastIndex((item) => item["id"] === after) + 1;
  if (after !== null && start === 0) {
    throw invalidField("after", "expected the id of an item in the list");
  }
  const data = items.slice(start, start + limit);
  const idOf = (item: JsonObject | undefined): string | null =>
    item === undefined ? null : String(item["id"]);
  return {
    object: "list",
    data,
    first_id: idOf(data[0]),
    last_id: idOf(data.at(-1)),
    has_more: start + limit < items.length,
  };
}
