/**
 * Collects the request fields that a translation loses, by the caller's paths: each path once, in
 * order of discovery. A decoder records fields of the caller that the neutral request cannot
 * hold; an encoder records neutral fields that this format cannot express.
 *
 * @module
 */
import { type ApiError, invalidField } from "../../model/error.ts";
import type {
  AudioPart,
  DocumentPart,
  GenerationRequest,
  ImagePart,
  NeutralField,
} from "../../model/request.ts";

/** The fields of a caller's request that the neutral request cannot hold. */
export interface UnmappedFields {
  /** Dropped if the request is translated to another format. */
  readonly unmapped: Set<string>;
  /** Like `unmapped`, but dropping them would change the meaning. */
  readonly essential: Set<string>;
}

/** Creates an empty collection. */
export function newUnmappedFields(): UnmappedFields {
  return { unmapped: new Set(), essential: new Set() };
}

/**
 * Records the fields of an object that are not in `known`. Null and `[]` are skipped, because
 * client libraries send them for absent values.
 */
export function noteUnknown(
  object: object,
  known: ReadonlySet<string>,
  prefix: string,
  unread: UnmappedFields,
): void {
  for (const [key, value] of Object.entries(object)) {
    if (known.has(key) || value === null || value === undefined) continue;
    if (Array.isArray(value) && value.length === 0) continue;
    unread.unmapped.add(`${prefix}${key}`);
  }
}

/** The dropped fields of a request that is being encoded. */
export interface DroppedFields {
  /** Records a path. */
  path(path: string): void;
  /** Records a neutral field by the caller's name for it. */
  field(field: NeutralField): void;
  /** Makes the error for a field that this format cannot express and that must not be dropped. */
  refusal(field: NeutralField, problem: string): ApiError;
  /** The error for a picture, document or sound that cannot be sent. */
  partRefusal(
    part: ImagePart | DocumentPart | AudioPart,
    problem: string,
  ): ApiError;
  /** All of it. */
  all(): readonly string[];
}

/** Starts with the request's own unmapped fields. */
export function droppedFieldsOf(request: GenerationRequest): DroppedFields {
  const paths = new Set(request.unmapped);
  return {
    path: (path) => void paths.add(path),
    field: (field) => void paths.add(request.fieldNames[field]),
    refusal: (field, problem) =>
      invalidField(request.fieldNames[field], problem),
    partRefusal: (part, problem) =>
      invalidField(
        part.at ?? request.fieldNames.messages,
        `${request.fieldNames[part.type]} ${problem}`,
      ),
    all: () => [...paths],
  };
}
