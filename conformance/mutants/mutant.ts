/** What a mutant is: the golden gateway with one thing wrong. */
import type { Hooks } from "../golden/hooks.ts";

/** One planted fault. */
export interface Mutant {
  /** Its name; checks refer to it. */
  readonly name: string;
  /** One line: what is wrong. */
  readonly about: string;
  /** What it changes. */
  readonly hooks: Hooks;
}
