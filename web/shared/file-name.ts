const MAX_FILE_NAME_BYTES = 1_024
const MAX_SEGMENT_BYTES = 255

/** Whether the text can be the name of a folder, or of a file in its folder. */
export function isSegment(text: string): boolean {
  return !text.includes('/') && faultOf(text) === undefined
}

/** Why the service does not accept the name, by the text that says so. */
export function faultOf(name: string): 'name_too_long' | 'invalid_file_name' | undefined {
  if (bytesOf(name) > MAX_FILE_NAME_BYTES) return 'name_too_long'
  // Only a marker has nothing behind its last slash.
  const segments = name.replace(/\/$/, '').split('/')
  if (segments.some((segment) => bytesOf(segment) > MAX_SEGMENT_BYTES)) return 'name_too_long'
  // oxlint-disable-next-line no-control-regex
  const isForbidden = (segment: string) => /^\.{0,2}$|[\\\u0000-\u001f\u007f]/.test(segment)
  return segments.some(isForbidden) ? 'invalid_file_name' : undefined
}

function bytesOf(text: string): number {
  return new TextEncoder().encode(text).length
}
