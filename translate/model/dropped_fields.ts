/**
 * Collects the request fields that an upstream's format cannot express, by the client's paths:
 * each path once, in order of discovery. They become the dropped fields of the call.
 */
import { type ApiError, invalidField } from "./error.ts";
import type {
  AudioPart,
  DialectName,
  DocumentPart,
  GenerationRequest,
  ImagePart,
  OpaquePart,
  OpaqueTool,
} from "./request.ts";
import type { NeutralField } from "./field_names.ts";

/** The dropped fields found so far. */
export interface DroppedFields {
  path(path: string): void;
  /** Records a neutral field by the client's name for it; an empty name is not recorded. */
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

/** Starts with the request's unknown fields, or with those that the caller gives. */
export function droppedFieldsOf(
  request: GenerationRequest,
  unknownFields: readonly string[] = request.unknownFields,
): DroppedFields {
  const paths = new Set(unknownFields);
  return {
    path: (path) => void paths.add(path),
    field: (field) => {
      const name = request.fieldNames[field];
      if (name !== "") paths.add(name);
    },
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

/** The path of a dropped tool with its type, such as `tools[8]:web_search`. */
export function droppedToolPath({ path, kind }: OpaqueTool): string {
  return path.endsWith("]") ? `${path}:${kind}` : path;
}

/**
 * Refuses a request with a field that only an upstream of its own format supports.
 *
 * @throws {ApiError} `invalid_request` for the first such field
 */
export function refuseEssential(
  { essential: [path] }: GenerationRequest,
): void {
  if (path === undefined) return;
  throw invalidField(path, "is not available with this model");
}

/**
 * Whether an opaque part belongs to the format. A part of another format is dropped and named.
 *
 * @throws {ApiError} `invalid_request` if dropping the part would change the meaning
 */
export function keepsOpaque(
  part: OpaquePart,
  format: DialectName,
  drop: (path: string) => void,
): boolean {
  if (part.from === format) return true;
  if (part.essential) {
    throw invalidField(
      part.path,
      `"${part.kind}" is not available with this model`,
    );
  }
  drop(part.path);
  return false;
}
