/**
 * Collects what an encoder could not say, in the caller's words: each path once, in order of discovery.
 *
 * @module
 */
import { type ApiError, invalidField } from "../error.ts";
import type { GenerationRequest, NeutralField } from "../request.ts";

/** What could not be said so far. */
export interface Losses {
  /** Notes a path. */
  path(path: string): void;
  /** Notes a neutral field by the caller's word for it. */
  field(field: NeutralField): void;
  /** The error for a field that cannot be said and cannot be left out. */
  refusal(field: NeutralField, problem: string): ApiError;
  /** All of it. */
  all(): readonly string[];
}

/** Starts with what the request itself knows to be unmapped. */
export function lossesOf(request: GenerationRequest): Losses {
  const paths = new Set(request.unmapped);
  return {
    path: (path) => void paths.add(path),
    field: (field) => void paths.add(request.words[field]),
    refusal: (field, problem) => invalidField(request.words[field], problem),
    all: () => [...paths],
  };
}
