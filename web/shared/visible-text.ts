/**
 * Text that somebody else may have chosen. Characters that show nothing, or change the direction of those beside them,
 * could pass `exe` off as `jpg`: each becomes a replacement character.
 */
export function visibleText(text: string): string {
  return text.replace(DECEPTIVE, '\ufffd')
}

/** Not the joiners, which emoji and several scripts need. */
const DECEPTIVE = /[\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g
