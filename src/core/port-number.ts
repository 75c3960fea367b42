/** Whether the text is a port as a URL has it: digits, at most 65535. For settings and headers alike. */
export function isPortNumber(text: string): boolean {
  return /^\d{1,5}$/.test(text) && Number(text) <= 65_535
}
