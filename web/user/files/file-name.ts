const MAX_FILE_NAME_BYTES = 255

/** Whether the service accepts the name. */
export function isFileName(name: string): boolean {
  const bytes = new TextEncoder().encode(name).length
  if (bytes === 0 || bytes > MAX_FILE_NAME_BYTES || name === '.' || name === '..') return false
  // oxlint-disable-next-line no-control-regex
  return !/[/\\\u0000-\u001f\u007f]/.test(name)
}
