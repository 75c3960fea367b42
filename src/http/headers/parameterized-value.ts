export interface ParameterizedValue {
  /** The part before the first `;`, in lower case. */
  readonly value: string
  /** In header order, with repetitions; names in lower case, values unquoted. */
  readonly parameters: readonly (readonly [name: string, value: string])[]
}

/**
 * Parses a value with parameters (RFC 9110 section 5.6.6). Returns `undefined` if it is malformed. Stricter than most
 * parsers, so that no two disagree: no spaces around `=`, no quote in an unquoted value, nothing after a closing quote.
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
    // Only `\"` and `\\` are escapes: some clients send a path's backslashes as they are.
    const unquoted = quoted?.replaceAll(/\\(["\\])/g, '$1')
    if (name !== undefined) parameters.push([name.toLowerCase(), unquoted ?? bare ?? ''])
    at += whole.length
  }
  return { value: value.toLowerCase(), parameters }
}

const VALUE = /^[ \t]*([^ \t;,"=]+)[ \t]*/

const PARAMETER = /;[ \t]*(?:([^ \t;="]+)=(?:"((?:[^"\\]|\\[^])*)"|([^ \t;"]*))[ \t]*)?/y
