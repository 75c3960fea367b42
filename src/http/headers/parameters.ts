/** A header's value with parameters: `form-data; name="file"`, `multipart/form-data; boundary=x`. */
export interface ParameterizedValue {
  /** What stands before the first `;`, in lower case. */
  readonly value: string
  /** In the order of the header, repetitions included; names in lower case, values without their quotes. */
  readonly parameters: readonly (readonly [name: string, value: string])[]
}

/**
 * Returns the value and parameters of a header (RFC 9110 section 5.6.6), or `undefined` when `text` is
 * anything else. Stricter than most parsers, so that no two of them can read it differently: no spaces
 * around `=`, no quote inside an unquoted value, nothing after a closing quote. Empty parameters are skipped.
 */
export function parseParameters(text: string): ParameterizedValue | undefined {
  const [start, value] = VALUE.exec(text) ?? []
  if (start === undefined || value === undefined) return undefined
  const parameters: [string, string][] = []
  let at = start.length
  while (at < text.length) {
    PARAMETER.lastIndex = at
    const [whole, name, quoted, bare] = PARAMETER.exec(text) ?? []
    if (whole === undefined) return undefined
    if (name !== undefined) parameters.push([name.toLowerCase(), unquote(quoted) ?? bare ?? ''])
    at += whole.length
  }
  return { value: value.toLowerCase(), parameters }
}

const VALUE = /^[ \t]*([^ \t;,"=]+)[ \t]*/

const PARAMETER = /;[ \t]*(?:([^ \t;="]+)=(?:"((?:[^"\\]|\\[^])*)"|([^ \t;"]*))[ \t]*)?/y

/** Only `\"` and `\\` are escapes: some clients send the backslashes of a path as they are. */
function unquote(text: string | undefined): string | undefined {
  return text?.replaceAll(/\\(["\\])/g, '$1')
}
