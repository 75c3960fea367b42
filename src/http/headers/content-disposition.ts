import type { FileName } from '../../core/files/file-name.ts'

/**
 * The header that makes a browser save a download under its name (RFC 6266): an ASCII name for old clients, and the
 * exact one in UTF-8 (RFC 8187). Both forms are ASCII without controls, whatever the name holds.
 */
export function contentDisposition(name: FileName): string {
  const ascii = name.replaceAll(/[^\u0020-\u007e]/gu, '_').replaceAll(/["\\%]/g, '_')
  return `attachment; filename="${ascii}"; filename*=UTF-8''${encodeExtValue(name)}`
}

/** Percent-encodes what is not an `attr-char` of RFC 8187; `encodeURIComponent` spares four characters too many. */
function encodeExtValue(text: string): string {
  return encodeURIComponent(text).replaceAll(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}
