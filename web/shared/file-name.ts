const MAX_FILE_NAME_BYTES = 255

/** Whether the service accepts the name. */
export function isFileName(name: string): boolean {
  return faultOf(name) === undefined
}

/** Why the service does not accept the name, by the text that says so. */
export function faultOf(name: string): 'name_too_long' | 'invalid_file_name' | undefined {
  if (new TextEncoder().encode(name).length > MAX_FILE_NAME_BYTES) return 'name_too_long'
  // oxlint-disable-next-line no-control-regex
  const isForbidden = ['', '.', '..'].includes(name) || /[/\\\u0000-\u001f\u007f]/.test(name)
  return isForbidden ? 'invalid_file_name' : undefined
}
