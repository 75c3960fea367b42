/**
 * The text of a file, or of its beginning: UTF-8, UTF-16 with a byte order mark, else windows-1252, of which ISO-8859-1
 * is a part. `undefined` if it is no text. Other encodings, such as Shift_JIS, cannot be told apart from these.
 */
export function decodeText(bytes: Uint8Array, isWhole: boolean): string | undefined {
  // As a stream, so that a character that is cut in two is left out.
  const options = { stream: !isWhole }
  const [first, second, third, fourth] = bytes
  if (first === 0xff && second === 0xfe) {
    const isUtf32 = third === 0 && fourth === 0
    return isUtf32 ? undefined : new TextDecoder('utf-16le').decode(bytes, options)
  }
  if (first === 0xfe && second === 0xff) return new TextDecoder('utf-16be').decode(bytes, options)
  if (bytes.includes(0)) return undefined
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes, options)
  } catch {
    return bytes.some(isControl) ? undefined : new TextDecoder('windows-1252').decode(bytes)
  }
}

/** Of the C0 controls, texts have tabs, line and page breaks, and the escapes of terminals. */
function isControl(byte: number): boolean {
  return byte < 0x20 && !(byte >= 0x09 && byte <= 0x0d) && byte !== 0x1b
}
