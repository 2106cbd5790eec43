/**
 * Types for the used part of `npm:csv-parse`. Its own bring the types of Node.js along, which
 * replace Deno's in every module of the project.
 */
import type { Transform } from "node:stream";

export interface CsvOptions {
  readonly bom: boolean;
  readonly delimiter: string;
  /** Adds where a record ends. */
  readonly info: boolean;
  /** Records may have fewer or more cells than the first one. */
  readonly relax_column_count: boolean;
  readonly skip_empty_lines: boolean;
  readonly trim: boolean;
  /** Characters of the longest record. */
  readonly max_record_size: number;
}

/** A record with `info: true`. */
export interface CsvRecord {
  readonly info: { readonly lines: number };
  readonly record: readonly string[];
}

/** A stream of text in, of records out. */
export function parse(options: CsvOptions): Transform;
