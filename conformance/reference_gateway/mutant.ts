/** A mutant: the reference gateway with one planted fault. */
import type { Hooks } from "./hooks.ts";

/** A planted fault. */
export interface Mutant {
  /** Unique name; checks refer to it. */
  readonly name: string;
  /** One line that describes the fault. */
  readonly about: string;
  /** The changes to the reference gateway. */
  readonly hooks: Hooks;
}
