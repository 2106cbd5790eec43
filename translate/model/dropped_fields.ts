/**
 * Collects the request fields that an upstream's format cannot express, by the caller's paths:
 * each path once, in order of discovery. They become the dropped fields of the call.
 *
 * @module
 */
import { type ApiError, invalidField } from "./error.ts";
import type {
  AudioPart,
  DocumentPart,
  GenerationRequest,
  ImagePart,
} from "./request.ts";
import type { NeutralField } from "./field_names.ts";

/** The dropped fields found so far. */
export interface DroppedFields {
  /** Records a path. */
  path(path: string): void;
  /** Records a neutral field by the caller's name for it. */
  field(field: NeutralField): void;
  /** Makes the error for a field that the format cannot express and that must not be dropped. */
  refusal(field: NeutralField, problem: string): ApiError;
  /** Makes the error for an image, document or audio part that cannot be sent. */
  partRefusal(
    part: ImagePart | DocumentPart | AudioPart,
    problem: string,
  ): ApiError;
  /** All recorded paths. */
  all(): readonly string[];
}

/** Starts with the request's own unmapped fields, or those of them that are dropped indeed. */
export function droppedFieldsOf(
  request: GenerationRequest,
  unmapped: readonly string[] = request.unmapped,
): DroppedFields {
  const paths = new Set(unmapped);
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
