/**
 * Changes a request for one host: fields that the host refuses, and where it reads the version and
 * the betas of the messages format. A body that passes through keeps the bytes of everything else.
 */
import { type JsonDraft, type JsonObject, objectOr } from "./bytes/json.ts";
import { betaName, isUnpricedBeta } from "./model/betas.ts";
import { spliceFields, type TopLevel } from "./bytes/json_splice.ts";

/** How a host's requests differ from the dialect. Data of the host table. */
export interface BodyEdits {
  /** Top-level fields that are left out; they are at another place, such as the path. */
  readonly remove?: readonly string[];
  /** Top-level fields that have another name there. */
  readonly rename?: Readonly<Record<string, string>>;
  /** Texts of top-level fields that are other words there. */
  readonly replace?: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** Absent: the host reads no version. */
  readonly version?: {
    /** Whether the version is a header or the body's field `anthropic_version`. */
    readonly in: "header" | "body";
    /** Sent if the host does not know the client's version, or the request is translated. */
    readonly own: string;
    /** Versions that are sent as the client gave them; absent: any. */
    readonly knows?: readonly string[];
  };
  /** Absent: betas are sent as a header. */
  readonly betas?: {
    /** Whether betas are a header or the body's field `anthropic_beta`. */
    readonly in: "header" | "body";
    /** The betas that the host takes; others are dropped and named. Absent: any. */
    readonly knows?: readonly string[];
    /** Betas that are dropped and named, whatever `knows` has; absent: none. */
    readonly refuses?: readonly string[];
    /** The host's name for a beta that has another one there. */
    readonly names?: Readonly<Record<string, string>>;
  };
  /**
   * Whether the client's `anthropic-user-profile-id` is a header or the body's field
   * `user_profile_id`. Absent: it is dropped and named.
   */
  readonly profile?: "header" | "body";
  /**
   * Keys inside the body that the host refuses, as `parent.key` or as a top-level `key`. They are
   * dropped and named. The client's own data (tool arguments, schemas) is not searched.
   */
  readonly refuses?: readonly string[];
}

/** What the edits of one request depend on, beside the body. */
interface EditContext {
  /**
   * The client's headers for its vendor: version, betas, user profile and others; empty for a
   * translated request.
   */
  readonly headers: Readonly<Record<string, string>>;
  /** Betas that the request's encoder needs. */
  readonly needed?: string;
  /** Betas of the candidate's row; sent even where the host is not known to take them. */
  readonly betas: readonly string[];
  /** Further betas that a client may ask for, with or without their dates; absent: none. */
  readonly allowedBetas?: readonly string[];
}

/** The top-level changes, headers and dropped fields of the edits. */
export interface PlannedEdits {
  readonly set: JsonObject;
  /** Top-level fields to leave out. */
  readonly remove: readonly string[];
  /** Headers to send: version, betas and others. */
  readonly headers: Readonly<Record<string, string>>;
  /** Paths of what the host does not take. */
  readonly dropped: readonly string[];
}

const VERSION_HEADER = "anthropic-version";
const BETA_HEADER = "anthropic-beta";
const BETA_FIELD = "anthropic_beta";
const PROFILE_HEADER = "anthropic-user-profile-id";
/** Headers that the edits read; others of the client are sent as they are. */
const READ_HEADERS: ReadonlySet<string> = new Set([
  VERSION_HEADER,
  BETA_HEADER,
  PROFILE_HEADER,
]);

/** Plans the changes at the top level of a body. */
export function planEdits(
  edits: BodyEdits,
  body: JsonObject,
  context: EditContext,
): PlannedEdits {
  const { version, betas } = edits;
  const set: JsonDraft = {};
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(context.headers)) {
    if (!READ_HEADERS.has(name)) headers[name] = value;
  }
  if (version !== undefined) {
    const asked = context.headers[VERSION_HEADER];
    const sent = asked !== undefined &&
        version.knows?.includes(asked) !== false
      ? asked
      : version.own;
    if (version.in === "header") headers[VERSION_HEADER] = sent;
    else set["anthropic_version"] = sent;
  }
  const inBody = betas?.in === "body";
  const { kept, dropped } = chosenBetas(
    betas,
    [
      ...splitList(context.headers[BETA_HEADER]),
      ...(inBody ? texts(body[BETA_FIELD]) : []),
      ...splitList(context.needed),
    ],
    context,
  );
  if (inBody) {
    if (kept.length > 0 || body[BETA_FIELD] !== undefined) {
      set[BETA_FIELD] = kept;
    }
  } else if (kept.length > 0) {
    headers[BETA_HEADER] = betaHeader(context.headers[BETA_HEADER], kept);
  }
  // A host could read them there.
  const stray = (inBody ? ["betas"] : [BETA_FIELD, "betas"])
    .filter((key) => body[key] !== undefined);
  const profile = context.headers[PROFILE_HEADER];
  const lost: string[] = inBody && !Array.isArray(body[BETA_FIELD] ?? [])
    ? [BETA_FIELD]
    : [];
  if (profile !== undefined) {
    if (edits.profile === "body") set["user_profile_id"] = profile;
    else if (edits.profile === "header") headers[PROFILE_HEADER] = profile;
    else lost.push(PROFILE_HEADER);
  }
  const remove = [...edits.remove ?? [], ...stray];
  for (const [name, other] of Object.entries(edits.rename ?? {})) {
    if (body[name] === undefined) continue;
    remove.push(name);
    if (body[other] === undefined) set[other] = body[name];
  }
  for (const [name, words] of Object.entries(edits.replace ?? {})) {
    const word = body[name];
    const other = typeof word === "string" ? words[word] : undefined;
    if (other !== undefined) set[name] = other;
  }
  const refused =
    edits.refuses?.filter((key) =>
      !key.includes(".") && body[key] !== undefined
    ) ?? [];
  return {
    set,
    remove: [...remove, ...refused],
    headers,
    dropped: [...dropped, ...lost, ...stray, ...refused],
  };
}

const NO_BETAS = { kept: [], dropped: [] } as const;

/** The betas to send, each once, and the paths of the others. */
function chosenBetas(
  rule: BodyEdits["betas"],
  asked: readonly string[],
  { betas: own, allowedBetas = [] }: EditContext,
): { readonly kept: readonly string[]; readonly dropped: readonly string[] } {
  if (asked.length === 0 && own.length === 0) return NO_BETAS;
  const kept = new Set<string>();
  const dropped = new Set<string>();
  for (const beta of asked) {
    const name = rule?.names?.[beta] ?? beta;
    const isRefused = rule?.refuses?.includes(name) === true;
    const isOwn = own.includes(name);
    const isTaken = rule?.knows?.includes(name) !== false || isOwn;
    const isAllowed = isUnpricedBeta(beta) || isOwn ||
      allowedBetas.includes(beta) || allowedBetas.includes(betaName(beta));
    if (isTaken && isAllowed && !isRefused) kept.add(name);
    else dropped.add(`${BETA_HEADER}.${beta}`);
  }
  for (const beta of own) {
    if (rule?.refuses?.includes(beta) !== true) kept.add(beta);
  }
  return { kept: [...kept], dropped: [...dropped] };
}

/** The paths of a client's betas that a request is sent without. */
export function unsentBetas(
  given: string | undefined,
  { headers, set }: Pick<PlannedEdits, "headers" | "set">,
): readonly string[] {
  if (given === undefined) return [];
  const sent = [
    ...splitList(headers[BETA_HEADER]),
    ...texts(set[BETA_FIELD]),
  ];
  return [...new Set(splitList(given))].filter((beta) => !sent.includes(beta))
    .map((beta) => `${BETA_HEADER}.${beta}`);
}

/**
 * The client's header as it is, where all of its betas are sent under their names, followed by the
 * others.
 */
function betaHeader(
  given: string | undefined,
  kept: readonly string[],
): string {
  const asked = new Set(splitList(given));
  if (given === undefined || asked.size === 0 || !isSubset(asked, kept)) {
    return kept.join(",");
  }
  return [given, ...kept.filter((beta) => !asked.has(beta))].join(",");
}

function isSubset(some: Iterable<string>, all: readonly string[]): boolean {
  return [...some].every((one) => all.includes(one));
}

function splitList(header: string | undefined): readonly string[] {
  return header?.split(",").map((beta) => beta.trim()).filter((beta) =>
    beta !== ""
  ) ?? [];
}

function texts(value: unknown): readonly string[] {
  return Array.isArray(value)
    ? value.filter((one) => typeof one === "string")
    : [];
}

/** A client's own body for a host. */
interface EditedBody {
  /** The client's bytes, or what is to be written anew in their place. */
  readonly body: Uint8Array | { readonly json: JsonObject };
  /** Paths of what was taken out because the host refuses it. */
  readonly dropped: readonly string[];
}

/**
 * Applies top-level changes to a client's body. Only one with a refused key inside is written anew,
 * because such a key cannot be cut out of the bytes.
 *
 * @param top the result of `topLevelOf` for the bytes
 */
export function editBody(
  { bytes, top, body }: {
    readonly bytes: Uint8Array;
    readonly top: TopLevel;
    readonly body: JsonObject;
  },
  set: JsonObject,
  remove: readonly string[],
  refuses: readonly string[],
): EditedBody {
  if (refuses.length === 0) {
    return { body: spliceFields(bytes, set, top, remove), dropped: [] };
  }
  const dropped = new Set<string>();
  const inside = refuses.filter((path) => path.includes("."));
  const cleaned = objectOr(withoutKeys(body, inside, dropped));
  const isAnew = dropped.size > 0;
  const fields = objectOr(withoutKeys(set, refuses, dropped));
  return {
    body: isAnew
      ? { json: withoutFields({ ...cleaned, ...fields }, remove) }
      : spliceFields(bytes, fields, top, remove),
    dropped: [...dropped],
  };
}

/** A body without some of its fields. */
export function withoutFields(
  body: JsonObject,
  remove: readonly string[],
): JsonObject {
  return remove.length === 0 ? body : Object.fromEntries(
    Object.entries(body).filter(([key]) => !remove.includes(key)),
  );
}

/** Keys whose values are the client's own data. */
const DATA: ReadonlySet<string> = new Set([
  "input",
  "input_schema",
  "schema",
]);

/** The value without the refused keys; their paths are added to `dropped`. */
export function withoutKeys(
  value: unknown,
  refuses: readonly string[],
  dropped: Set<string>,
): unknown {
  if (refuses.length === 0) return value;
  const names = new Set(
    refuses.map((path) => path.slice(path.lastIndexOf(".") + 1)),
  );
  /** Keys from the outermost on; `[]` for an array's entries. */
  const path: string[] = [];
  const visit = (one: unknown, parent: string): unknown => {
    if (typeof one !== "object" || one === null) return one;
    return Array.isArray(one) ? entries(one, parent) : fields(one, parent);
  };
  const entries = (list: readonly unknown[], parent: string): unknown => {
    let copy: unknown[] | undefined;
    path.push("[]");
    for (let i = 0; i < list.length; i++) {
      const kept = visit(list[i], parent);
      if (kept !== list[i]) (copy ??= [...list])[i] = kept;
    }
    path.pop();
    return copy ?? list;
  };
  const fields = (object: object, parent: string): unknown => {
    let copy: JsonDraft | undefined;
    for (const key in object) {
      if (
        names.has(key) &&
        refuses.includes(parent === "" ? key : `${parent}.${key}`)
      ) {
        dropped.add([...path, key].join(".").replaceAll(".[]", "[]"));
        copy ??= { ...object };
        delete copy[key];
        continue;
      }
      if (DATA.has(key)) continue;
      const inner: unknown = Reflect.get(object, key);
      path.push(key);
      const kept = visit(inner, key);
      path.pop();
      if (kept === inner) continue;
      copy ??= { ...object };
      copy[key] = kept;
    }
    return copy ?? object;
  };
  return visit(value, "");
}
