/**
 * Sentences of the specification that a check covers without quoting them, and sentences that no
 * black-box test can observe. A sentence is named by the first words of its heading, and by its
 * own.
 */

/** A sentence, and the value of its entry. */
interface Entry<V> {
  readonly section: string;
  readonly begins: string;
  readonly value: V;
}

/** Entries by section and first words. */
function entriesOf<V>(
  sentences: Readonly<Record<string, Readonly<Record<string, V>>>>,
): readonly Entry<V>[] {
  return Object.entries(sentences).flatMap(([section, values]) =>
    Object.entries(values).map(([begins, value]) => ({
      section,
      begins,
      value,
    }))
  );
}

/** Sentences that checks cover without quoting them: ids of checks, with `*` for any characters. */
export const ALSO_COVERED: readonly Entry<readonly string[]>[] = entriesOf({
  "What the service does": {
    "The service is an HTTP gateway": [
      "message_reply.*",
      "chat_reply.*",
      "models.*",
    ],
    "Clients send a JSON body": [
      "message_reply.*",
      "message_stream.content-type",
    ],
    "It offers two generation endpoints": ["message_reply.*", "chat_reply.*"],
    "`POST /v1/messages` uses": ["message_reply.*", "message_stream.*"],
    "`POST /v1/chat/completions` uses": ["chat_reply.*", "chat_stream.*"],
    "Standard client libraries work": [
      "*.own-shape",
      "models.message-library-fields",
    ],
  },
  "POST /v1/messages": {
    "Responses: 200 with": [
      "message_reply.*",
      "message_stream.*",
      "auth.wrong",
    ],
    "Headers: `x-api-key": ["auth.x-api-key", "auth.bearer"],
    "| stream |": ["message_reply.*", "message_stream.*"],
    "| system |": ["upstream.system", "errors.type-system"],
  },
  "POST /v1/chat/completions": {
    "Response 200 carries": ["chat_reply.*", "chat_stream.*"],
    "Header: `Authorization": ["auth.bearer"],
    "| temperature |": ["limits.chat-temperature-*"],
    "| stream |": ["chat_reply.*", "chat_stream.*"],
    "| model |": ["models.*"],
    "| messages |": ["upstream.*system*", "limits.chat-system"],
    "| tools |": ["upstream.tools", "errors.type-tools"],
  },
  "GET /v1/models": {
    "Response 200: the model list": ["models.*"],
    "A 200 also proves": ["auth.wrong", "auth.error-body"],
    "Header: `Authorization": ["auth.bearer", "auth.x-api-key"],
    "No body.": ["models.*"],
  },
  "Authentication": {
    "The message endpoint is documented with": [
      "auth.bearer",
      "auth.x-api-key",
    ],
    "A gateway key is a plain key": ["auth.bearer", "auth.x-api-key"],
    "A key from another service": ["auth.foreign"],
  },
  "Events": {
    "The two endpoints emit different": ["message_stream.*", "chat_stream.*"],
  },
  "Limits": {
    "| Status 429 is returned": ["upstream.rate-limit"],
  },
  "Model identifiers": {
    "The authoritative list": ["models.*"],
  },
  "States and transitions": {
    "The only enumerated outcome values": ["message_reply.stop_reason"],
  },
  "Equivalent fields": {
    "| Stream delta |": ["message_stream.text-*", "chat_stream.*"],
  },
  "Versioning": {
    "The message endpoint is called with": ["message_reply.*"],
    "All paths begin with": ["message_reply.*", "chat_reply.*", "models.*"],
  },
});

const OF_THE_DOCUMENT = "describes the document, not the service";
const LEFT_OPEN = "lists what the specification leaves open";
const MONEY =
  "prices and bills are not sent over the wire; the token counts behind them are judged, on both endpoints, whole and streamed";
const ACCOUNT = "requires a change of the account that a client cannot make";

/** Sentences that cannot be observed, and why. */
export const EXCLUDED: readonly Entry<string>[] = entriesOf({
  "Model Gateway API Specification": {
    "This document covers": OF_THE_DOCUMENT,
    "Model ids and two": OF_THE_DOCUMENT,
    "The same neutral word": OF_THE_DOCUMENT,
  },
  "What the service does": {
    "Prices are the same": MONEY,
    "Billing is by": MONEY,
    "Output tokens are typically": MONEY,
    "Streaming does not change the price": MONEY,
    "A key is valid only for the gateway":
      "requires a second gateway; auth.foreign judges that this one refuses keys of others",
  },
  "Responses endpoint (beyond": {
    "This chapter is not part": OF_THE_DOCUMENT,
    "A gateway may leave out": OF_THE_DOCUMENT,
    "The sources are": OF_THE_DOCUMENT,
  },
  "Generate content (beyond": {
    "This chapter is not part": OF_THE_DOCUMENT,
    "The sources are": OF_THE_DOCUMENT,
    "The operations are": OF_THE_DOCUMENT,
  },
  "Counts (beyond": {
    "This chapter is not part": OF_THE_DOCUMENT,
    "A request has the members": OF_THE_DOCUMENT,
  },
  "Embeddings (beyond": {
    "This chapter is not part": OF_THE_DOCUMENT,
    "The sources are": OF_THE_DOCUMENT,
  },
  "Web socket (beyond": {
    "This chapter is not part": OF_THE_DOCUMENT,
    "The sources are": OF_THE_DOCUMENT,
    "A client sends": OF_THE_DOCUMENT,
  },
  "Stream behaviour": {
    "When the connection drops":
      "bills are not sent over the wire, and a dropped connection carries no usage",
    "Other event kinds": LEFT_OPEN,
  },
  "Model identifiers": {
    "The `vendor*` words": OF_THE_DOCUMENT,
    "The `model` field of both":
      "each deployment lists its own models; that list is authoritative, and is judged",
    "| vendor":
      "each deployment lists its own models; that list is authoritative, and is judged",
  },
  "Message reply": {
    "Shapes of image blocks": LEFT_OPEN,
  },
  "States and transitions": {
    "No lifecycle states": LEFT_OPEN,
  },
  "Endpoints": {
    "Base address:": "is the value that the user passes with --base-url",
  },
  "Authentication": {
    "A key belongs to exactly one endpoint":
      "requires a second service; auth.wrong judges what follows from it here",
    "A key can be revoked": ACCOUNT,
    "A key may be unable": ACCOUNT,
    "Key issuance": LEFT_OPEN,
  },
  "Events": {
    "A client parsing one shape":
      "describes clients; it follows from the shapes, which are judged",
  },
  "Errors": {
    "| 403 |": ACCOUNT,
  },
  "Limits": {
    "Numeric rate limits": LEFT_OPEN,
    "Context window sizes": LEFT_OPEN,
  },
  "Versioning": {
    "The API description version": "no operation returns the description",
    "Deprecation policy": LEFT_OPEN,
  },
});
