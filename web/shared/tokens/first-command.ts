import { encodeFilePath } from '../../../packages/js/src/http/http.ts'

export interface CommandOptions {
  /** The base URL of the service. */
  readonly address: string
  readonly token: string
  /** The names that the token permits begin with it. */
  readonly prefix: string
  readonly kind: 'create' | 'read'
}

/** A line for a POSIX shell that uploads a small file with a new name, or lists the files. */
export function shellCommand(options: CommandOptions): string {
  const { kind } = options
  if (kind === 'read') return `curl ${header(options)} "${listing(options)}"`
  const url = `${target(options)}$(date +%Y%m%d-%H%M%S).txt`
  return `echo Hello | curl --fail-with-body -T - ${header(options)} "${url}"`
}

/** The same for PowerShell. */
export function powerShellCommand(options: CommandOptions): string {
  const { kind } = options
  if (kind === 'read') return `curl.exe ${header(options)} "${listing(options)}"`
  const url = `${target(options)}$(Get-Date -Format yyyyMMdd-HHmmss).txt`
  return `"Hello" | curl.exe --fail-with-body -T - ${header(options)} "${url}"`
}

function header({ token }: CommandOptions): string {
  return `-H "Authorization: Bearer ${token}"`
}

function target({ address, prefix }: CommandOptions): string {
  return `${address}/users/me/repo/${forShell(encodeFilePath(`${prefix}hello-`))}`
}

function listing({ address, prefix }: CommandOptions): string {
  const query = prefix === '' ? '' : `?prefix=${forShell(encodeURIComponent(prefix))}`
  return `${address}/users/me/repo${query}`
}

/** Encodes what URLs need not, but shells read in their own way between quotation marks. */
function forShell(encoded: string): string {
  return encoded.replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}
