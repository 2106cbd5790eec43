/**
 * Sentences of the specification that a check covers without quoting them, and sentences that no
 * black-box test can observe.
 */

/** A sentence, by its section and its first words. */
interface Entry {
  /** The first words of the heading. */
  readonly section: string;
  /** The first words of the sentence. */
  readonly begins: string;
}

/** Sentences that checks cover without quoting them: ids of checks, with `*` for any characters. */
export const ALSO_COVERED:
  readonly (Entry & { readonly by: readonly string[] })[] = [
    {
      section: "What the service does",
      begins: "The service is an HTTP gateway",
      by: ["message_reply.*", "chat_reply.*", "models.*"],
    },
    {
      section: "What the service does",
      begins: "Clients send a JSON body",
      by: ["message_reply.*", "message_stream.content-type"],
    },
    {
      section: "What the service does",
      begins: "It offers two generation endpoints",
      by: ["message_reply.*", "chat_reply.*"],
    },
    {
      section: "What the service does",
      begins: "`POST /v1/messages` uses",
      by: ["message_reply.*", "message_stream.*"],
    },
    {
      section: "What the service does",
      begins: "`POST /v1/chat/completions` uses",
      by: ["chat_reply.*", "chat_stream.*"],
    },
    {
      section: "POST /v1/messages",
      begins: "Responses: 200 with",
      by: ["message_reply.*", "message_stream.*", "auth.wrong"],
    },
    {
      section: "POST /v1/chat/completions",
      begins: "Response 200 carries",
      by: ["chat_reply.*", "chat_stream.*"],
    },
    {
      section: "GET /v1/models",
      begins: "Response 200: the model list",
      by: ["models.*"],
    },
    {
      section: "GET /v1/models",
      begins: "A 200 also proves",
      by: ["auth.wrong", "auth.error-body"],
    },
    {
      section: "GET /v1/models",
      begins: "Header: `Authorization",
      by: ["auth.bearer", "auth.x-api-key"],
    },
    {
      section: "Authentication",
      begins: "The message endpoint is documented with",
      by: ["auth.bearer", "auth.x-api-key"],
    },
    {
      section: "Authentication",
      begins: "A gateway key is a plain key",
      by: ["auth.bearer", "auth.x-api-key"],
    },
    {
      section: "Authentication",
      begins: "A key from another service",
      by: ["auth.foreign"],
    },
    {
      section: "Events",
      begins: "The two endpoints emit different",
      by: ["message_stream.*", "chat_stream.*"],
    },
    {
      section: "Limits",
      begins: "| Status 429 is returned",
      by: ["upstream.rate-limit"],
    },
    {
      section: "Model identifiers",
      begins: "The authoritative list",
      by: ["models.*"],
    },
    {
      section: "POST /v1/messages",
      begins: "Headers: `x-api-key",
      by: ["auth.x-api-key", "auth.bearer"],
    },
    {
      section: "POST /v1/chat/completions",
      begins: "Header: `Authorization",
      by: ["auth.bearer"],
    },
    {
      section: "POST /v1/chat/completions",
      begins: "| temperature |",
      by: ["limits.chat-temperature-*"],
    },
    {
      section: "POST /v1/chat/completions",
      begins: "| stream |",
      by: ["chat_reply.*", "chat_stream.*"],
    },
    {
      section: "POST /v1/chat/completions",
      begins: "| model |",
      by: ["models.*"],
    },
    {
      section: "POST /v1/chat/completions",
      begins: "| messages |",
      by: ["upstream.*system*", "limits.chat-system"],
    },
    {
      section: "States and transitions",
      begins: "The only enumerated outcome values",
      by: ["message_reply.stop_reason"],
    },
    {
      section: "Equivalent fields",
      begins: "| Stream delta |",
      by: ["message_stream.text-*", "chat_stream.*"],
    },
    {
      section: "Versioning",
      begins: "The message endpoint is called with",
      by: ["message_reply.*"],
    },
    { section: "GET /v1/models", begins: "No body.", by: ["models.*"] },
    {
      section: "POST /v1/messages",
      begins: "| stream |",
      by: ["message_reply.*", "message_stream.*"],
    },
    {
      section: "POST /v1/messages",
      begins: "| system |",
      by: ["upstream.system", "errors.type-system"],
    },
    {
      section: "POST /v1/chat/completions",
      begins: "| tools |",
      by: ["upstream.tools", "errors.type-tools"],
    },
    {
      section: "What the service does",
      begins: "Standard client libraries work",
      by: ["*.own-shape", "models.message-library-fields"],
    },
    {
      section: "Versioning",
      begins: "All paths begin with",
      by: ["message_reply.*", "chat_reply.*", "models.*"],
    },
  ];

const OF_THE_DOCUMENT = "describes the document, not the service";
const LEFT_OPEN = "lists what the specification leaves open";
const MONEY =
  "prices and bills are not sent over the wire; the token counts behind them are judged, on both endpoints, whole and streamed";
const ACCOUNT = "requires a change of the account that a client cannot make";

/** Sentences that no check can cover. */
export const EXCLUDED: readonly (Entry & { readonly because: string })[] = [
  ...["This document covers", "Model ids and two", "The same neutral word"].map(
    (begins) => ({
      section: "Model Gateway API Specification",
      begins,
      because: OF_THE_DOCUMENT,
    }),
  ),
  ...[
    "Prices are the same",
    "Billing is by",
    "Output tokens are typically",
    "Streaming does not change the price",
  ].map((begins) => ({
    section: "What the service does",
    begins,
    because: MONEY,
  })),
  ...["This chapter is not part", "A gateway may leave out", "The sources are"]
    .map((begins) => ({
      section: "Responses endpoint (beyond",
      begins,
      because: OF_THE_DOCUMENT,
    })),
  ...["This chapter is not part", "The sources are", "The operations are"]
    .map((begins) => ({
      section: "Generate content (beyond",
      begins,
      because: OF_THE_DOCUMENT,
    })),
  ...["This chapter is not part", "A request has the members"].map((
    begins,
  ) => ({
    section: "Counts (beyond",
    begins,
    because: OF_THE_DOCUMENT,
  })),
  ...["This chapter is not part", "The sources are"].map((begins) => ({
    section: "Embeddings (beyond",
    begins,
    because: OF_THE_DOCUMENT,
  })),
  ...["This chapter is not part", "The sources are", "A client sends"].map((
    begins,
  ) => ({
    section: "Web socket (beyond",
    begins,
    because: OF_THE_DOCUMENT,
  })),
  {
    section: "Stream behaviour",
    begins: "When the connection drops",
    because:
      "bills are not sent over the wire, and a dropped connection carries no usage",
  },
  {
    section: "What the service does",
    begins: "A key is valid only for the gateway",
    because:
      "requires a second gateway; auth.foreign judges that this one refuses keys of others",
  },
  {
    section: "Model identifiers",
    begins: "The `vendor*` words",
    because: OF_THE_DOCUMENT,
  },
  ...["The `model` field of both", "| vendor"].map((begins) => ({
    section: "Model identifiers",
    begins,
    because:
      "each deployment lists its own models; that list is authoritative, and is judged",
  })),
  {
    section: "Message reply",
    begins: "Shapes of image blocks",
    because: LEFT_OPEN,
  },
  {
    section: "States and transitions",
    begins: "No lifecycle states",
    because: LEFT_OPEN,
  },
  {
    section: "Endpoints",
    begins: "Base address:",
    because: "is the value that the user passes with --base-url",
  },
  {
    section: "Authentication",
    begins: "A key belongs to exactly one endpoint",
    because:
      "requires a second service; auth.wrong judges what follows from it here",
  },
  {
    section: "Authentication",
    begins: "A key can be revoked",
    because: ACCOUNT,
  },
  {
    section: "Authentication",
    begins: "A key may be unable",
    because: ACCOUNT,
  },
  { section: "Authentication", begins: "Key issuance", because: LEFT_OPEN },
  {
    section: "Events",
    begins: "A client parsing one shape",
    because: "describes clients; it follows from the shapes, which are judged",
  },
  {
    section: "Stream behaviour",
    begins: "Other event kinds",
    because: LEFT_OPEN,
  },
  { section: "Errors", begins: "| 403 |", because: ACCOUNT },
  { section: "Limits", begins: "Numeric rate limits", because: LEFT_OPEN },
  { section: "Limits", begins: "Context window sizes", because: LEFT_OPEN },
  {
    section: "Versioning",
    begins: "The API description version",
    because: "no operation returns the description",
  },
  { section: "Versioning", begins: "Deprecation policy", because: LEFT_OPEN },
];
