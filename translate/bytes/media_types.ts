/**
 * What media types mean: which of them are text, and the usual word for a format of sounds.
 */

/** Types that hold text beside those of `text/`. */
const TEXT_TYPE =
  /^(?:text\/|application\/(?:json|jsonl|x-ndjson|xml|yaml|x-yaml|toml|javascript|x-javascript|typescript|x-typescript|x-python|x-python-code|x-sh|sql|graphql|rtf|x-www-form-urlencoded)$|application\/[^/]+\+(?:json|xml|yaml)$)/;

/** Whether a media type, in lower case and without parameters, means text. */
export function isTextType(mediaType: string): boolean {
  return TEXT_TYPE.test(mediaType);
}

/** Subtypes of `audio/` that are other words for a format. */
const SOUND_FORMATS: ReadonlyMap<string, string> = new Map([
  ["mpeg", "mp3"],
  ["mpeg3", "mp3"],
  ["x-mp3", "mp3"],
  ["x-mpeg", "mp3"],
  ["wave", "wav"],
  ["x-wav", "wav"],
  ["x-pn-wav", "wav"],
  ["vnd.wave", "wav"],
  ["x-flac", "flac"],
  ["x-aiff", "aiff"],
  ["x-m4a", "m4a"],
  ["x-aac", "aac"],
]);

/** The word of the chat format for a subtype of `audio/`, in lower case. */
export function soundFormat(subtype: string): string {
  return SOUND_FORMATS.get(subtype) ?? subtype;
}
