/** Writes a rule for several endpoints once: one check for each form of replies that it names. */
import { formOf } from "../../endpoints/mod.ts";
import type { ReplyForm } from "../../endpoints/reply_form.ts";
import type { Exchange } from "../../evidence/exchange.ts";
import {
  type Check,
  checksWith,
  type Level,
  type Misses,
  type Mode,
  type Rule,
} from "../../suite/check.ts";
import type { Evidence } from "../../suite/evidence.ts";
import type { Finding } from "../../suite/finding.ts";

type Judge = (
  x: Exchange,
  e: Evidence,
) => Finding | readonly Finding[];

interface EveryRule {
  /**
   * The words of the rule by the id of the check: a string is a quote from the form's section. The
   * end of an id may name unusual replies (`ReplyForm.unusual`).
   */
  readonly ids: Readonly<Record<string, Rule | string>>;
  /** Absent: documented where the words are a quote, otherwise a convention. */
  readonly level?: Level;
  /** Absent: with the replay upstream only. */
  readonly mode?: Mode;
  /** Absent: replies whose content is known. */
  readonly reads?: "forms" | "exact" | ((form: ReplyForm) => readonly string[]);
  /** Absent: every reply of the form. */
  readonly of?: (form: ReplyForm, e: Evidence) => readonly Exchange[];
  readonly each?: (form: ReplyForm) => Judge;
  /** Judges all replies together. */
  readonly all?: (
    form: ReplyForm,
    replies: readonly Exchange[],
    e: Evidence,
  ) => readonly Finding[];
  /** Faults by what is wrong; their names begin with the id of the check. */
  readonly faults: (form: ReplyForm, id: string) => Misses;
}

export function onEvery(rule: EveryRule): readonly Check[] {
  const { ids, level, mode = "replay", reads = "exact", faults } = rule;
  return Object.entries(ids).flatMap(([id, words]) => {
    const form = formOf(id);
    const unusual = unusualOf(id, form);
    const of = (e: Evidence): readonly Exchange[] =>
      rule.of?.(form, e) ?? form.replies(e);
    return checksWith({
      mode,
      ...(form.needs === undefined ? {} : { needs: form.needs }),
      reads: unusual ??
        (typeof reads === "function" ? reads(form) : form[reads]),
      of,
    }, [{
      id,
      ...(level === undefined ? {} : { level }),
      rule: typeof words === "string"
        ? { section: form.section, text: words }
        : words,
      misses: faults(form, id),
      ...(rule.all === undefined
        ? { each: rule.each?.(form) ?? (() => []) }
        : { judge: (e) => rule.all?.(form, of(e), e) ?? [] }),
    }]);
  });
}

/** The scenarios of the unusual replies that an id names. */
export function unusualOf(
  id: string,
  { unusual }: ReplyForm,
): readonly string[] | undefined {
  return Object.entries(unusual).find(([end]) => id.endsWith(end))?.[1];
}

/** The faults with these names. */
export function some(all: Misses, ...names: readonly string[]): Misses {
  return Object.fromEntries(
    names.flatMap((name) => {
      const hooks = all[name];
      return hooks === undefined ? [] : [[name, hooks]];
    }),
  );
}
