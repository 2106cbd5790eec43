/** The checks of one area that follow from rules for several endpoints. */
import { areaOf, type Check } from "../../suite/check.ts";
import { BLOCK_CHECKS } from "./checks_blocks.ts";
import { CONTENT_CHECKS } from "./checks_content.ts";
import { EXTRA_CHECKS, FULL_REQUEST_CHECKS } from "./checks_extras.ts";
import { PACE_CHECKS } from "./checks_pace.ts";
import { SHAPE_CHECKS } from "./checks_shape.ts";

/** The checks whose ids begin with that area. */
export function checksOfEvery(area: string): readonly Check[] {
  return [
    ...SHAPE_CHECKS,
    ...CONTENT_CHECKS,
    ...BLOCK_CHECKS,
    ...PACE_CHECKS,
    ...EXTRA_CHECKS,
    ...FULL_REQUEST_CHECKS,
  ].filter((
    check,
  ) => areaOf(check) === area);
}
